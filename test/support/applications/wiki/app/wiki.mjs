import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const config = readFileSync('/wiki/config.yml', 'utf8')
const value = key => new RegExp(`^ *${key}: (.*)$`, 'm').exec(config.slice(config.indexOf('db:')))[1]

const reachesDatabase = () =>
  new Promise(resolve => {
    const socket = connect(Number(value('port')), value('host'))
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.end())
  })

createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end('ok')
  writeFileSync('/wiki/uploads/last', new Date().toISOString())
  response.end(`wiki: database ${(await reachesDatabase()) ? 'reached' : 'lost'}, uploads kept\n`)
}).listen(3000)
