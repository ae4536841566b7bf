import { spawn } from 'node:child_process'
import { ClusterError } from './cluster.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import type { Fields } from './kubeconfig-files.ts'

/** What a credential plugin gives. All of it secret. */
export interface PluginCredentials {
  readonly token?: string
  /** PEM. */
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

/** The `exec` part of a user of the kubeconfig: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#configuration */
export interface PluginConfig {
  readonly apiVersion?: string
  readonly command: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
}

/**
 * The kubeconfig with what its user's credential plugin gives in the plugin's place; as it is when the user has none. Throws as `runPlugin`
 * does.
 */
export async function withPluginCredentials(
  kubeconfig: Kubeconfig,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
): Promise<Kubeconfig> {
  const { exec, ...user } = kubeconfig.user
  if (!exec) return kubeconfig
  // The kubeconfig's own words.
  const plugin = exec as PluginConfig
  const { token, clientCertificateData, clientKeyData } = await runPlugin(plugin, kubeconfig.cluster, env, signal)
  const base64 = (text: string | undefined) => text && Buffer.from(text).toString('base64')
  const certificate = {
    'client-certificate-data': base64(clientCertificateData),
    'client-key-data': base64(clientKeyData),
  }
  return { ...kubeconfig, user: { ...user, ...(token && { token }), ...(clientCertificateData && certificate) } }
}

/**
 * Runs a credential plugin, as kubectl does: what it has to tell a person goes to standard error, and it may ask at a terminal. The client
 * library's own way keeps both from the person, leaves out KUBERNETES_EXEC_INFO, and quotes the output, a token maybe, when it is no JSON.
 * Throws `unauthorized` when the plugin gives nothing; an aborted signal ends it.
 */
export async function runPlugin(
  plugin: PluginConfig,
  cluster: Fields,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
): Promise<PluginCredentials> {
  const isInteractive = plugin.interactiveMode !== 'Never' && process.stdin.isTTY === true
  const refuse = (why: string, cause?: unknown) =>
    new ClusterError('unauthorized', `the credential plugin \`${plugin.command}\` ${why}`, { cause })
  if (plugin.interactiveMode === 'Always' && !isInteractive)
    throw refuse('wants to ask somebody, and there is no terminal')
  const { status, text } = await outputOf(plugin, infoFor(plugin, cluster, isInteractive), env, isInteractive, signal)
    // Asked for by `signal`, it is the caller's to tell.
    .catch(cause => {
      signal?.throwIfAborted()
      const hint = plugin.installHint ? `: ${plugin.installHint.trim()}` : ''
      throw refuse((cause.code === 'ENOENT' ? 'is not installed' : `cannot be started (${cause.code})`) + hint, cause)
    })
  if (typeof status === 'string') throw refuse(`was ended by ${status}`)
  if (status !== 0) throw refuse(`failed with exit status ${status}`)
  const credentials = readCredentials(text)
  if (credentials === undefined) throw refuse('printed something else than an ExecCredential with credentials')
  return credentials
}

/** What the plugin prints, and its exit status or the signal that ended it. */
function outputOf(
  { command, args, env: own }: PluginConfig,
  info: string,
  env: Readonly<Record<string, string | undefined>>,
  isInteractive: boolean,
  signal: AbortSignal | undefined,
): Promise<{ status: number | NodeJS.Signals | null; text: string }> {
  return new Promise((resolve, reject) => {
    const variables = Object.fromEntries((own ?? []).map(({ name, value }) => [name, value]))
    const child = spawn(command, args ?? [], {
      env: { ...env, ...variables, KUBERNETES_EXEC_INFO: info },
      stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      ...(signal && { signal }),
    })
    let text = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', part => {
      text += part
    })
    child.on('error', reject)
    child.on('close', (code, by) => resolve({ status: by ?? code, text }))
  })
}

/** What client-go tells a plugin. */
function infoFor({ apiVersion, provideClusterInfo }: PluginConfig, cluster: Fields, interactive: boolean): string {
  const names = ['server', 'certificate-authority-data', 'insecure-skip-tls-verify', 'tls-server-name', 'proxy-url']
  const described = Object.fromEntries(names.map(name => [name, cluster[name]]))
  const spec = { interactive, ...(provideClusterInfo && { cluster: described }) }
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec })
}

function readCredentials(text: string): PluginCredentials | undefined {
  let answer: { status?: Record<string, unknown> } | null
  try {
    answer = JSON.parse(text)
  } catch {
    return undefined
  }
  const { token, clientCertificateData, clientKeyData } = answer?.status ?? {}
  const hasCertificate = typeof clientCertificateData === 'string' && typeof clientKeyData === 'string'
  if (typeof token !== 'string' && !hasCertificate) return undefined
  return {
    ...(typeof token === 'string' && { token }),
    ...(hasCertificate && { clientCertificateData, clientKeyData }),
  }
}
