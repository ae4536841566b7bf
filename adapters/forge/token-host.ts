import type { Address } from '../git/address.ts'
import { type GitLogin, isOneLine } from '../git/login.ts'
import { ALL_FORGES } from './forges.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Permission to send a token to a server, or the reason for refusing it, with a hint on what to set. */
export type MaySend = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly hint: string }

/** Variables that contain the address of the server that runs this CI job. A checkout cannot set them. */
const SERVERS = ALL_FORGES.flatMap(forge => forge.serverVariables)

/**
 * Decides whether the token in a variable may be sent to an address. The address must use https or belong to this
 * machine, and the user must have named its host outside the checkout, in the variable `…_HOST` (`git.example.com`,
 * `git.example.com:8443`; several are separated by commas). If `…_HOST` is not set, the server that runs the CI job and
 * the `known` origins are allowed.
 */
export function maySendToken(variable: string, address: URL, env: Env, known: readonly string[] = []): MaySend {
  const { host, protocol, hostname, origin } = address
  if (protocol !== 'https:' && !isLoopback(hostname))
    return {
      ok: false,
      reason: `\`${variable}\` is not sent to \`${origin}\`: it is not https`,
      hint: 'write the address with `https://`',
    }
  const pinned = env[`${variable}_HOST`]
  const isKnown = pinned ? hostsIn(pinned).some(one => isHost(one, address)) : isOwnServer(origin, env, known)
  if (isKnown) return { ok: true }
  return {
    ok: false,
    reason: pinned
      ? `\`${variable}\` is for \`${pinned}\` (\`${variable}_HOST\`), not for \`${host}\``
      : `\`${variable}\` is not sent to \`${host}\`, which nothing outside the checkout names`,
    hint: `if it is the right server, set \`${variable}_HOST=${host}\``,
  }
}

/**
 * Returns the login in DEVCTL_GIT_TOKEN (user name: DEVCTL_GIT_USERNAME) for a server, or the reason why the server
 * must not receive it or git could not read it (`withheld`). Undefined without a token, and for addresses other than
 * web addresses.
 */
export function tokenLogin(
  { url: address, isNamedByUser }: Pick<Address, 'url' | 'isNamedByUser'>,
  env: Env,
): { readonly login: GitLogin } | { readonly withheld: Exclude<MaySend, { ok: true }> } | undefined {
  // A variable that was read from a file may end with a line break.
  const password = env.DEVCTL_GIT_TOKEN?.trim()
  if (!password || !/^https?:/i.test(address)) return undefined
  const url = new URL(address)
  const may = maySendToken('DEVCTL_GIT_TOKEN', url, env, isNamedByUser ? [url.origin] : [])
  if (!may.ok) return { withheld: may }
  const user = env.DEVCTL_GIT_USERNAME?.trim() || 'x-access-token'
  const read = { DEVCTL_GIT_TOKEN: password, DEVCTL_GIT_USERNAME: user }
  const [unfit] = Object.entries(read).find(([, text]) => !isOneLine(text)) ?? []
  return unfit === undefined ? { login: { origin: url.origin, user, password } } : { withheld: notOneLine(unfit) }
}

const notOneLine = (variable: string) => ({
  ok: false as const,
  reason: `\`${variable}\` contains a line break or another control character`,
  hint: 'set it to the text of one line',
})

const hostsIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter(host => host !== '')

/**
 * Returns true if a name from the environment matches the host of the address. A name without a port matches only the
 * default port, or any port if the host is this machine.
 */
function isHost(named: string, { host, hostname, origin }: URL): boolean {
  if (named.includes('://')) return URL.canParse(named) && new URL(named).origin === origin
  const name = named.toLowerCase()
  return name === host || (name === hostname && isLoopback(hostname)) || name === `${host}:443`
}

function isOwnServer(origin: string, env: Env, known: readonly string[]): boolean {
  const servers = SERVERS.flatMap(name => {
    const address = env[name]
    return address && URL.canParse(address) ? [new URL(address).origin] : []
  })
  return [...servers, ...known].includes(origin)
}

/** Returns true if the host of an address is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
