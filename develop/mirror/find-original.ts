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
 * Returns the live workload that a development container replaces; undefined if there is none. Ignores mirrors. Throws
 * a UserError if the labels select several workloads.
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
  const found = lists.flat().filter(one => one.metadata.labels?.[MIRROR_LABEL] === undefined)
  if (found.length > 1)
    throw new UserError(
      `\`selector\` of \`${name}\` selects ${found.length} workloads: ${found.map(named).join(', ')}`,
      {
        hint: 'add labels that only one of them has',
      },
    )
  return found[0]
}

/** Returns the name in kubectl's form: `deployment/web`. */
export const named = ({ kind, metadata }: KubeObject): string => `${kind.toLowerCase()}/${metadata.name}`
