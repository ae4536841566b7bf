import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Fields of a kubeconfig by name, as listed at https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/. */
export type Fields = Readonly<Record<string, unknown>>

/** The files of a kubeconfig, by precedence: if two files define the same entry, the first wins. */
export interface KubeconfigFiles {
  /** Absolute paths of all files that were tried, including missing ones. */
  readonly paths: readonly string[]
  /** True if `KUBECONFIG` lists the paths. */
  readonly areNamed: boolean
  readonly files: readonly KubeconfigFile[]
}

export interface KubeconfigFile {
  /** Absolute path; absent for the content derived from a Pod's service account. */
  readonly path?: string
  readonly content: Fields
}

/** Name of the context for a Pod's service account. */
const IN_POD = 'inClusterContext'
/** Folder in which Kubernetes provides the credentials for a Pod to access its cluster. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Reads the files in `KUBECONFIG`, else `.kube/config` in the home, else the service account of the Pod that devctl
 * runs in, as kubectl does: missing files are ignored. Relative paths are resolved against `cwd`. Throws a UserError if
 * a file cannot be read.
 */
export async function readKubeconfigFiles(
  env: Readonly<Record<string, string | undefined>>,
  cwd = process.cwd(),
): Promise<KubeconfigFiles> {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter(path => path !== '')
  const areNamed = named.length > 0
  const paths = areNamed
    ? [...new Set(named.map(path => resolve(cwd, path)))]
    : [join(env['HOME'] || homedir(), '.kube', 'config')]
  const files: KubeconfigFile[] = []
  for (const path of paths) {
    const content = await readFile(path)
    if (content) files.push({ path, content })
  }
  const pod = files.length === 0 && !areNamed ? ofPod(env) : undefined
  return { paths, areNamed, files: pod ? [{ content: pod }] : files }
}

/** Returns a value if it is a non-empty string, otherwise undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Returns the fields of a mapping; no fields for any other value. */
export const fieldsOf = (value: unknown): Fields =>
  // The value is a mapping with values of unknown types after the check.
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Returns the entries of one of the kubeconfig's lists (`contexts`, `clusters`, `users`), with their names. */
export function entriesOf({ content }: KubeconfigFile, kind: 'context' | 'cluster' | 'user') {
  const entries = content[`${kind}s`]
  return (Array.isArray(entries) ? entries : []).flatMap(entry => {
    const fields = fieldsOf(entry)
    const { name } = fields
    return typeof name === 'string' ? [{ name, fields: fieldsOf(fields[kind]) }] : []
  })
}

/** Returns the service account of a Pod as a kubeconfig; undefined outside a Pod. */
function ofPod(env: Readonly<Record<string, string | undefined>>): Fields | undefined {
  const host = env['KUBERNETES_SERVICE_HOST']
  const tokenFile = join(SERVICE_ACCOUNT, 'token')
  if (!host || !existsSync(tokenFile)) return undefined
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] || '443'}`
  const space = join(SERVICE_ACCOUNT, 'namespace')
  const namespace = existsSync(space) ? readFileSync(space, 'utf8').trim() : undefined
  const name = IN_POD
  return {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    clusters: [{ name, cluster: { server, 'certificate-authority': join(SERVICE_ACCOUNT, 'ca.crt') } }],
    users: [{ name, user: { tokenFile } }],
  }
}

/** Returns the content of a file; undefined if the file does not exist. */
async function readFile(path: string): Promise<Fields | undefined> {
  const broken = (why: string, hint: string, cause?: unknown) =>
    new UserError(`cannot read the kubeconfig \`${path}\`: ${why}`, { hint, cause })
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    const why = code === 'EACCES' ? 'permission denied' : code === 'EISDIR' ? 'it is a folder' : String(code)
    throw broken(why, 'check its permissions, or name another file in `KUBECONFIG`', error)
  }
  if (text.trim() === '') return {}
  const { load, YAMLException } = await import('js-yaml')
  let content: unknown
  try {
    content = load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // Never the error or its message, which quote the surrounding lines: they may contain a token.
    const line = error.mark ? ` (line ${error.mark.line + 1})` : ''
    throw broken(`it is not YAML: ${error.reason}${line}`, '`kubectl config view` must be able to read it')
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw broken('it is not a kubeconfig', '`kubectl config view` must be able to read it')
  return fieldsOf(content)
}
