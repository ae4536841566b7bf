import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { greet } from './greet.mjs'

const { greeting } = JSON.parse(readFileSync('settings.json', 'utf8'))

const server = createServer((request, response) =>
  response.end(request.url === '/healthz' ? 'ok\n' : greet(greeting, process.env.HOSTNAME)),
)

server.listen(8080)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.close(() => process.exit()))
