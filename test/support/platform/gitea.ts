import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { ANSWER_MS } from '../deadlines.ts'

/** A Gitea, a token of one of its administrators, and what has signed its certificate. */
const { FORGE_ADDRESS: address, FORGE_ADMIN_TOKEN: token, FORGE_CA: authority } = process.env

/** True if a Gitea is available in which the tests can create and deactivate users. */
export const HAS_GITEA = address !== undefined && token !== undefined && authority !== undefined
export const GITEA = address ?? ''

/** A user with an account in that Gitea. */
export interface GiteaPerson {
  readonly name: string
  readonly password: string
}

/** Calls the API as an administrator, or as the given user; rejects if the answer is an error. */
export async function giteaApi<T>(method: string, path: string, body?: object, as?: GiteaPerson): Promise<T> {
  const login = as && Buffer.from(`${as.name}:${as.password}`).toString('base64')
  const authorization = login === undefined ? `token ${token}` : `Basic ${login}`
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await ask(new URL(`/api/v1${path}`, address), {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  const said = await text(answer)
  if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`)
  return (said === '' ? undefined : JSON.parse(said)) as T // what the caller knows the path for
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function ask(url: URL, { method = 'GET', headers = {}, body }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ca: readFileSync(authority!), timeout: ANSWER_MS }, resolve)
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${url.pathname}: no answer in ${ANSWER_MS / 1000} s`)))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A browser at Gitea: it keeps cookies, fills forms in, and follows no redirect by itself. */
export class GiteaBrowser {
  readonly #cookies = new Map<string, string>()

  /** Logs in by Gitea's own page. */
  async logIn(name: string, password: string): Promise<void> {
    const { html } = await this.#go('/user/login')
    const fields = { ...hiddenFields(html), user_name: name, password }
    const { location } = await this.#go('/user/login', fields)
    if (location === undefined) throw new Error(`Gitea does not let \`${name}\` in`)
  }

  /** Goes where a client sends it and consents there; gives the address that it is sent back to. */
  async consent(page: string): Promise<URL> {
    const asked = await this.#go(page)
    if (asked.location !== undefined) return new URL(asked.location, GITEA)
    const { location } = await this.#go('/login/oauth/grant', { ...hiddenFields(asked.html), granted: 'true' })
    if (location === undefined) throw new Error('Gitea sends nobody back')
    return new URL(location, GITEA)
  }

  async #go(path: string, form?: Readonly<Record<string, string>>): Promise<{ location?: string; html: string }> {
    const cookie = [...this.#cookies].map(([key, value]) => `${key}=${value}`).join('; ')
    const answer = await ask(new URL(path, GITEA), {
      method: form ? 'POST' : 'GET',
      headers: { cookie, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
      ...(form && { body: new URLSearchParams(form).toString() }),
    })
    for (const one of answer.headers['set-cookie'] ?? []) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      this.#cookies.set(key, value)
    }
    const html = await text(answer)
    const { location } = answer.headers
    return { html, ...(location !== undefined && { location }) }
  }
}

/** Returns the hidden fields of a form, which a browser sends without user input. */
const hiddenFields = (html: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (html.match(/<input type="hidden"[^>]*>/g) ?? []).map(one => {
      const value = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(one)?.[1] ?? ''
      return [value('name'), value('value').replaceAll('&amp;', '&').replaceAll('&#43;', '+')]
    }),
  )

/**
 * Makes connections of this process also accept certificates of Gitea's authority, as `--ca` does for a server.
 */
export function trustGitea(): () => void {
  const own = tls.createSecureContext
  const pem = readFileSync(authority!)
  tls.createSecureContext = options => {
    const made = own(options)
    // Node.js has no other way to add to what it trusts by itself while it runs.
    if (!options?.ca) (made.context as { addCACert(pem: Buffer): void }).addCACert(pem)
    return made
  }
  return () => {
    tls.createSecureContext = own
  }
}
