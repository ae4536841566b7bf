import { hostname, userInfo } from 'node:os'
import { pause } from '../../adapters/http/back-off.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Info } from '../../platform/api/info.ts'
import type { Me } from '../../platform/api/me.ts'
import { devctlHome, type Surroundings } from '../contexts/home.ts'
import { Secret } from '../contexts/secret.ts'
import { type StoredContext, saveContext } from '../contexts/store.ts'
import { connectPlatform } from './connect-platform.ts'

/** A person has to open a page and type a code. */
export interface CodeToType {
  readonly page: string
  readonly code: string
}

export interface LoginInput {
  /** `https://platform.dev.example.com`. */
  readonly url: string
  /** Instead of a browser. */
  readonly token?: Secret | undefined
  /** What the context remembers besides. */
  readonly fields: Omit<StoredContext, 'name' | 'token'>
  readonly signal: AbortSignal
  /** Shows the code; it is good for ten minutes. */
  readonly onCode: (code: CodeToType) => void
}

/** Who has logged in, and the namespace of the context. */
export interface LoggedIn {
  readonly me: Me
  readonly info: Info
  readonly namespace: string
}

/**
 * The address of a platform as it is kept: scheme and host. Throws a UsageError for what is no such
 * address, and for plain HTTP to another machine: a token would go over the line for all to read.
 */
export function platformUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError('the address of a platform is like `https://platform.example.com`')
  if (url.pathname !== '/') throw new UsageError(`\`${text}\` has a path`, { hint: `write \`${url.origin}\`` })
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw new UsageError(`\`${url.origin}\` is not encrypted`, { hint: `write \`https://${url.host}\`` })
  return url.origin
}

/** Logs in and makes the platform the current context. Throws a UserError. */
export async function login(around: Surroundings, input: LoginInput): Promise<LoggedIn> {
  const { url, fields, signal } = input
  const info = await connectPlatform(url, undefined, around.env).call('GET /info', {}, signal)
  const token = await tokenFor(around, input)
  const me = await connectPlatform(url, token, around.env).call('GET /me', {}, signal)
  const namespace = fields.namespace ?? me.home ?? 'default'
  const { kubernetes, domain } = info
  await saveContext(devctlHome(around), { domain, ...fields, name: url, token, namespace, kubernetes }, true)
  return { me, info, namespace }
}

/** A link of the installer or an administrator is exchanged for a token; any other token is used as it is. */
async function tokenFor(around: Surroundings, input: LoginInput): Promise<Secret> {
  const { url, token, signal } = input
  if (!token) return byCode(around, input)
  const text = token.reveal()
  if (!/^devctl_(setup|invite)_/.test(text)) return token
  const { username } = userInfo()
  const platform = connectPlatform(url, undefined, around.env)
  const granted = await platform.call(
    'POST /auth/setup',
    { body: { token: text, login: username, label: machine() } },
    signal,
  )
  // What a command line is given; a browser's is in a cookie.
  if (!('token' in granted)) throw new UserError('the platform has given no token')
  return new Secret(granted.token)
}

/** What the person sees in the list of their tokens. */
const machine = (): string => `${userInfo().username}@${hostname()}`.slice(0, 60)

async function byCode(around: Surroundings, { url, signal, onCode }: LoginInput): Promise<Secret> {
  const platform = connectPlatform(url, undefined, around.env)
  const { device, code, page, interval } = await platform.call(
    'POST /auth/device',
    { body: { label: machine() } },
    signal,
  )
  onCode({ page, code })
  for (;;) {
    await pause(interval * 1000, signal)
    const answer = await platform.call('POST /auth/device/poll', { body: { device } }, signal)
    if ('token' in answer) return new Secret(answer.token)
  }
}
