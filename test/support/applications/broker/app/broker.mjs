// A queue of lines: `put TEXT` adds one, `take` gives one, `done` counts. The data is in a folder of the node's name.
import { lookup } from 'node:dns/promises'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'

const [, host] = process.env.RABBITMQ_NODENAME.split('@')
// The distribution listens at the address of its own name.
const { address } = await lookup(host)
mkdirSync(`/var/lib/rabbitmq/mnesia/${process.env.RABBITMQ_NODENAME}`, { recursive: true })
const queue = []
let done = 0

function answer(line) {
  const [word, text] = line.split(' ')
  if (word === 'put') return String(queue.push(text))
  if (word === 'take') return queue.shift() ?? ''
  if (word === 'ack') done += 1
  return String(done)
}

const listen = (...at) =>
  createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => socket.end(`${answer(String(data).trim())}\n`))
  }).listen(...at)

listen(5672)
listen(15672)
listen(25672, address)
