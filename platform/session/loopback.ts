import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** A login that waits for a browser of this machine (RFC 8252, section 7.3). */
export interface LoopbackLogin {
  /** The page that the browser is to show. */
  readonly page: string
  /** RFC 7636: what only this program knows. */
  readonly verifier: string
  /** The code that the browser brings. Throws a UserError when the person has said no there. */
  readonly code: Promise<string>
  close(): void
}

/** Connections at a time: other programs of this machine can reach the port, too. */
const CONNECTIONS = 16

/**
 * Listens on a port of this machine for the browser to come back from a platform. Only a request with our
 * state counts, and only the first: what others send is answered, and forgotten.
 */
export async function listenForBrowser(platform: string, label: string): Promise<LoopbackLogin> {
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')]
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  let isDone = false
  let settle: { resolve(code: string): void; reject(error: Error): void } | undefined
  const code = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // Avoids an unhandled rejection: the caller awaits the code, but maybe not yet.
  code.catch(() => {})
  const server = createServer(
    { requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8192 },
    (request, response) => {
      const { port } = server.address() as AddressInfo
      const url = URL.canParse(request.url ?? '', 'http://127.0.0.1')
        ? new URL(request.url ?? '', 'http://127.0.0.1')
        : undefined
      // Checks the Host header against DNS rebinding: a foreign page can point its own name to this machine.
      const isOurs = request.headers.host === `127.0.0.1:${port}` && request.method === 'GET' && url?.pathname === '/'
      if (!isOurs) return answer(response, 404, 'There is nothing here.')
      if (!isSame(url.searchParams.get('state') ?? '', state))
        return answer(response, 400, 'This is not the answer that devctl waits for.')
      if (isDone) return answer(response, 410, 'This login is over. Go back to the terminal.')
      const found = url.searchParams.get('code') ?? ''
      isDone = true
      if (found === '' || found.length > 200) {
        answer(response, 200, 'The login was refused. You can close this window.')
        settle?.reject(new UserError('the login was refused in the browser'))
        return
      }
      answer(response, 200, 'Go back to the terminal: devctl continues there. You can close this window.')
      settle?.resolve(found)
    },
  )
  server.maxConnections = CONNECTIONS
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const query = new URLSearchParams({ port: String(port), state, challenge, label })
  return {
    page: `${platform}/cli?${query}`,
    verifier,
    code,
    close() {
      server.close()
      // The browser gets its answer before.
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 500).unref()
    },
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** A page without scripts and without anything of the request: the address has the code in it. */
function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(`<!doctype html><html lang="en"><title>devctl</title><p>${text}</p></html>\n`)
}
