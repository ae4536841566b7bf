// The catalog: answers with its file.
const { createServer } = require('node:http')
const { readFileSync } = require('node:fs')

const products = readFileSync(process.env.CATALOG_FILE)

createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(request.url === '/healthz' ? '{}' : products)
}).listen(8080)

process.on('SIGTERM', () => process.exit(0))
