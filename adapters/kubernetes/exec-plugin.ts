import { checkJson, parseJson } from '../json/parse-json.ts'
import { runProgram } from '../process/run-program.ts'
import { ClusterError } from './cluster.ts'
import type { PluginConfig } from './credentials.schema.ts'
import { content } from './credentials.ts'
import { execCredential, pluginConfig } from './credentials.validators.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { type Fields, fieldsOf } from './kubeconfig-files.ts'

/** Credentials from a credential plugin. All fields are secret. */
export interface PluginCredentials {
  readonly token?: string
  /** Certificate in PEM format. */
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

interface PluginRun {
  /** Signal that ends the plugin. */
  readonly signal: AbortSignal | undefined
  /** True if the plugin must neither prompt nor print messages. */
  readonly isSilent: boolean
}

/**
 * Runs the credential plugin of the kubeconfig's user, and returns the kubeconfig with the credentials in place of the
 * plugin. Returns the kubeconfig unchanged if the user has no plugin. Throws as `runPlugin` does.
 */
export async function withPluginCredentials(
  kubeconfig: Kubeconfig,
  env: Readonly<Record<string, string | undefined>>,
  running: PluginRun,
): Promise<Kubeconfig> {
  const { exec, ...user } = kubeconfig.user
  if (!exec) return kubeconfig
  const plugin = checkJson(exec, pluginConfig)
  if (!plugin.ok)
    throw new ClusterError(
      'unauthorized',
      `the \`exec\` part of a user in the kubeconfig is not valid: ${plugin.problem}`,
    )
  const { token, clientCertificateData, clientKeyData } = await runPlugin(
    plugin.value,
    kubeconfig.cluster,
    env,
    running,
  )
  const base64 = (text: string | undefined) => text && Buffer.from(text).toString('base64')
  const certificate = {
    'client-certificate-data': base64(clientCertificateData),
    'client-key-data': base64(clientKeyData),
  }
  return { ...kubeconfig, user: { ...user, ...(token && { token }), ...(clientCertificateData && certificate) } }
}

/**
 * Runs a credential plugin, as kubectl does: its messages for the user go to standard error, and it may prompt at a
 * terminal. The client library would hide messages and prompts from the user, would not set KUBERNETES_EXEC_INFO, and
 * would quote output that is not JSON, which may contain a token. Throws a ClusterError with the failure `unauthorized`
 * if the plugin returns no credentials; an aborted signal ends the plugin.
 */
async function runPlugin(
  plugin: PluginConfig,
  cluster: Fields,
  env: Readonly<Record<string, string | undefined>>,
  { signal, isSilent }: PluginRun,
): Promise<PluginCredentials> {
  const isInteractive = !isSilent && plugin.interactiveMode !== 'Never' && process.stdin.isTTY === true
  const refuse = (why: string, cause?: unknown) =>
    new ClusterError('unauthorized', `the credential plugin \`${plugin.command}\` ${why}`, { cause })
  if (plugin.interactiveMode === 'Always' && !isInteractive)
    throw refuse('needs to ask for input, and there is no terminal')
  const own = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]))
  const ended = await runProgram(plugin.command, plugin.args ?? [], {
    env: { ...env, ...own, KUBERNETES_EXEC_INFO: infoFor(plugin, cluster, isInteractive) },
    signal,
    ...(isInteractive && { input: 'terminal' }),
    showsErrors: !isSilent,
  })
  // If `signal` ended the plugin, the caller reports it.
  signal?.throwIfAborted()
  if (ended.failure) {
    const { code } = ended.failure
    const hint = plugin.installHint ? `: ${plugin.installHint.trim()}` : ''
    throw refuse((code === 'ENOENT' ? 'is not installed' : `could not be started (${code})`) + hint, ended.failure)
  }
  if (ended.signal) throw refuse(`was killed by ${ended.signal}`)
  if (ended.status !== 0) throw refuse(`failed with exit status ${ended.status}`)
  const answer = parseJson(ended.stdout, execCredential)
  if (!answer.ok) throw refuse(`did not print an ExecCredential: ${answer.problem}`)
  const { token, clientCertificateData, clientKeyData } = answer.value.status
  const hasCertificate = clientCertificateData !== undefined && clientKeyData !== undefined
  if (token === undefined && !hasCertificate)
    throw refuse('printed an ExecCredential with neither `status.token` nor a client certificate with its key')
  return { ...(token !== undefined && { token }), ...(hasCertificate && { clientCertificateData, clientKeyData }) }
}

/** Returns the `ExecCredential` that a plugin receives, as JSON in the format of client-go. */
function infoFor({ apiVersion, provideClusterInfo }: PluginConfig, cluster: Fields, interactive: boolean): string {
  const spec = { interactive, ...(provideClusterInfo && { cluster: described(cluster) }) }
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec })
}

/** Name of the extension of a cluster that contains settings for credential plugins. */
const SETTINGS = 'client.authentication.k8s.io/exec'

/**
 * Returns the description of a cluster for a plugin. As in client-go, it contains the certificate authority itself even
 * if the kubeconfig names a file.
 */
function described(cluster: Fields): Fields {
  const names = ['server', 'insecure-skip-tls-verify', 'tls-server-name', 'proxy-url', 'disable-compression']
  const { extensions } = cluster
  const settings = Array.isArray(extensions)
    ? extensions.map(fieldsOf).find(({ name }) => name === SETTINGS)
    : undefined
  return {
    ...Object.fromEntries(names.map(name => [name, cluster[name]])),
    'certificate-authority-data': content(cluster, 'certificate-authority')?.toString('base64'),
    config: settings?.['extension'],
  }
}
