import type { ClusterError, KubeObject, ManagedFields } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type DesiredObject, nameOf } from './desired-state.ts'

/**
 * Field and its manager, as the server reports them when it rejects an apply: `conflict with "kubectl-edit" using
 * apps/v1`.
 */
interface Conflict {
  readonly manager: string
  /** Path such as `.spec.replicas`. */
  readonly field: string
}

function conflictsOf(error: ClusterError): readonly Conflict[] {
  return error.causes.map(({ field = '', message }) => ({
    manager: /conflict with "([^"]*)"/.exec(message)?.[1] ?? '',
    field,
  }))
}

const entriesOf = (live: KubeObject | undefined, { manager }: Conflict): readonly ManagedFields[] =>
  live?.metadata.managedFields?.filter(entry => entry.manager === manager) ?? []

/**
 * Returns true if a conflict is about replicas that an autoscaler or another user has scaled: the deploy then leaves
 * the number of replicas unchanged, and judges the other conflicts without it.
 */
export function isLeftToScaler(error: ClusterError, live: KubeObject | undefined): boolean {
  return conflictsOf(error).some(
    conflict =>
      conflict.field === '.spec.replicas' &&
      entriesOf(live, conflict).some(({ subresource }) => subresource === 'scale'),
  )
}

/**
 * Returns true if all conflicting fields were changed by hand, or by a tool that overwrites fields: this is drift,
 * which a deploy reverts. Fields that another tool applies are not drift.
 */
export function isDrift(error: ClusterError, live: KubeObject | undefined): boolean {
  return conflictsOf(error).every(conflict => {
    const entries = entriesOf(live, conflict)
    return entries.length > 0 && entries.every(({ operation }) => operation === 'Update')
  })
}

/**
 * Throws a UserError that names the conflicting fields, their managers, and the values in the cluster and in the file;
 * for a Secret, no values.
 */
export function refuseConflict(
  error: ClusterError,
  { object, source }: DesiredObject,
  live: KubeObject | undefined,
): never {
  const conflicts = conflictsOf(error)
  const managers = [...new Set(conflicts.map(({ manager }) => `\`${manager}\``))].join(' and ')
  throw new UserError(
    `${managers} ${managers.includes(' and ') ? 'apply' : 'applies'} fields of \`${nameOf(object)}\``,
    {
      notes: [
        `rendered from ${source}`,
        ...conflicts.map(({ field }) => {
          const value = (whole: KubeObject | undefined) => JSON.stringify(valueAt(whole, field)) ?? 'nothing'
          const isSecret = object.kind === 'Secret'
          return isSecret ? field : `${field}: ${value(live)} in the cluster, ${value(object)} in the file`
        }),
      ],
      hint: 'let only one of the two manage them; `--force-conflicts` takes them over',
      cause: error,
    },
  )
}

/**
 * Returns the value at a path in the server's notation: `.spec.template.spec.containers[name="web"].image`,
 * `.metadata.labels.example.com/team`.
 */
function valueAt(whole: unknown, path: string): unknown {
  if (path === '' || whole === undefined) return whole
  const [item, list] = /^\[([^\]]*)\]/.exec(path) ?? []
  if (item !== undefined) {
    if (!Array.isArray(whole)) return undefined
    const wanted = [...list!.matchAll(/([^,=]+)=("[^"]*"|[^,]*)/g)].map(([, name, text]) => [name!, JSON.parse(text!)])
    const found = whole.find(one => wanted.every(([name, text]) => one?.[name] === text))
    return valueAt(found, path.slice(item.length))
  }
  if (typeof whole !== 'object' || whole === null) return undefined
  // Label keys contain dots, so the longest existing key is used.
  const rest = path.slice(1)
  const key = Object.keys(whole)
    .filter(one => rest.startsWith(one) && /^(?:[.[]|$)/.test(rest.slice(one.length)))
    .sort((a, b) => b.length - a.length)[0]
  return key === undefined ? undefined : valueAt((whole as Record<string, unknown>)[key], rest.slice(key.length)) // it has the key
}
