import { connect } from 'node:net'

/** Says one line to the broker, and returns its answer. */
export const say = (host, port, line) =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), host, () => socket.write(`${line}\n`))
    socket.on('data', data => (answer += data))
    socket.on('end', () => resolve(answer.trim())).on('error', reject)
  })
