// The result page: counts the votes in Postgres, speaking as much of its protocol as one question needs.
const { createServer } = require('node:http')
const { connect } = require('node:net')

const { PGHOST, PGUSER, PGPASSWORD } = process.env

function message(type, ...texts) {
  const body = Buffer.from(texts.map(text => `${text}\0`).join(''))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function startup() {
  const body = Buffer.from(`\0\x03\0\0user\0${PGUSER}\0database\0postgres\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([length, body])
}

/** The rows of a query's answer, each a list of texts. */
function query(sql) {
  return new Promise((resolve, reject) => {
    const rows = []
    let received = Buffer.alloc(0)
    let asked = false
    const socket = connect(5432, PGHOST, () => socket.write(startup()))
    socket.setTimeout(5000, () => socket.destroy(new Error('the database does not answer')))
    socket.on('error', reject)
    socket.on('data', data => {
      received = Buffer.concat([received, data])
      while (received.length >= 5 && received.length > received.readInt32BE(1)) {
        const end = received.readInt32BE(1) + 1
        const type = String.fromCharCode(received[0])
        const body = received.subarray(5, end)
        received = received.subarray(end)
        if (type === 'R' && body.readInt32BE(0) === 3) socket.write(message('p', PGPASSWORD))
        else if (type === 'E') return void (socket.end(), reject(new Error(body.toString('latin1').replaceAll('\0', ' '))))
        else if (type === 'D') rows.push(fields(body))
        else if (type === 'Z' && asked) return void (socket.end(), resolve(rows))
        else if (type === 'Z') {
          asked = true
          socket.write(message('Q', sql))
        }
      }
    })
  })
}

function fields(body) {
  const texts = []
  for (let count = body.readInt16BE(0), at = 2; count > 0; count--) {
    const length = body.readInt32BE(at)
    texts.push(body.toString('utf8', at + 4, at + 4 + length))
    at += 4 + length
  }
  return texts
}

createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end('ok\n')
  try {
    const votes = Object.fromEntries(await query('select vote, count(*) from votes group by vote'))
    response.setHeader('content-type', 'application/json')
    response.end(`${JSON.stringify({ a: Number(votes.a ?? 0), b: Number(votes.b ?? 0) })}\n`)
  } catch (error) {
    response.statusCode = 503
    response.end(`${error.message}\n`)
  }
}).listen(8080)

process.on('SIGTERM', () => process.exit(0))
