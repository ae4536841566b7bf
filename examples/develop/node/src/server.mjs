import { createServer } from 'node:http'
import { increment } from './cache.mjs'
import { page } from './page.mjs'

const server = createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end('ok\n')
  try {
    const visits = await increment('visits')
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page(visits))
  } catch (error) {
    response.writeHead(503).end(`the cache does not answer: ${error.message}\n`)
  }
})

server.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.close(() => process.exit()))
