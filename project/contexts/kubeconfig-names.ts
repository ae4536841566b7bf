import { entriesOf, fieldsOf, readKubeconfigFiles, textOf } from '../../adapters/kubernetes/kubeconfig-files.ts'
import type { Surroundings } from './home.ts'

/** Parts of the user's kubeconfig that are needed to choose a context, without credentials. */
export interface KubeconfigNames {
  /** Paths of the kubeconfig files in their order, including missing ones. */
  readonly paths: readonly string[]
  /** True if none of the files in `paths` exists. */
  readonly isMissing?: boolean
  readonly current: string | undefined
  /** File that sets the current context. */
  readonly currentPath?: string
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

export interface KubeconfigContext {
  /** File that contains the context; absent for the context of the Pod that devctl runs in. */
  readonly path?: string
  readonly namespace?: string
  /** URL of the platform for which `devctl kubeconfig` has written the context. */
  readonly platform?: string
}

/**
 * Returns the contexts of the user's kubeconfig (`readKubeconfigFiles`). Throws a UserError for a file that cannot be
 * read.
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

/** Returns the platform that a context of the kubeconfig stands for; returns any other name unchanged. */
export const stoodFor = ({ contexts }: KubeconfigNames, name: string): string => contexts.get(name)?.platform ?? name

/** Name of the extension in a context that `devctl kubeconfig` has written for a platform. */
export const EXTENSION = 'devctl'

function platformIn(extensions: unknown): string | undefined {
  const all = Array.isArray(extensions) ? extensions.map(fieldsOf) : []
  return textOf(fieldsOf(all.find(({ name }) => name === EXTENSION)?.['extension'])['platform'])
}
