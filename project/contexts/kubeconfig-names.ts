import { entriesOf, fieldsOf, readKubeconfigFiles, textOf } from '../../adapters/kubernetes/kubeconfig-files.ts'
import type { Surroundings } from './home.ts'

/**
 * The parts of the user's kubeconfig that the choice of a context needs. Credentials are not looked
 * at.
 */
export interface KubeconfigNames {
  /** Paths of the requested files in their order, including those that do not exist. */
  readonly paths: readonly string[]
  /** True if none of them exists. */
  readonly isMissing?: boolean
  readonly current: string | undefined
  /** The file that names the current one. */
  readonly currentPath?: string
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

export interface KubeconfigContext {
  /** The file that holds it; absent for that of the Pod that devctl runs in. */
  readonly path?: string
  readonly namespace?: string
  /** The URL of the platform that `devctl kubeconfig` has written it for. */
  readonly platform?: string
}

/**
 * The contexts of the user's kubeconfig (`readKubeconfigFiles`). Throws a UserError for a file that
 * cannot be read.
 */
export async function readKubeconfigNames({ env, cwd }: Surroundings): Promise<KubeconfigNames> {
  const { paths, files } = await readKubeconfigFiles(env, cwd)
  const contexts = new Map<string, KubeconfigContext>()
  for (const file of files)
    for (const { name, fields } of entriesOf(file, 'context')) {
      const namespace = textOf(fields['namespace'])
      const platform = platformIn(fields['extensions'])
      if (!contexts.has(name))
        contexts.set(name, {
          ...(file.path && { path: file.path }),
          ...(namespace && { namespace }),
          ...(platform && { platform }),
        })
    }
  const first = files.find(({ content }) => textOf(content['current-context']) !== undefined)
  const current = textOf(first?.content['current-context'])
  const isMissing = files.length === 0
  return { paths, current, ...(first?.path && { currentPath: first.path }), ...(isMissing && { isMissing }), contexts }
}

/** The name of the extension of a context that `devctl kubeconfig` has written for a platform. */
export const EXTENSION = 'devctl'

function platformIn(extensions: unknown): string | undefined {
  const all = Array.isArray(extensions) ? extensions.map(fieldsOf) : []
  return textOf(fieldsOf(all.find(({ name }) => name === EXTENSION)?.['extension'])['platform'])
}
