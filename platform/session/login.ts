import { hostname } from 'node:os'
import { pause } from '../../adapters/http/back-off.ts'
import { userName } from '../../adapters/process/user-name.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { configHome, type Surroundings } from '../../project/contexts/home.ts'
import { Secret } from '../../project/contexts/secret.ts'
import { type StoredContext, saveContext } from '../../project/contexts/store.ts'
import type { Info } from '../api/info.ts'
import type { Me } from '../api/me.ts'
import { PlatformRefusal } from '../client/client.ts'
import { LOGIN, toLogin } from '../rules/accounts/login-name.ts'
import { shownText } from '../rules/accounts/provider.ts'
import { isCiJob, loginAsJob } from './ci-login.ts'
import { connectPlatform, type Platform, unlessNotThere } from './connect-platform.ts'
import { listenForBrowser } from './loopback.ts'
import { platformInfo } from './platform-info.ts'

/** Code that the user must type on a page. */
export interface CodeToType {
  readonly page: string
  readonly code: string
}

export interface LoginInput {
  /** URL of the platform: `https://platform.dev.example.com`. */
  readonly url: string
  /** Token to log in with, instead of a browser. */
  readonly token?: Secret | undefined
  /** Additional fields that the context stores. */
  readonly fields: Omit<StoredContext, 'name' | 'token'>
  /** Namespace that the context already had. */
  readonly remembered?: string | undefined
  readonly signal: AbortSignal
  /** Existing login of the context, which is used if it is still valid. */
  readonly known?: Secret | undefined
  /**
   * Opens a page in the user's browser; returns false if no browser exists. If absent, the command is not interactive.
   */
  readonly open?: ((page: string) => Promise<boolean>) | undefined
  /** Called when a page was opened on which the user has to press a button. */
  readonly onPage: (page: string) => void
  /** Shows the code, which is valid for ten minutes. */
  readonly onCode: (code: CodeToType) => void
}

/** The user who has logged in, and the namespace that the context uses now. */
export interface LoggedIn {
  readonly me: Me
  readonly info: Info
  readonly namespace: string
  /** Previous namespace of the context, if it no longer exists. */
  readonly lost?: string
}

/**
 * Logs in and makes the platform the current context. Throws a UserError, even after a successful login if the given
 * namespace does not exist. In that case, the login is stored, because a link works only once, but the context does not
 * become the current one.
 */
export async function login(around: Surroundings, input: LoginInput): Promise<LoggedIn> {
  const { url, fields, remembered, signal } = input
  const info = await platformInfo(connectPlatform(url, undefined, around.env), signal)
  const { token, me } = (await withKnown(around, input)) ?? (await withNew(around, input, info))
  const { kubernetes, domain, registry: platformRegistry = '-' } = info
  // The user name is displayed, so it is validated. CI jobs have none.
  const user = new RegExp(LOGIN).test(me.login) ? me.login : ''
  const record = { domain, ...fields, name: url, token, user, kubernetes, platformRegistry }
  const save = (namespace: string, isCurrent: boolean) =>
    saveContext(configHome(around), { ...record, namespace }, isCurrent)
  const own = me.home ?? 'default'
  const wanted = fields.namespace ?? remembered ?? own
  const platform = connectPlatform(url, token, around.env)
  if (await isThere(platform, wanted, me, signal)) {
    await save(wanted, true)
    return { me, info, namespace: wanted }
  }
  if (fields.namespace !== undefined) {
    await save(remembered ?? own, false)
    throw await noNamespace(platform, fields.namespace, signal)
  }
  await save(own, true)
  return { me, info, namespace: own, lost: wanted }
}

/**
 * Returns true if the user may see a namespace. Returns true without a check for CI jobs, which have no namespace of
 * their own and are not allowed to send this request.
 */
async function isThere(platform: Platform, name: string, { home }: Me, signal: AbortSignal): Promise<boolean> {
  if (home === undefined || name === home) return true
  return (await unlessNotThere(platform.call('GET /namespaces/:ns', { params: { ns: name } }, signal))) !== undefined
}

/** Maximum number of namespaces that a hint lists. */
const MANY = 10

