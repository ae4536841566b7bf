import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { developmentLabels, ownerReferences } from '../../constructs/mirror/workload.ts'
import { type HeldLease, holderOf, holdLease } from '../../environment/apply/held-lease.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import type { Session } from '../../project/session.ts'

/** Returns the name of the Lease that is held by the user who develops an application. */
const leaseName = (kind: string, name: string): string => `devctl-up-${kind.toLowerCase()}-${name}`

/**
 * Holds the Lease of an application, or of a container without an application, as long as `up` runs. If another user
 * holds the Lease and `takeOver` is false, throws a UserError that names the holder. If this machine cannot reach the
 * cluster, it keeps the Lease until another user takes the Lease over.
 */
export function holdApplication(
  { cluster, namespace, holder, clock, signal }: Session,
  original: KubeObject | undefined,
  development: string,
  { takeOver, waiting }: { readonly takeOver: boolean; readonly waiting: (holder: string) => void },
): Promise<HeldLease> {
  const what = original ? nameOf(original) : development
  return holdLease({
    cluster,
    name: leaseName(original?.kind ?? 'none', original?.metadata.name ?? development),
    namespace,
    labels: developmentLabels({ name: development }, original),
    ...(original && ownerReferences(original)),
    holder,
    clock,
    signal,
    takeOver,
    waiting,
    silence: Number.POSITIVE_INFINITY,
    remake: true,
    busy: there => busy(what, there),
    lost: () =>
      new UserError(`somebody else has taken over \`${what}\``, {
        hint: `\`devctl up ${development} --take-over\` takes it back`,
      }),
  })
}

function busy(what: string, there: KubeObject | undefined): UserError {
  const since = there?.metadata.creationTimestamp
  return new UserError(`\`${what}\` already has a development container`, {
    notes: [`${there ? holderOf(there) : 'somebody'} works on it${since === undefined ? '' : ` since ${since}`}`],
    hint: 'wait until it is free, or take it over with `--take-over`',
  })
}
