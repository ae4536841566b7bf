import { readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type Surroundings, userHome } from './home.ts'

/** What the choice of a context needs to know of the user's kubeconfig. Credentials are not looked at. */
export interface KubeconfigNames {
  /** The files that were asked for, in their order, whether they are there or not. */
  readonly paths: readonly string[]
  readonly current: string | undefined
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

export interface KubeconfigContext {
  /** The file that holds it. */
  readonly path: string
  readonly namespace?: string
}

/**
 * The contexts of the user's kubeconfig: the files of KUBECONFIG, else `.kube/config` in the home. As for kubectl, files that are not
 * there do not count, and of two that say the same thing the first wins. Throws a UserError for a file that cannot be read.
 */
export async function readKubeconfigNames(around: Surroundings): Promise<KubeconfigNames> {
  const paths = kubeconfigPaths(around)
  const contexts = new Map<string, KubeconfigContext>()
  let current: string | undefined
  for (const path of paths) {
    const content = await readKubeconfig(path)
    current ??= textOf(content['current-context'])
    for (const entry of asList(content['contexts'])) {
      const { name, context } = asRecord(entry)
      const namespace = textOf(asRecord(context)['namespace'])
      if (typeof name === 'string' && !contexts.has(name)) contexts.set(name, { path, ...(namespace && { namespace }) })
    }
  }
  return { paths, current, contexts }
}

/** Absolute paths of the files that make up the kubeconfig. */
export function kubeconfigPaths({ env, cwd }: Surroundings): readonly string[] {
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter(path => path !== '')
  return named.length > 0
    ? [...new Set(named.map(path => resolve(cwd, path)))]
    : [join(userHome(env), '.kube', 'config')]
}

async function readKubeconfig(path: string): Promise<Fields> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
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
