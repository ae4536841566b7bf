import { createServer } from 'node:http'
import { say } from './client.mjs'

const { hostname, port } = new URL(process.env.AMQP_URL)
for (let task = 0; task < 5; task++) await say(hostname, port, `put task-${task}`)
createServer(async (_, response) => response.end(`done: ${await say(hostname, port, 'done')}\n`)).listen(8080)
