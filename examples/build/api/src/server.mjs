import { createServer } from 'node:http'
import { choose } from './choose.mjs'

const { WORDS_URL, VERSION } = process.env
const DAY = 24 * 60 * 60 * 1000

createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end('ok\n')
  try {
    const words = await (await fetch(`${WORDS_URL}/words`)).json()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ word: choose(words, Math.floor(Date.now() / DAY)), version: VERSION }))
  } catch (error) {
    response.statusCode = 502
    response.end(`${error.message}\n`)
  }
}).listen(3000)
process.on('SIGTERM', () => process.exit(0))
