import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { MIRROR_LABEL } from '../../constructs/mirror/names.ts'
import type { Session } from '../../project/session.ts'

/** Query for the workload of a development container: by its labels, else by its name. */
export interface OriginalQuery {
  readonly name: string
  /** Empty: by name. */
  readonly selector: readonly { readonly name: string; readonly value: string }[]
}

/** The kinds whose Pods can be replaced by a mirror, in the order in which they are looked for. */
const KINDS = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'batch/v1', kind: 'CronJob' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
] as const

/**
 * The live workload that a development container stands in for; undefined where there is none.
 * Mirrors do not count. Throws a UserError if labels select several.
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
