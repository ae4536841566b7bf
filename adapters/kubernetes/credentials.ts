import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { parseJson } from '../json/parse-json.ts'
import { ClusterError } from './cluster.ts'
import { tokenClaims } from './credentials.validators.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { type Fields, textOf } from './kubeconfig-files.ts'

/** The user's credentials and the trusted authority in a kubeconfig. */
export interface ClusterCredentials {
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>
  /** Headers for `Authorization` and impersonation. Secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Returns true if a kubeconfig needs a feature that only the client library supports: legacy auth providers, or SOCKS
 * proxies.
 */
export function needsLibrary({ cluster, user }: Kubeconfig): boolean {
  return Boolean(user['auth-provider']) || /^socks/i.test(textOf(cluster['proxy-url']) ?? '')
}

/**
 * Reads the credentials in a kubeconfig, or in files that it names. Throws a ClusterError with the failure
 * `unauthorized` if a file cannot be read.
 */
export function readCredentials({ cluster, user }: Kubeconfig): ClusterCredentials {
  const [ca, cert, key] = [
    content(cluster, 'certificate-authority'),
    content(user, 'client-certificate'),
    content(user, 'client-key'),
  ]
  return {
    tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    headers: { ...authorization(user), ...impersonation(user) },
  }
}

/**
 * Returns the data of the field `name` of an entry: inline data (`NAME-data`), otherwise the content of the file that
 * the field names. Undefined if the entry has neither.
 */
export function content(entry: Fields, name: string): Buffer | undefined {
  const data = textOf(entry[`${name}-data`])
  if (data !== undefined) return Buffer.from(data, 'base64')
  const path = textOf(entry[name])
  return path === undefined ? undefined : read(path)
}

function authorization(user: Fields): Record<string, string> {
  const file = textOf(user['tokenFile'])
  const token = (file === undefined ? textOf(user['token']) : read(file).toString('utf8'))?.trim()
  if (token !== undefined) return { authorization: `Bearer ${checkToken(token)}` }
  const name = textOf(user['username'])
  if (name === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${name}:${textOf(user['password']) ?? ''}`).toString('base64')}` }
}

/** Returns the token. Throws a ClusterError for a token with a character that no header can contain. */
function checkToken(token: string): string {
  if (!/[^\t\x20-\x7e\x80-\xff]/.test(token)) return token
  throw new ClusterError('unauthorized', 'the token of the user in the kubeconfig has a character that no token has')
}

/**
 * Returns the impersonation headers for a user:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonation(user: Fields): Record<string, string | string[]> {
  const name = textOf(user['as'])
  if (name === undefined) return {}
  const uid = textOf(user['as-uid'])
  const groups = texts(user['as-groups'])
  const extra = Object.entries((user['as-user-extra'] ?? {}) as Fields) // a map, or nothing that has entries
  return {
    'impersonate-user': name,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(
      extra.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, texts(values)]),
    ),
  }
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException // node:fs throws nothing else
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`
    throw new ClusterError('unauthorized', `the file \`${path}\`, which the kubeconfig names, ${why}`, { cause })
  }
}

/**
 * Returns the reason why a server rejected credentials, if the credentials reveal it: `its token expired on
 * 2024-05-01`.
 */
export function flawOf({ tls: { cert }, headers }: ClusterCredentials, now: number): string | undefined {
  const expiry = Buffer.isBuffer(cert) ? expiryOf(cert) : undefined
  if (expiry !== undefined && expiry < now) return `its client certificate expired on ${day(expiry)}`
  const [, claims] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]+$/.exec(String(headers['authorization'] ?? '')) ?? []
  const end = claims && expiryOfToken(claims)
  return end && end < now ? `its token expired on ${day(end)}` : undefined
}

function expiryOf(certificate: Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(certificate).validTo)
  } catch {
    return undefined
  }
}

function expiryOfToken(claims: string): number | undefined {
  const read = parseJson(Buffer.from(claims, 'base64url').toString('utf8'), tokenClaims)
  return read.ok ? read.value.exp * 1000 : undefined
}

const day = (time: number) => new Date(time).toISOString().replace(/T(\d\d:\d\d).*/, ' $1 UTC')
