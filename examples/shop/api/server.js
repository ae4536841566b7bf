const { createServer } = require('node:http')
const { connect } = require('node:net')

// Answers once the database accepts connections, which is enough to see that the parts find each other.
createServer((request, response) => {
  if (request.url === '/health') return response.end('ok\n')
  const socket = connect(5432, process.env.DATABASE_HOST)
  socket.once('connect', () => {
    socket.destroy()
    response.end('the shop is open\n')
  })
  socket.once('error', error => {
    response.statusCode = 503
    response.end(`the database does not answer: ${error.message}\n`)
  })
}).listen(3000)
