// Serves the repositories of a folder by `git http-backend` on a free port of this machine, which it prints; ends with
// its standard input. A process of its own: those that measure wait for what they measure.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const [folder] = process.argv.slice(2)
const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url, 'http://localhost')
  const { headers, method } = request
  const env = {
    ...process.env,
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.receivepack',
    GIT_CONFIG_VALUE_0: 'true',
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: method,
    REMOTE_ADDR: '127.0.0.1',
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    HTTP_GIT_PROTOCOL: headers['git-protocol'] ?? '',
    ...(headers['content-length'] && { CONTENT_LENGTH: headers['content-length'] }),
  }
  const backend = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  request.pipe(backend.stdin)
  let head = Buffer.alloc(0)
  backend.stdout.on('data', function read(chunk) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    backend.stdout.off('data', read)
    const lines = head.subarray(0, end).toString('latin1').split('\r\n')
    const { Status: status = '200', ...fields } = Object.fromEntries(lines.map(line => line.split(': ', 2)))
    response.writeHead(Number.parseInt(status, 10), fields)
    response.write(head.subarray(end + 4))
    backend.stdout.pipe(response)
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit()).resume()
