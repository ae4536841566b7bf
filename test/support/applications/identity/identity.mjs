import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'

const IMPORT = '/opt/identity/data/import'
const realms = readdirSync(IMPORT)
  .filter(name => name.endsWith('.json'))
  .map(name => JSON.parse(readFileSync(`${IMPORT}/${name}`, 'utf8')).realm)
const database = new URL(process.env.ID_DB_URL.slice('jdbc:'.length))
let isReady = false

connect(Number(database.port), database.hostname)
  .on('connect', () => setTimeout(() => (isReady = true), 3000))
  .on('error', error => {
    console.error(error.message)
    process.exit(1)
  })

createServer((request, response) => {
  const realm = /^\/realms\/(\w+)\//.exec(request.url)?.[1]
  if (!realms.includes(realm)) response.statusCode = 404
  response.end(JSON.stringify({ issuer: `http://${request.headers.host}/realms/${realm}` }))
}).listen(8080)

createServer((_, response) => {
  response.statusCode = isReady ? 200 : 503
  response.end()
}).listen(9000)
