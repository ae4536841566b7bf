import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import { ClusterError } from './cluster.ts'
import { type PluginConfig, runPlugin } from './exec-plugin.ts'
import type { Env, Kubeconfig } from './kubeconfig.ts'

export type Headers = Readonly<Record<string, string | string[]>>

/** The credentials of the current context's user, and agents that show its certificate. All of it secret. */
export interface Credentials {
  readonly headers: Headers
  /** `user:password`, for basic authentication. */
  readonly auth: string | undefined
  readonly certificate: Buffer | undefined
  /** A new agent, of the right kind: TLS or not, through a proxy or not. */
  readonly newAgent: () => Promise<Agent>
}

/**
 * Gets the credentials of the current context's user: from the kubeconfig and the files that it names, or from a credential plugin. Throws
 * `unauthorized` when there are none to be had.
 */
export async function getCredentials(
  { config, more }: Pick<Kubeconfig, 'config' | 'more'>,
  env: Env,
  signal: AbortSignal | undefined,
): Promise<Credentials> {
  const user = config.getCurrentUser()
  const cluster = config.getCurrentCluster()
  if (user?.exec && cluster) {
    // The kubeconfig's own words, which the library hands on as they are.
    const { token, clientCertificateData, clientKeyData } = await runPlugin(
      user.exec as PluginConfig,
      cluster,
      env,
      signal,
    )
    const base64 = (text: string | undefined) => text && Buffer.from(text).toString('base64')
    // What the plugin gave takes its place: the library would run it again.
    Object.assign(user, {
      exec: undefined,
      token,
      ...(clientCertificateData && { certData: base64(clientCertificateData), keyData: base64(clientKeyData) }),
    })
  }
  const { tokenFile } = more
  if (user && tokenFile !== undefined)
    Object.assign(user, { token: await fromFiles(() => readFileSync(tokenFile, 'utf8').trim()) })
  const { headers, auth, cert } = await optionsOf(config)
  return {
    // The library's have one value each.
    headers: { ...(headers as Record<string, string>), ...more.impersonation },
    auth: auth ?? undefined,
    certificate: Buffer.isBuffer(cert) ? cert : undefined,
    // The library always sets one, of Node's or like them.
    newAgent: async () => (await optionsOf(config)).agent as Agent,
  }
}

async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {}
  await fromFiles(() => config.applyToHTTPSOptions(options))
  return options
}

/** Does what reads the files that a kubeconfig names. Throws `unauthorized` when it cannot. */
async function fromFiles<Result>(read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (cause) {
    const { code, path, message } = cause as NodeJS.ErrnoException
    if (path === undefined || code === undefined)
      throw new ClusterError('unauthorized', `could not get credentials: ${String(message).trim()}`, { cause })
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`
    throw new ClusterError('unauthorized', `the file \`${path}\`, which the kubeconfig names, ${why}`, { cause })
  }
}

/** What is wrong with credentials that a server has refused, as far as they tell it themselves: `its token expired on 2024-05-01`. */
export function flawOf({ certificate, headers }: Credentials, now: number): string | undefined {
  const expiry = certificate && expiryOf(certificate)
  if (expiry !== undefined && expiry < now) return `its client certificate expired on ${day(expiry)}`
  const [, claims] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]+$/.exec(String(headers['Authorization'] ?? '')) ?? []
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
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
    return typeof exp === 'number' ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}

const day = (time: number) => new Date(time).toISOString().replace(/T(\d\d:\d\d).*/, ' $1 UTC')
