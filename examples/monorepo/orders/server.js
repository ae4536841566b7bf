// The orders: keeps them in memory, and says which database it would use.
const { createServer } = require('node:http')

const database = new URL(process.env.ORDERS_DB)
const orders = []

createServer((request, response) => {
  if (request.method === 'POST') orders.push(new Date().toISOString())
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(request.url === '/healthz' ? {} : { database: database.host, orders }))
}).listen(8080)

process.on('SIGTERM', () => process.exit(0))
