import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { proxyFor } from './proxy.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** The clusters that the user's kubeconfig knows, and the one that is chosen. */
export interface Kubeconfig {
  /** The chosen context. */
  readonly context: string
  /** Its namespace: `default` where it names none. */
  readonly namespace: string
  readonly server: URL
  /** The names of all contexts, in the order of the files. */
  readonly contexts: readonly string[]
  /** The library's own object, which knows how to authenticate. */
  readonly config: KubeConfig
  /** Of the chosen user, what the library drops. */
  readonly more: MoreOfUser
}

export interface MoreOfUser {
  /** Absolute path of a file with a token, which counts for more than a token beside it. */
  readonly tokenFile?: string
  /** Headers that say as whom to act, but for the name. */
  readonly impersonation?: Readonly<Record<string, string | string[]>>
}

const IN_CLUSTER_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/**
 * Reads the files of `KUBECONFIG`, else `~/.kube/config`, else the service account of the Pod that devctl runs in, as kubectl does: the
 * first file that says something wins, files that are not there count for nothing. Without a name takes the current context. Throws a
 * UserError that says what is missing or broken. Sends nothing.
 */
export async function loadKubeconfig(context: string | undefined, env: Env): Promise<Kubeconfig> {
  const { config, fileOfUser } = await readFiles(env)
  const contexts = config.contexts.map(one => one.name)
  const name = context ?? config.currentContext
  if (!name)
    throw new UserError('the kubeconfig has no current context', {
      hint: contexts.length === 0 ? 'it has no context at all' : `choose one with \`--context\`: ${list(contexts)}`,
    })
  const chosen = config.contexts.find(one => one.name === name)
  if (chosen === undefined)
    throw new UserError(`the kubeconfig has no context \`${name}\``, {
      hint: didYouMean(name, contexts) ?? (contexts.length === 0 ? 'it has none at all' : `it has ${list(contexts)}`),
    })
  config.setCurrentContext(name)

  const cluster = config.getCluster(chosen.cluster)
  if (cluster === null)
    throw new UserError(`context \`${name}\` is of cluster \`${chosen.cluster}\`, which the kubeconfig does not have`)
  // Without a user the library would forget the cluster's certificate authority too: give it one without credentials.
  if (!chosen.user) {
    Object.assign(chosen, { user: '' })
    config.users = [...config.users, { name: '' }]
  } else if (config.getUser(chosen.user) === null)
    throw new UserError(`context \`${name}\` is of user \`${chosen.user}\`, which the kubeconfig does not have`)
  const server = URL.canParse(cluster.server) ? new URL(cluster.server) : undefined
  if (server === undefined || !/^https?:$/.test(server.protocol))
    throw new UserError(`the server \`${cluster.server}\` of cluster \`${chosen.cluster}\` is not an http or https URL`)
  // The library takes plain http only with this; there is no certificate to verify.
  if (server.protocol === 'http:') Object.assign(cluster, { skipTLSVerify: true })
  if (!cluster.proxyUrl) Object.assign(cluster, { proxyUrl: proxyFor(server, env) })
  const file = fileOfUser.get(chosen.user)
  const more = file === undefined ? {} : await moreOfUser(file, chosen.user)
  return { context: name, namespace: chosen.namespace || 'default', server, contexts, config, more }
}

const list = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

interface Files {
  readonly config: KubeConfig
  /** The file that a user is in. */
  readonly fileOfUser: ReadonlyMap<string, string>
}

async function readFiles(env: Env): Promise<Files> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const named = env.KUBECONFIG?.split(delimiter).filter(file => file !== '') ?? []
  const files = (named.length > 0 ? named : [join(env.HOME || homedir(), '.kube/config')]).filter(file =>
    existsSync(file),
  )
  const whole = new KubeConfig()
  if (files.length === 0) {
    if (named.length > 0)
      throw new UserError(`there is no kubeconfig at ${list(named)}`, { hint: 'that is what `KUBECONFIG` names' })
    if (env.KUBERNETES_SERVICE_HOST && existsSync(IN_CLUSTER_TOKEN)) {
      whole.loadFromCluster()
      return { config: whole, fileOfUser: new Map() }
    }
    throw new UserError('there is no kubeconfig', {
      hint: 'set `KUBECONFIG`, or let the tool that made your cluster write `~/.kube/config`',
    })
  }
  const fileOfUser = new Map<string, string>()
  for (const file of files) {
    const one = new KubeConfig()
    try {
      one.loadFromFile(file)
    } catch (cause) {
      throw new UserError(`could not read the kubeconfig \`${file}\`: ${explain(cause)}`, { cause })
    }
    for (const { name } of one.users) if (!fileOfUser.has(name)) fileOfUser.set(name, file)
    for (const { exec } of one.users)
      if (exec?.command?.includes('/') && !isAbsolute(exec.command)) exec.command = join(dirname(file), exec.command)
    merge(whole, one)
  }
  return { config: whole, fileOfUser }
}

async function moreOfUser(file: string, name: string): Promise<MoreOfUser> {
  const { load } = await import('js-yaml')
  // The library has read it as a kubeconfig already.
  const { users } = load(readFileSync(file, 'utf8')) as { users: { name: string; user?: Record<string, unknown> }[] }
  const user = users.find(one => one.name === name)?.user ?? {}
  const { tokenFile, 'as-groups': groups, 'as-uid': uid, 'as-user-extra': extra } = user
  const impersonation: Record<string, string | string[]> = {}
  if (Array.isArray(groups)) impersonation['Impersonate-Group'] = groups.map(String)
  if (typeof uid === 'string') impersonation['Impersonate-Uid'] = uid
  for (const [key, values] of Object.entries(extra ?? {}))
    impersonation[`Impersonate-Extra-${encodeURIComponent(key)}`] = [values].flat().map(String)
  return {
    ...(typeof tokenFile === 'string' && tokenFile !== '' && { tokenFile: resolve(dirname(file), tokenFile) }),
    ...(Object.keys(impersonation).length > 0 && { impersonation }),
  }
}

/** Adds what the whole does not have yet. The library's own merge refuses duplicates, and lets the last file win. */
function merge(whole: KubeConfig, one: KubeConfig): void {
  const fresh = <T extends { name: string }>(old: readonly T[], more: readonly T[]) =>
    more.filter(({ name }) => !old.some(other => other.name === name))
  whole.clusters = [...whole.clusters, ...fresh(whole.clusters, one.clusters)]
  whole.users = [...whole.users, ...fresh(whole.users, one.users)]
  whole.contexts = [...whole.contexts, ...fresh(whole.contexts, one.contexts)]
  if (!whole.currentContext && one.currentContext) whole.setCurrentContext(one.currentContext)
}

/** The first line of what is wrong. Never more: a parser quotes the lines around, and there may be a token on them. */
function explain(cause: unknown): string {
  const { message, code } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: '', code: undefined }
  if (code === 'EACCES') return 'it may not be read'
  if (code === 'EISDIR') return 'it is a folder'
  // js-yaml has the text without the quoted lines and the place as fields of their own.
  const { reason, mark } = cause as { reason?: unknown; mark?: { line?: unknown } }
  if (typeof reason === 'string')
    return `it is not YAML: ${reason}${typeof mark?.line === 'number' ? ` (line ${mark.line + 1})` : ''}`
  return cause instanceof TypeError ? 'it is not a kubeconfig' : (message.split('\n')[0] ?? '')
}
