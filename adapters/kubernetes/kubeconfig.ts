import { dirname, resolve } from 'node:path'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { proxyFor } from '../http/proxy.ts'
import { entriesOf, type Fields, fieldsOf, readKubeconfigFiles, textOf } from './kubeconfig-files.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** The selected context of the user's kubeconfig, with its cluster and user. */
export interface Kubeconfig {
  /** Name of the selected context. */
  readonly context: string
  /** Namespace of the context; `default` if the context has none. */
  readonly namespace: string
  readonly server: URL
  /**
   * Cluster of the context. The file paths in it are absolute, and `proxy-url` comes from the environment if the
   * cluster has none.
   */
  readonly cluster: Fields
  /** User of the context, with absolute file paths; empty if the context has no user. Secret. */
  readonly user: Fields
  readonly userName: string | undefined
}

/**
 * Reads a context of the user's kubeconfig (`readKubeconfigFiles`); without a name, the current context. Throws a
 * UserError that states what is missing or invalid. Sends no request.
 */
export async function loadKubeconfig(context: string | undefined, env: Env): Promise<Kubeconfig> {
  const { current, contexts, clusters, users } = await readWhole(env)
  const names = [...contexts.keys()]
  const name = context ?? current
  if (!name)
    throw new UserError('the kubeconfig has no current context', {
      hint: names.length === 0 ? 'it has no contexts' : `choose one with \`--context\`: ${list(names)}`,
    })
  const chosen = contexts.get(name)
  if (chosen === undefined)
    throw new UserError(`the kubeconfig has no context \`${name}\``, {
      hint: didYouMean(name, names) ?? (names.length === 0 ? 'it has none' : `it has ${list(names)}`),
    })
  const clusterName = textOf(chosen['cluster']) ?? ''
  const cluster = clusters.get(clusterName)
  if (cluster === undefined)
    throw new UserError(`context \`${name}\` refers to cluster \`${clusterName}\`, which is not in the kubeconfig`)
  const userName = textOf(chosen['user'])
  const user = userName === undefined ? {} : users.get(userName)
  if (user === undefined)
    throw new UserError(`context \`${name}\` refers to user \`${userName}\`, which is not in the kubeconfig`)
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

const list = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

/** Merged contents of all kubeconfig files. */
interface Whole {
  readonly current: string | undefined
  readonly contexts: ReadonlyMap<string, Fields>
  readonly clusters: ReadonlyMap<string, Fields>
  readonly users: ReadonlyMap<string, Fields>
}

async function readWhole(env: Env): Promise<Whole> {
  const { paths, areNamed, files } = await readKubeconfigFiles(env)
  if (files.length === 0)
    throw areNamed
      ? new UserError(`no kubeconfig found at ${list(paths)}`, { hint: 'check `KUBECONFIG`' })
      : new UserError('no kubeconfig found', {
          hint: 'set `KUBECONFIG`, or let your cluster tool write `~/.kube/config`',
        })
  const all = (kind: 'context' | 'cluster' | 'user') => {
    const entries = new Map<string, Fields>()
    for (const file of files)
      for (const { name, fields } of entriesOf(file, kind))
        if (!entries.has(name)) entries.set(name, file.path ? withAbsolutePaths(fields, dirname(file.path)) : fields)
    return entries
  }
  const [current] = files.flatMap(({ content }) => textOf(content['current-context']) ?? [])
  return { current, contexts: all('context'), clusters: all('cluster'), users: all('user') }
}

/**
 * Makes the paths in an entry absolute: in the kubeconfig, they are relative to the folder of the file. The command of
 * a plugin is also a path if it contains a slash; any other command is searched on the PATH.
 */
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