async function noNamespace(platform: Platform, name: string, signal: AbortSignal): Promise<UserError> {
  const { items } = await platform.call('GET /namespaces', {}, signal)
  const names = items.map(one => one.name)
  const listed = names.slice(0, MANY).map(one => `\`${one}\``)
  const more = names.length > MANY ? ` and ${names.length - MANY} more` : ''
  return new UserError(`namespace \`${name}\` does not exist, or you are not a member of it`, {
    hint: didYouMean(name, names) ?? `yours are ${listed.join(', ')}${more}`,
    notes: [`you are logged in to ${new URL(platform.url).host}, but the current context is the same as before`],
  })
}

interface Entered {
  readonly token: Secret
  readonly me: Me
}

/** Logs in with the existing login. Returns undefined if no login exists, or if it has ended. */
async function withKnown(
  around: Surroundings,
  { url, token, known, signal }: LoginInput,
): Promise<Entered | undefined> {
  if (token || !known) return undefined
  try {
    return { token: known, me: await connectPlatform(url, known, around.env).call('GET /me', {}, signal) }
  } catch (error) {
    const isOver = error instanceof UserError && error.cause instanceof PlatformRefusal && error.cause.status === 401
    if (isOver) return undefined
    throw error
  }
}

/**
 * Logs in without the existing login. On a platform with identity providers, the person with the installer's link first
 * logs in with a provider; the link then makes this user the administrator. Without providers, and for all other links,
 * the link alone is sufficient.
 */
async function withNew(around: Surroundings, input: LoginInput, info: Info): Promise<Entered> {
  const { url, signal, token: given } = input
  const isClaim = given?.reveal().startsWith('devctl_setup_') && info.login.length > 0
  const logIn = () => (isCiJob(around.env) ? loginAsJob(url, around.env, signal) : byPerson(around, input))
  const token = given && !isClaim ? await tokenFor(around, input, given) : await logIn()
  const platform = connectPlatform(url, token, around.env)
  const me = isClaim
    ? await platform.call('POST /auth/claim', { body: { token: given!.reveal() } }, signal)
    : await platform.call('GET /me', {}, signal)
  return { token, me }
}

/** Exchanges a link of the installer or an administrator for a token; returns any other token unchanged. */
async function tokenFor(around: Surroundings, { url, signal }: LoginInput, token: Secret): Promise<Secret> {
  const text = token.reveal()
  if (!/^devctl_(setup|invite)_/.test(text)) return token
  const platform = connectPlatform(url, undefined, around.env)
  const granted = await platform.call(
    'POST /auth/setup',
    { body: { token: text, login: toLogin(userName(around.env)), label: machine(around) } },
    signal,
  )
  // A command line gets a token; a browser gets a cookie.
  if (!('token' in granted)) throw new UserError('the platform has given no token')
  return new Secret(granted.token)
}

/** Returns the label of this machine's token, which the user sees in the list of tokens. */
const machine = ({ env }: Surroundings): string => shownText(`${userName(env)}@${hostname()}`, 60) ?? 'command line'

/**
 * Logs in with the browser of this machine. If there is none, logs in with a code that the user types into another
 * browser.
 */
async function byPerson(around: Surroundings, input: LoginInput): Promise<Secret> {
  const { url, open, onPage, signal } = input
  if (!open) return byCode(around, input)
  const waiting = await listenForBrowser(url, machine(around))
  try {
    if (!(await open(waiting.page))) return await byCode(around, input)
    onPage(waiting.page)
    const code = await unlessAborted(waiting.code, signal)
    const { verifier } = waiting
    const { token } = await connectPlatform(url, undefined, around.env).call(
      'POST /auth/cli',
      { body: { code, verifier } },
      signal,
    )
    return new Secret(token)
  } finally {
    waiting.close()
  }
}

function unlessAborted<T>(wanted: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    void wanted.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

async function byCode(around: Surroundings, { url, signal, onCode }: LoginInput): Promise<Secret> {
  const platform = connectPlatform(url, undefined, around.env)
  const { device, code, page, interval } = await platform.call(
    'POST /auth/device',
    { body: { label: machine(around) } },
    signal,
  )
  onCode({ page, code })
  for (;;) {
    await pause(interval * 1000, signal)
    const answer = await platform.call('POST /auth/device/poll', { body: { device } }, signal)
    if ('token' in answer) return new Secret(answer.token)
  }
}
