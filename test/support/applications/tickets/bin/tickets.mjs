import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const role = process.argv[2]
const READY = '/opt/tickets/storage/initialized'
const { POSTGRESQL_HOST, MEMCACHE_SERVERS, REDIS_URL } = process.env

function stop(reason) {
  console.error(`${role}: ${reason}`)
  process.exit(1)
}

function reach(host, port, then) {
  const socket = connect(Number(port), host, () => {
    socket.end()
    then()
  })
  socket.on('error', error => stop(error.message))
}

if (role === 'init') reach(POSTGRESQL_HOST, 5432, () => setTimeout(() => writeFileSync(READY, 'yes'), 2000))
else if (!existsSync(READY)) stop('the database is not prepared')
else if (role === 'scheduler') setInterval(() => console.log('tick'), 60_000)
else
  reach(new URL(REDIS_URL).hostname, 6379, () =>
    reach(...MEMCACHE_SERVERS.split(':'), () =>
      createServer((_, response) => response.end(`tickets: ${role}\n`)).listen(role === 'websocket' ? 6042 : 3000),
    ),
  )
