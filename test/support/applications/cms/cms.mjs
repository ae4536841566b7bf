import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const answer = (host, port, said) =>
  new Promise(resolve => {
    const socket = connect(Number(port), host, () => (said ? socket.write(said) : resolve('reached')))
    socket.on('data', data => resolve(String(data).trim())).on('error', () => resolve('lost'))
  })

createServer(async (_, response) => {
  const database = await answer(process.env.DB_HOST, process.env.DB_PORT)
  const { hostname, port } = new URL(process.env.REDIS)
  const cache = await answer(hostname, port, 'PING\r\n')
  const extensions = readdirSync('/cms/extensions').filter(name => !name.startsWith('.'))
  writeFileSync('/cms/uploads/picture', '')
  response.end(`cms: database ${database}, cache ${cache}, extensions ${extensions}\n`)
}).listen(8055)
