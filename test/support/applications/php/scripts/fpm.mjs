import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const reach = (host, port) =>
  new Promise(resolve => {
    const socket = connect(port, host, () => resolve('reached')).on('error', () => resolve('lost'))
    socket.on('connect', () => socket.end())
  })

// The image's own files come into the volume at the first start.
writeFileSync('/var/www/html/version.txt', '31.0\n')
createServer(async (_, response) => {
  const database = await reach(process.env.POSTGRES_HOST, 5432)
  const cache = await reach(process.env.REDIS_HOST, 6379)
  const cron = existsSync('/var/www/html/cron') ? readFileSync('/var/www/html/cron', 'utf8') : 'never'
  response.end(`cloud: database ${database}, cache ${cache}, cron ${cron}\n`)
}).listen(9000)
