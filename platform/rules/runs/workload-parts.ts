/** A workload, or the object that an event is about: a kind and a name. */
export interface NamedObject {
  readonly kind: string
  readonly name: string
}

/**
 * Patterns of the suffixes that the cluster adds to names: for a revision (ReplicaSet), for a Pod, and for a numbered
 * Pod of a StatefulSet.
 */
const REVISION = /^[a-z0-9]{5,10}$/
const RANDOM = /^[a-z0-9]{5}$/
const NUMBER = /^\d+$/
/**
 * Maximum number of characters in front of the random suffix of a Pod's name. Kubernetes truncates a longer text before
 * it adds the suffix.
 */
const LONGEST_BASE = 58
const CUT_REVISION = /^[a-z0-9]{1,10}$/

/**
 * True if an object is a workload, such as `deployment/web`, or belongs to it. Decides by the name, because labels of
 * deleted Pods are no longer available, but their events are.
 */
export function isPartOf(workload: string, { kind, name }: NamedObject): boolean {
  const [wanted = '', own = ''] = workload.split('/')
  if (kind.toLowerCase() === wanted) return name === own
  if (own === '') return false
  if (kind === 'Pod' && wanted !== 'statefulset' && isCutName(own, name, wanted === 'deployment')) return true
  if (!name.startsWith(`${own}-`)) return false
  const parts = name.slice(own.length + 1).split('-')
  const fits = (...patterns: readonly RegExp[]) =>
    parts.length === patterns.length && patterns.every((pattern, index) => pattern.test(parts[index] ?? ''))
  if (kind === 'ReplicaSet') return wanted === 'deployment' && fits(REVISION)
  if (kind !== 'Pod') return false
  if (wanted === 'deployment') return fits(REVISION, RANDOM)
  return fits(wanted === 'statefulset' ? NUMBER : RANDOM)
}

/**
 * True if a Pod has the name that Kubernetes generates for a workload with a long name. `hasRevision` is true if such
 * names also contain a revision.
 */
function isCutName(own: string, name: string, hasRevision: boolean): boolean {
  const [base, prefix] = [name.slice(0, -5), `${own}-`]
  if (base.length !== LONGEST_BASE || !RANDOM.test(name.slice(-5))) return false
  if (prefix.startsWith(base)) return true
  return hasRevision && base.startsWith(prefix) && CUT_REVISION.test(base.slice(prefix.length))
}
