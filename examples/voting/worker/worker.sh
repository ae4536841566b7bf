#!/usr/bin/env bash
# Moves votes from the list in Redis to the table in Postgres; one vote for each voter, the last one counts.
set -euo pipefail

psql -q -c 'create table if not exists votes (id text primary key, vote text not null)'

# Redis' protocol: BLPOP waits up to five seconds and answers `*-1`, or the list's name and the element with their lengths.
while true; do
  exec 3<>"/dev/tcp/$REDIS_HOST/6379"
  while printf 'BLPOP votes 5\r\n' >&3 && IFS= read -r count <&3; do
    [ "$count" != $'*-1\r' ] || continue
    for _ in 1 2 3; do IFS= read -r _ <&3; done
    IFS= read -r vote <&3
    vote=${vote%$'\r'}
    echo "vote: $vote"
    psql -q -v vote="$vote" <<'SQL'
insert into votes (id, vote) values (:'vote'::json ->> 'voter', :'vote'::json ->> 'vote')
on conflict (id) do update set vote = excluded.vote
SQL
  done
  exec 3>&-
  sleep 1
done
