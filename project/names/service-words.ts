import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { toServiceName } from '../../compiler/plan/object-names.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import type { KnownEnvironment } from '../known-environment.ts'
import { labelsOf, noSuchService } from './named-services.ts'

/**
 * Returns a function that converts service names from the command line to their names in the cluster. Accepts names
 * from the files, and labels of the environment's objects, because services removed from the files may still exist. The
 * function throws a UserError for any other name.
 */
export async function serviceWords({
  name,
  project,
}: KnownEnvironment): Promise<(words: readonly string[], objects: readonly KubeObject[]) => ReadonlySet<string>> {
  const ofFiles = project ? await labelsOf(project) : new Map<string, string>()
  return (words, objects) => {
    const labels = new Set([...objects.flatMap(object => serviceOf(object) ?? []), ...ofFiles.values()])
    const toLabel = (word: string): string => {
      const found = ofFiles.get(word) ?? (labels.has(word) ? word : toServiceName(word))
      if (labels.has(found)) return found
      throw noSuchService(word, ofFiles.size > 0 ? ofFiles.keys() : labels, ` in ${name}`)
    }
    return new Set(words.map(toLabel))
  }
}
