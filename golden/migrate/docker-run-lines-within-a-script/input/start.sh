#!/bin/sh
# docker run -d --name old nginx
docker run -d --name web nginx
docker run -d --name web redis
case "$1" in
  start) docker run -d --name api example/api ;;
  (debug) docker run -d --name debug example/debug ;;
  a|"b c") sudo -u bob docker run -d --name cron example/cron ;;
esac
sudo -Hu bob nice -n 5 docker run -d --name mail example/mail
sudo --user=bob -E docker run -d --name queue example/queue
sudo --user bob env TZ=UTC docker run -d --name proxy example/proxy
if ! docker run -d --name check example/check; then exit 1; fi
nohup timeout 60 docker run -d --name slow example/slow &
/usr/bin/docker run -d --name full example/full
docker --context prod -D run -d --name flags example/flags
ssh host docker run -d --name remote example/remote
echo "docker run -d --name shown example/shown"
ls | xargs -n 1 docker run -d --rm
