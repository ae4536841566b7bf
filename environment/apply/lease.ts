import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Clock } from '../clock.ts'
import { ownLabels } from '../labels.ts'
import { recordName } from '../record/record.ts'
import { type Holder, holderOf, holdLease } from './held-lease.ts'
import { isEnding } from './removal.ts'

/** Milliseconds without a renewal after which the work is aborted, because the cluster cannot be reached. */
const SILENCE = 45_000

export interface LeaseInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: Holder
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called when the acquisition has to wait for a holder that may have died; once for each holder. */
  readonly waiting: (holder: string) => void
  /**
   * Returns true if no process can create the deleted Lease again, because its namespace is being deleted. In that
   * case, the Lease does not count as lost.
   */
  readonly isMoot?: () => Promise<boolean>
}

/**
 * Does the work while holding the environment's Lease, so that two deploys of one environment never interfere. Throws a
 * UserError that names the holder if another process holds the Lease. A holder that has not renewed the Lease for the
 * duration of the Lease counts as dead, and the Lease is taken over. Aborts the work's signal when the Lease is lost.
 */
export async function withLease<Result>(
  { environment, ...input }: LeaseInput,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const held = await holdLease({
    ...input,
    name: recordName(environment),
    labels: ownLabels(environment),
    silence: SILENCE,
    busy: there => busy(environment, there),
    lost: () => new UserError(`another process has taken over the deploy of \`${environment}\``),
  })
  try {
    return await work(held.signal)
  } finally {
    await held.release()
  }
}

/**
 * Returns true if the environment's Lease is held, or was left behind by a dead process. A Lease that is being deleted
 * does not count.
 */
export async function isLocked(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<boolean> {
  const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: recordName(environment), namespace }
  const there = await cluster.get(ref, options)
  return there !== undefined && !isEnding(there)
}

function busy(environment: string, there: KubeObject | undefined): UserError {
  return new UserError(`another deploy of \`${environment}\` is running`, {
    notes: [`by ${there ? holderOf(there) : 'somebody'}`],
    hint: 'wait until it has finished',
  })
}
