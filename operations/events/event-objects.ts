import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isWorkload, KINDS } from '../../constructs/kinds.ts'
import { runPrefix } from '../../containers/run/run-name.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { environmentSelector } from '../../environment/labels.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import type { Session } from '../../project/session.ts'

/** Matches one character of the hashes and random suffixes that Kubernetes appends to names. */
const SUFFIX = '[bcdfghjklmnpqrstvwxz2456789]'

/**
 * Returns a function that is true for Events about an object of an environment. The function compares kinds and names,
 * because objects that no longer exist, and Pods that are created later, have events, too.
 */
export async function objectsOfEnvironment(
  { cluster, namespace, signal }: Pick<Session, 'cluster' | 'namespace' | 'signal'>,
  environment: string,
): Promise<(event: KubeObject) => boolean> {
  const labels = environmentSelector(environment)
  const kinds = [...KINDS.filter(({ isExtra }) => !isExtra), { apiVersion: 'v1', kind: 'Pod' }]
  const lists = await Promise.all(
    kinds.map(({ apiVersion, kind }) =>
      unlessForbidden(cluster.list({ apiVersion, kind, namespace, labels }, { signal }), []),
    ),
  )
  const objects = lists.flat()
  const names = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`))
  // A service in the Pods of another service has no workload, but a Service.
  const services = objects.filter(one => isWorkload(one) || one.kind === 'Service').flatMap(one => serviceOf(one) ?? [])
  const patterns = [
    ...objects.filter(isWorkload).flatMap(({ kind, metadata }) => patternsOf(kind, metadata.name)),
    ...[...new Set(services)].flatMap(runPatterns),
  ]
  return event => {
    const { involvedObject } = event as unknown as { involvedObject?: { kind?: string; name?: string } } // an Event's
    const key = `${involvedObject?.kind}/${involvedObject?.name}`
    return names.has(key) || patterns.some(pattern => pattern.test(key))
  }
}

/** Returns patterns of the Jobs that `devctl run` creates for a service, and of their Pods, as `KIND/NAME`. */
function runPatterns(service: string): readonly RegExp[] {
  const job = [...literals(runPrefix(service)), ...Array<string>(8).fill('[0-9a-f]')]
  return [new RegExp(`^Job/${job.join('')}$`), podPattern([...job, '-'])]
}

/** Returns patterns of the objects that are created for a workload, as `KIND/NAME`. */
const patternsOf = (kind: string, name: string): readonly RegExp[] => [
  ...controlledPatterns(kind, literals(name).join('')),
  ...cutPatterns(kind, name),
]

/** Returns a pattern for each character of a name. */
const literals = (text: string): readonly string[] => [...text].map(one => (one === '.' ? '\\.' : one))

/** Maximum number of characters before the random suffix in the name of a Pod. Kubernetes cuts longer texts. */
const LONGEST_BASE = 58

/**
 * Returns the pattern of a Pod whose name ends with a random suffix. `base` contains a pattern for each character
 * before the suffix.
 */
const podPattern = (base: readonly string[]): RegExp =>
  new RegExp(`^Pod/${base.slice(0, LONGEST_BASE).join('')}${SUFFIX}{5}$`)

/** Returns patterns of the Pods of a workload whose name is so long that Kubernetes cuts it. */
function cutPatterns(kind: string, name: string): readonly RegExp[] {
  const hashes = Array.from({ length: 10 }, (_, at) => Array<string>(at + 1).fill(SUFFIX))
  const bases = [
    ...(kind === 'CronJob' ? [['-', ...Array<string>(8).fill('\\d'), '-']] : []),
    ...(kind === 'Deployment' ? hashes.map(hash => ['-', ...hash, '-']) : []),
    ...(['Job', 'DaemonSet'].includes(kind) ? [['-']] : []),
  ].map(end => [...literals(name), ...end])
  return bases.filter(({ length }) => length > LONGEST_BASE).map(podPattern)
}

/** Returns patterns of the objects that the controllers of a workload create. */
function controlledPatterns(kind: string, own: string): readonly RegExp[] {
  // The controller of a CronJob appends the time in minutes to its name.
  if (kind === 'CronJob') return [new RegExp(`^Job/${own}-\\d+$`), new RegExp(`^Pod/${own}-\\d+-${SUFFIX}{5}$`)]
  if (kind === 'StatefulSet') return [new RegExp(`^Pod/${own}-\\d+$`)]
  if (kind !== 'Deployment') return [new RegExp(`^Pod/${own}-${SUFFIX}{5}$`)]
  return [new RegExp(`^ReplicaSet/${own}-${SUFFIX}{1,10}$`), new RegExp(`^Pod/${own}-${SUFFIX}{1,10}-${SUFFIX}{5}$`)]
}
