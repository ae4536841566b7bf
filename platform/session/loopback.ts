import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** A pending login that waits for a browser on this machine (RFC 8252, section 7.3). */
export interface LoopbackLogin {
  /** Page to open in the browser. */
  readonly page: string
  /** Code verifier (RFC 7636), which only this program knows. */
  readonly verifier: string
  /** Code that the browser delivers. Rejects with a UserError if the user declined in the browser. */
  readonly code: Promise<string>
  close(): void
}

/** Maximum number of concurrent connections, because other programs on this machine can reach the port too. */
const CONNECTIONS = 16

/**
 * Listens on a local port for the browser to return from a platform. Only the first request with the correct state is
 * accepted; other requests are answered and ignored.
 */
export async function listenForBrowser(platform: string, label: string): Promise<LoopbackLogin> {
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')]
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  let isDone = false
  let settle: { resolve(code: string): void; reject(error: Error): void } | undefined
  const code = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // Avoids an unhandled rejection, because the caller may await the code only later.
  code.catch(() => {})
  const server = createServer(
    { requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8192 },
    (request, response) => {
      const { port } = server.address() as AddressInfo
      const url = URL.canParse(request.url ?? '', 'http://127.0.0.1')
        ? new URL(request.url ?? '', 'http://127.0.0.1')
        : undefined
      // Checks the Host header against DNS rebinding, because a foreign page can resolve its own name to this machine.
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
      // The browser gets its answer first.
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 500).unref()
    },
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Sends a page without scripts and without content of the request, because the URL of the page contains the code. */
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
