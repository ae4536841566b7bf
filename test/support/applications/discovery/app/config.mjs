import { createServer } from 'node:http'

createServer((_, response) => response.end('{"lease": 30}')).listen(8888)
