import { connect } from 'node:net'

/** Adds one to a number in Redis (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
export function increment(key) {
  return new Promise((resolve, reject) => {
    const socket = connect(6379, process.env.CACHE_HOST)
    socket.setTimeout(2000, () => socket.destroy(new Error('no answer in 2 s')))
    socket.on('error', reject)
    socket.on('data', answer => {
      resolve(Number.parseInt(answer.toString().slice(1), 10))
      socket.end()
    })
    socket.write(`*2\r\n$4\r\nINCR\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n`)
  })
}
