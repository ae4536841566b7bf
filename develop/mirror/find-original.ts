import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { MIRROR_LABEL } from '../../constructs/mirror/names.ts'
import type { Session } from '../../project/session.ts'

/** Query for the workload of a development container: by labels or, without labels, by the name of the workload. */
export interface OriginalQuery {
  readonly name: string
  /** Labels of the workload; if empty, the name is used. */
  readonly selector: readonly { readonly name: string; readonly value: string }[]
}

/** Kinds whose Pods a mirror can replace, in search order. */
const KINDS = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'batch/v1', kind: 'CronJob' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
] as const

/**
 * Returns the live workload that a development container replaces; undefined if there is none. Ignores mirrors, and
 * Jobs that are runs of another workload. Throws a UserError if the labels select several workloads.
 */
export async function findOriginal(
  { cluster, namespace, signal }: Pick<Session, 'cluster' | 'namespace' | 'signal'>,
  { name, selector }: OriginalQuery,
): Promise<KubeObject | undefined> {
  if (selector.length === 0) {
    const found = await Promise.all(KINDS.map(kind => cluster.get({ ...kind, namespace, name }, { signal })))
    return found.find(one => one !== undefined)
  }
  const labels = selector.map(one => `${one.name}=${one.value}`).join(',')
  const lists = await Promise.all(KINDS.map(kind => cluster.list({ ...kind, namespace, labels }, { signal })))
  const found = lists.flat().filter(one => one.metadata.labels?.[MIRROR_LABEL] === undefined && !isRun(one))
  if (found.length > 1) throw severalFound(name, found)
  return found[0]
}

/** True for a Job that a CronJob or `devctl run` has made; it has the labels of its workload. */
const isRun = ({ kind, metadata }: KubeObject): boolean =>
  kind === 'Job' && (metadata.ownerReferences ?? []).some(owner => KINDS.some(one => one.kind === owner.kind))

function severalFound(name: string, found: readonly KubeObject[]): UserError {
  const list = found.map(named).join(', ')
  // The CronJobs of one job have the same labels, so no other labels can be added.
  if (found.every(({ kind }) => kind === 'CronJob'))
    return new UserError(`\`${name}\` has ${found.length} schedules, and only one can be suspended: ${list}`, {
      hint: 'keep only one schedule of the job, or select one CronJob by a label in `selector` that only it has',
    })
  return new UserError(`\`selector\` of \`${name}\` selects ${found.length} workloads: ${list}`, {
    hint: 'add labels that only one of them has',
  })
}

/** Returns the name in kubectl's form: `deployment/web`. */
export const named = ({ kind, metadata }: KubeObject): string => `${kind.toLowerCase()}/${metadata.name}`
