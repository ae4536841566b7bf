import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { Io } from '../../terminal/io.ts'

/**
 * Returns a Secret with `***` in place of its values, because each session generates new values. Returns other objects
 * unchanged.
 */
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
