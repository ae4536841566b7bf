import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CLIENT_SECRET } from '../../support/platform/open-platform.ts'

/** GitHub Enterprise Server of the test; every user is logged in there immediately. */
export interface StubGitHub {
  readonly url: string
  /** Response of `/user` for the next user who logs in. */
  person: Readonly<Record<string, unknown>>
  /** States of memberships by their path: `/user/memberships/orgs/acme`, `/orgs/acme/teams/backend/memberships/ann`. */
  memberships: Readonly<Record<string, string>>
  /** Does something else than it should; true: the request is answered. */
  fault: (path: string, response: ServerResponse) => boolean
  close(): void
}

const CLIENT = 'devctl'

/**
 * Starts a server that behaves as https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * describes: errors have the status 200.
 */
export async function stubGitHub(): Promise<StubGitHub> {
  const codes = new Map<string, { readonly challenge: string; readonly scope: string }>()
  const scopes = new Map<string, string>()
  const server = createServer((request, response) => {
    void serve(request, response).catch(error => response.writeHead(500).end(String(error)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stub: StubGitHub = {
    url,
    person: {},
    memberships: {},
    fault: () => false,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (stub.fault(pathname, response)) return
    const send = (value: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
    const value = (name: string) => searchParams.get(name) ?? ''
    if (pathname === '/login/oauth/authorize') {
      const code = randomBytes(8).toString('hex')
      codes.set(code, { challenge: value('code_challenge'), scope: value('scope') })
      const back = new URL(value('redirect_uri'))
      back.searchParams.set('code', code)
      back.searchParams.set('state', value('state'))
      response.writeHead(302, { location: back.href }).end()
      return
    }
    if (pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(await text(request))
      if (form.get('client_id') !== CLIENT || form.get('client_secret') !== CLIENT_SECRET) {
        send({ error: 'incorrect_client_credentials', error_description: 'The client_id is not correct.' })
        return
      }
      const code = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const verifier = form.get('code_verifier') ?? ''
      if (!code || createHash('sha256').update(verifier).digest('base64url') !== code.challenge) {
        send({ error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' })
        return
      }
      const token = `gho_${randomBytes(8).toString('hex')}`
      scopes.set(token, code.scope)
      send({ access_token: token, token_type: 'bearer', scope: code.scope })
      return
    }
    const scope = scopes.get((request.headers.authorization ?? '').replace('Bearer ', ''))
    if (scope === undefined || !request.headers['user-agent']) return void send({ message: 'Bad credentials' }, 401)
    const path = pathname.replace('/api/v3', '')
    if (path === '/user') return void send(stub.person)
    const state = stub.memberships[path]
    if (state === undefined || scope !== 'read:org') return void send({ message: 'Not Found' }, 404)
    send({ state, role: 'member' })
  }

  return stub
}
