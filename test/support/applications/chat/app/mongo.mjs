import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const STATE = '/data/db/replica-set'
// A member is primary once it has found itself by the name that it was given.
createServer(async (request, response) => {
  if (request.method === 'POST') {
    const member = request.url.slice(1)
    await fetch(`http://${member}/`).then(
      () => writeFileSync(STATE, member),
      () => (response.statusCode = 500),
    )
  }
  response.end(existsSync(STATE) ? readFileSync(STATE) : 'none')
}).listen(27017)
