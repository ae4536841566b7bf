import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StatusPages } from './control/messages.ts'

/** Content of a page, as JSON for programs and as text for people. */
export interface PageContent {
  readonly json: unknown
  readonly text: string
}

/** Addresses of the status pages of a session, and a function that stops serving the pages. */
export interface ServedPages extends StatusPages {
  close(): void
}

const USER = 'devctl'

/**
 * Serves the state of both ends on a free port of 127.0.0.1 to clients that have the password: as text on `/` and
 * `/remote`, and as JSON on `/status.json` and `/remote.json`.
 */
export async function servePages(local: () => PageContent, remote: () => Promise<PageContent>): Promise<ServedPages> {
  const password = randomBytes(18).toString('base64url')
  const pages: Readonly<Record<string, () => PageContent | Promise<PageContent>>> = { '/': local, '/remote': remote }
  const server = createServer(async (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const isJson = path.endsWith('.json')
    const page = pages[isJson ? path.replace('/status.json', '/').replace(/\.json$/, '') : path]
    if (!isAllowed(request, password))
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="devctl"' }).end('a password is required\n')
    if (!page || request.method !== 'GET') return response.writeHead(404).end('there is nothing here\n')
    try {
      const { json, text } = await page()
      response.setHeader('content-type', isJson ? 'application/json' : 'text/plain; charset=utf-8')
      response.setHeader('cache-control', 'no-store')
      response.end(isJson ? `${JSON.stringify(json, undefined, 2)}\n` : text)
    } catch (error) {
      response.writeHead(503).end(`${(error as Error).message}\n`)
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  server.unref()
  const { port } = server.address() as AddressInfo
  const address = `http://127.0.0.1:${port}`
  return {
    local: `${address}/`,
    remote: `${address}/remote`,
    user: USER,
    password,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * True if a request has the password and the expected host name. Other pages in a browser may send requests to this
 * address, but they know neither.
 */
function isAllowed({ headers }: IncomingMessage, password: string): boolean {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) return false
  const given = Buffer.from(headers.authorization ?? '')
  const wanted = Buffer.from(`Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
