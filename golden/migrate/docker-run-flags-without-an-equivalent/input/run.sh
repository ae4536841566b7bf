docker build -t example/api .
docker run -d -P --name api --ip 172.18.0.5 --device-read-bps /dev/sda:1mb -u "$(id -u):$(id -g)" --label-file labels.txt example/api
