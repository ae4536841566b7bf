import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'

/**
 * Returns the identity of an object (group, kind, namespace and name), which is equal for two manifests of the same
 * object.
 */
export const idOf = ({ apiVersion, kind, metadata }: KubernetesObject): string =>
  `${apiVersion.split('/')[0]} ${kind} ${metadata.namespace ?? ''} ${metadata.name}`

/**
 * Returns the objects in the texts of files, by path. Files that are not manifests (a kustomization, a README) contain
 * no objects. Throws a UserError for a file that is not YAML.
 */
export async function objectsOf(files: ReadonlyMap<string, string>): Promise<readonly KubernetesObject[]> {
  const { loadAll, YAMLException } = await import('js-yaml')
  const objects: KubernetesObject[] = []
  for (const [path, text] of files) {
    if (!/\.(ya?ml|json)$/.test(path) || /(^|[/\\])kustomization\.ya?ml$/.test(path)) continue
    try {
      for (const document of loadAll(text)) objects.push(...objectsIn(document))
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      throw new UserError(`\`${path}\` is no YAML: ${error.reason}`)
    }
  }
  return objects
}

/**
 * Returns the objects of a document: the document itself, or the items of a list. Omits everything that is not a
 * Kubernetes object.
 */
function objectsIn(document: unknown): readonly KubernetesObject[] {
  if (typeof document !== 'object' || document === null || !('kind' in document) || !('apiVersion' in document))
    return []
  if (document.kind === 'List' && 'items' in document && Array.isArray(document.items))
    return document.items.flatMap(objectsIn)
  return 'metadata' in document ? [document as KubernetesObject] : [] // it has the fields that all have
}
