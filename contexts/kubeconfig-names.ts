import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type Surroundings, userHome } from './home.ts'

/** What the choice of a context needs to know of the user's kubeconfig. Credentials are not looked at. */
export interface KubeconfigNames {
  /** The files that were asked for, in their order, whether they are there or not. */
  readonly paths: readonly string[]
  readonly current: string | undefined
  /** The file that names the current one. */
  readonly currentPath?: string
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

export interface KubeconfigContext {
  /** The file that holds it; absent for that of the Pod that devctl runs in. */
  readonly path?: string
  readonly namespace?: string
}

/**
 * The contexts of the user's kubeconfig: the files of KUBECONFIG, else `.kube/config` in the home, else the service account of the Pod that
 * devctl runs in. As for kubectl, files that are not there do not count, and of two that say the same thing the first wins. Throws a
 * UserError for a file that cannot be read.
 */
export async function readKubeconfigNames(around: Surroundings): Promise<KubeconfigNames> {
  const paths = kubeconfigPaths(around)
  const contexts = new Map<string, KubeconfigContext>()
  let current: { readonly name: string; readonly path: string } | undefined
  for (const path of paths) {
    const content = await readKubeconfig(path)
    if (content === undefined) continue
    const name = textOf(content['current-context'])
    if (name !== undefined) current ??= { name, path }
    for (const entry of asList(content['contexts'])) {
      const { name, context } = asRecord(entry)
      const namespace = textOf(asRecord(context)['namespace'])
      if (typeof name === 'string' && !contexts.has(name)) contexts.set(name, { path, ...(namespace && { namespace }) })
    }
  }
  if (isInPod(around, paths)) return { paths, current: IN_POD, contexts: new Map([[IN_POD, podContext()]]) }
  return { paths, current: current?.name, ...(current && { currentPath: current.path }), contexts }
}

/** The context that a Pod's service account makes, as `cluster/kubeconfig.ts` has it; a test holds the two together. */
export const IN_POD = 'inClusterContext'
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

const isInPod = ({ env }: Surroundings, paths: readonly string[]): boolean =>
  Boolean(env.KUBERNETES_SERVICE_HOST) &&
  !env.KUBECONFIG &&
  existsSync(join(SERVICE_ACCOUNT, 'token')) &&
  !paths.some(path => existsSync(path))

function podContext(): KubeconfigContext {
  const file = join(SERVICE_ACCOUNT, 'namespace')
  return existsSync(file) ? { namespace: readFileSync(file, 'utf8').trim() } : {}
}

/** Absolute paths of the files that make up the kubeconfig. */
export function kubeconfigPaths({ env, cwd }: Surroundings): readonly string[] {
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter(path => path !== '')
  return named.length > 0
    ? [...new Set(named.map(path => resolve(cwd, path)))]
    : [join(userHome(env), '.kube', 'config')]
}

/** Undefined when there is no such file. */
async function readKubeconfig(path: string): Promise<Fields | undefined> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new UserError(`cannot read the kubeconfig \`${path}\`: ${code}`, {
      hint: 'check its rights, or name another file in `KUBECONFIG`',
      cause: error,
    })
  }
  const { load, YAMLException } = await import('js-yaml')
  try {
    return asRecord(text.trim() === '' ? {} : load(text))
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // Its message quotes the lines, which may hold a token; the reason does not.
    const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`
    throw new UserError(`the kubeconfig \`${path}\` is no YAML${line}: ${error.reason}`, {
      hint: '`kubectl config view` must be able to read it',
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

const asRecord = (value: unknown): Fields =>
  // The check leaves objects with unknown fields.
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
