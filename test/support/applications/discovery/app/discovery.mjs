import { createServer } from 'node:http'

const registered = new Map()
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://discovery-server')
  const name = pathname.replace('/eureka/', '')
  if (request.method === 'POST') registered.set(name, searchParams.get('at'))
  if (pathname !== '/' && !registered.has(name)) response.statusCode = 404
  response.end(registered.get(name) ?? '')
}).listen(8761)
