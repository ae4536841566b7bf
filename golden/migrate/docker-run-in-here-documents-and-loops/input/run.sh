#!/bin/sh
cat > notes.txt <<EOF
docker run --name fake nginx
EOF
for n in a b; do
  docker run -d --name $n -p 8080:80 nginx
done
while read name; do docker run -d --name "worker-$name" busybox; done < list
docker run -i --name loader postgres psql <<-'SQL'
	select 1;
	docker run --name inner nginx
	SQL
docker run -i --name restore postgres psql < dump.sql
docker run -d --name last redis
