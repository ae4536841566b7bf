#!/bin/sh
# docker run ignored-in-a-comment
set -e
docker network create shop
docker volume create pgdata

docker run -d --name shop_db --network shop --network-alias postgres \
  -e POSTGRES_PASSWORD='a$b "c"' -e POSTGRES_USER -v pgdata:/var/lib/postgresql/data \
  --health-cmd "pg_isready -U postgres" --health-interval=10s --health-timeout 5s --health-retries 5 \
  --health-start-period 30s --restart unless-stopped --shm-size=256m postgres:16
docker run -d --name cache --network shop -m 256m --cpus 0.5 --memory-reservation 64m --restart=always redis:7 redis-server --appendonly yes
sudo docker run -dp 8080:80 --name web --link shop_db:db --network shop -v "$(pwd)/site":/usr/share/nginx/html:ro -e "TAG=$TAG" -l tier=front nginx:1.27
docker run --rm -v "$PWD":/app -w /app -u 1000:1000 --entrypoint npm node:22 run migrate
docker run -d --name mail -p 127.0.0.1:8025:8025 -p 1025 --expose 110 axllent/mailpit
docker run --detach --name=prom --publish=9090:9090 --mount type=bind,source=./prometheus.yml,target=/etc/prometheus/prometheus.yml,readonly --mount type=volume,src=metrics,dst=/prometheus --user 65534 prom/prometheus --config.file=/etc/prometheus/prometheus.yml
docker container run -d --name grafana -p3000:3000 -eGF_SECURITY_ADMIN_USER=ann --env-file ./grafana.env grafana/grafana-oss
docker run -d --name worker --read-only --tmpfs /run:size=64m --cap-drop ALL --cap-add NET_BIND_SERVICE --security-opt no-new-privileges --ulimit nofile=1024:2048 --ulimit nproc=512 --init --stop-timeout 30 --pull always --platform linux/amd64 ghcr.io/example/worker:2
docker run -d --name agent --pid=host --add-host api.example.com:10.0.0.5 --dns 1.1.1.1 -h agent --privileged ghcr.io/example/agent
docker run -d --name llm --gpus all -v "${HOME}/models":/models ollama/ollama
podman run -d --name sidecar --network container:shop_db --log-driver json-file --log-opt max-size=10m busybox sleep infinity
docker exec web nginx -t
