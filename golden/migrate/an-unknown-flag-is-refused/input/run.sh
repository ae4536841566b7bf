docker run -d --name web nginx
docker run -d --nmae api example/api
docker run -dZ example/worker
docker run -d --name
docker run -d -e "A=b nginx
