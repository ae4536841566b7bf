import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { LoadingValues } from '../../options/project.ts'
import type { Io } from '../../terminal/io.ts'
import type { SessionOptions } from '../cluster-session.ts'

/** The options of `up`. */
export interface UpValues extends LoadingValues, Omit<SessionOptions, 'timeout' | 'isEndless'> {
  readonly env: readonly string[] | undefined
  readonly deploy: boolean
  readonly tolerateFailures: boolean
  readonly createNamespace: boolean
  readonly reset: boolean
  readonly command: readonly string[] | undefined
  readonly detach: boolean
  readonly downOnExit: boolean
  readonly takeOver: boolean
  readonly dryRun: boolean
  readonly all: boolean
}

/** Returns a Secret without its values, because each session generates new ones. */
function withoutData(object: KubeObject): KubeObject {
  const { data } = object as { readonly data?: Readonly<Record<string, string>> } // a Secret's
  if (object.kind !== 'Secret' || !data) return object
  return { ...object, data: Object.fromEntries(Object.keys(data).map(key => [key, '***'])) }
}

/** Prints the objects that would be applied. */
export async function printPlanned(objects: readonly KubeObject[], { stdout }: Pick<Io, 'stdout'>): Promise<void> {
  const { printYaml } = await import('../../../constructs/yaml.ts')
  stdout.write(objects.map(one => `---\n${printYaml(withoutData(one))}`).join(''))
}
