import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { proxyFor } from './proxy.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Fields of a kubeconfig under their own names, as https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ lists them. */
export type Fields = Readonly<Record<string, unknown>>

/** The clusters that the user's kubeconfig knows, and the one that is chosen. */
export interface Kubeconfig {
  /** The chosen context. */
  readonly context: string
  /** Its namespace: `default` where it names none. */
  readonly namespace: string
  readonly server: URL
  /** The cluster of the context; the paths of files in it are absolute, and `proxy-url` is what the environment says where it has none. */
  readonly cluster: Fields
  /** The user of the context, likewise; empty when the context has none. Secret. */
  readonly user: Fields
  readonly userName: string | undefined
}

/** How the context is called that a Pod's service account makes. */
export const IN_POD = 'inClusterContext'
/** Where Kubernetes puts what a Pod needs to talk to its cluster. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Reads the files of `KUBECONFIG`, else `~/.kube/config`, else the service account of the Pod that devctl runs in, as kubectl does: the
 * first file that says something wins, files that are not there count for nothing. Without a name takes the current context. Throws a
 * UserError that says what is missing or broken. Sends nothing.
 */
export async function loadKubeconfig(context: string | undefined, env: Env): Promise<Kubeconfig> {
  const { current, contexts, clusters, users } = await readFiles(env)
  const names = [...contexts.keys()]
  const name = context ?? current
  if (!name)
    throw new UserError('the kubeconfig has no current context', {
      hint: names.length === 0 ? 'it has no context at all' : `choose one with \`--context\`: ${list(names)}`,
    })
  const chosen = contexts.get(name)
  if (chosen === undefined)
    throw new UserError(`the kubeconfig has no context \`${name}\``, {
      hint: didYouMean(name, names) ?? (names.length === 0 ? 'it has none at all' : `it has ${list(names)}`),
    })
  const clusterName = textOf(chosen['cluster']) ?? ''
  const cluster = clusters.get(clusterName)
  if (cluster === undefined)
    throw new UserError(`context \`${name}\` is of cluster \`${clusterName}\`, which the kubeconfig does not have`)
  const userName = textOf(chosen['user'])
  const user = userName === undefined ? {} : users.get(userName)
  if (user === undefined)
    throw new UserError(`context \`${name}\` is of user \`${userName}\`, which the kubeconfig does not have`)
  const address = textOf(cluster['server']) ?? ''
  const server = URL.canParse(address) ? new URL(address) : undefined
  if (server === undefined || !/^https?:$/.test(server.protocol))
    throw new UserError(`the server \`${address}\` of cluster \`${clusterName}\` is not an http or https URL`)
  const proxy = textOf(cluster['proxy-url']) ?? proxyFor(server, env)
  return {
    context: name,
    namespace: textOf(chosen['namespace']) ?? 'default',
    server,
    cluster: { ...cluster, ...(proxy !== undefined && { 'proxy-url': proxy }) },
    user,
    userName,
  }
}

/** The text, unless it is empty or none. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const list = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

/** All files as one. */
interface Whole {
  current: string | undefined
  readonly contexts: Map<string, Fields>
  readonly clusters: Map<string, Fields>
  readonly users: Map<string, Fields>
}

async function readFiles(env: Env): Promise<Whole> {
  const named = env.KUBECONFIG?.split(delimiter).filter(file => file !== '') ?? []
  const files = (named.length > 0 ? named : [join(env.HOME || homedir(), '.kube/config')]).filter(file =>
    existsSync(file),
  )
  const whole: Whole = { current: undefined, contexts: new Map(), clusters: new Map(), users: new Map() }
  if (files.length === 0) {
    if (named.length > 0)
      throw new UserError(`there is no kubeconfig at ${list(named)}`, { hint: 'that is what `KUBECONFIG` names' })
    return (
      ofPod(env) ??
      refuse(
        'there is no kubeconfig',
        'set `KUBECONFIG`, or let the tool that made your cluster write `~/.kube/config`',
      )
    )
  }
  for (const file of files) {
    const content = await readFile(file)
    whole.current ??= textOf(content['current-context'])
    for (const [kind, entries] of [
      ['context', whole.contexts],
      ['cluster', whole.clusters],
      ['user', whole.users],
    ] as const)
      for (const { name, ...entry } of listOf(content[`${kind}s`]))
        if (typeof name === 'string' && !entries.has(name))
          entries.set(name, withAbsolutePaths(fieldsOf(entry[kind]), dirname(file)))
  }
  return whole
}

function refuse(message: string, hint: string): never {
  throw new UserError(message, { hint })
}

/** What Kubernetes tells a Pod about its cluster; undefined outside of one. */
function ofPod(env: Env): Whole | undefined {
  const host = env.KUBERNETES_SERVICE_HOST
  const tokenFile = join(SERVICE_ACCOUNT, 'token')
  if (!host || !existsSync(tokenFile)) return undefined
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT || '443'}`
  const space = join(SERVICE_ACCOUNT, 'namespace')
  const namespace = existsSync(space) ? readFileSync(space, 'utf8').trim() : undefined
  const name = IN_POD
  return {
    current: name,
    contexts: new Map([[name, { cluster: name, user: name, namespace }]]),
    clusters: new Map([[name, { server, 'certificate-authority': join(SERVICE_ACCOUNT, 'ca.crt') }]]),
    users: new Map([[name, { tokenFile }]]),
  }
}

async function readFile(file: string): Promise<Fields> {
  const broken = (why: string, cause?: unknown) =>
    new UserError(`could not read the kubeconfig \`${file}\`: ${why}`, { cause })
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    throw broken(code === 'EACCES' ? 'it may not be read' : code === 'EISDIR' ? 'it is a folder' : String(code), error)
  }
  if (text.trim() === '') return {}
  const { load, YAMLException } = await import('js-yaml')
  let content: unknown
  try {
    content = load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // Never its message nor the error itself: they quote the lines around, and there may be a token on them.
    throw broken(`it is not YAML: ${error.reason}${error.mark ? ` (line ${error.mark.line + 1})` : ''}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) throw broken('it is not a kubeconfig')
  return fieldsOf(content)
}

/** Paths are relative to the file that names them; so is the command of a plugin, unless it is to be looked for on the PATH. */
function withAbsolutePaths(entry: Fields, folder: string): Fields {
  const paths = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'].flatMap(key => {
    const path = textOf(entry[key])
    return path === undefined ? [] : [[key, resolve(folder, path)]]
  })
  const exec = fieldsOf(entry['exec'])
  const command = textOf(exec['command'])
  return {
    ...entry,
    ...Object.fromEntries(paths),
    ...(command?.includes('/') && { exec: { ...exec, command: resolve(folder, command) } }),
  }
}

/** The fields of a map; none of anything else. */
const fieldsOf = (value: unknown): Fields =>
  // The check leaves maps whose values nobody knows.
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
