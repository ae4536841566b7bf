import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Clock } from './clock.ts'
import { ownLabels } from './labels.ts'
import { recordName } from './record.ts'

/** Seconds after which a holder that says nothing more counts as gone. */
const DURATION = 15
/** Milliseconds between two signs of life. */
const RENEWAL = 5000

/** Who holds a Lease. */
export interface Holder {
  /** For people, and told apart from all others: `ann@laptop (4711)`. */
  readonly name: string
  /** Whether a holder of that name is known to be gone: a process of this machine that has ended. */
  isGone(name: string): boolean
}

export interface LeaseInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: Holder
  readonly clock: Clock
  readonly signal: AbortSignal
  /** It waits for somebody who may be gone; said once. */
  readonly waiting: (holder: string) => void
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly renewTime?: string
}

/**
 * Does the work while holding the environment's Lease, so that two deploys of one environment never mix. Throws a UserError that names the holder when somebody
 * else has it. One that says nothing for its duration has died, and its Lease is taken. The work's signal is aborted when the Lease is lost.
 */
export async function withLease<Result>(
  input: LeaseInput,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { cluster, clock, signal } = input
  let held = await take(input)
  const lost = new AbortController()
  let renewing = Promise.resolve()
  const stop = clock.every(RENEWAL, () => {
    renewing = renewing.then(async () => {
      try {
        held = await cluster.replace(leaseOf(input, held.metadata.resourceVersion), { signal })
      } catch (error) {
        // After a cut connection the next renewal tries again; but when somebody has taken it, two would write at once.
        if (
          isConflict(error) &&
          (await specOf(input, { signal }).catch(() => undefined))?.holderIdentity !== input.holder.name
        )
          lost.abort(new UserError(`somebody else has taken over the deploy of \`${input.environment}\``))
      }
    })
  })
  try {
    return await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    stop()
    await renewing
    // Not with the signal of the work: an interrupted deploy gives the environment back, too.
    if (!lost.signal.aborted)
      await cluster
        .delete(refOf(input), { uid: held.metadata.uid, signal: AbortSignal.timeout(5000) })
        .catch(() => false)
  }
}

/** Whether somebody has the environment's Lease, or has left it behind. */
export async function isLocked(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<boolean> {
  return (await cluster.get(refOf({ environment, namespace }), options)) !== undefined
}

/** Gets the Lease, if need be after waiting until its holder is known to be gone. */
async function take(input: LeaseInput): Promise<KubeObject> {
  const { cluster, clock, signal, holder } = input
  let seen: { readonly version: string | undefined; readonly since: number } | undefined
  let told: string | undefined
  for (;;) {
    try {
      if (!seen) return await cluster.create(leaseOf(input, undefined), { signal })
    } catch (error) {
      if (!isConflict(error)) throw error
    }
    const there = await cluster.get(refOf(input), { signal })
    if (!there) {
      seen = undefined
      continue
    }
    const { resourceVersion } = there.metadata
    const { holderIdentity = '' } = (there['spec'] ?? {}) as LeaseSpec // a Lease's spec
    // A sign of life: its version has moved since we look. The clocks of two machines are not compared.
    if (seen && seen.version !== resourceVersion) throw busy(input, holderIdentity)
    seen ??= { version: resourceVersion, since: clock.now() }
    if (holder.isGone(holderIdentity) || clock.now() - seen.since >= DURATION * 1000) {
      try {
        return await cluster.replace(leaseOf(input, resourceVersion), { signal })
      } catch (error) {
        if (!isConflict(error)) throw error
        throw busy(input, (await specOf(input, { signal }))?.holderIdentity ?? 'somebody')
      }
    }
    if (told !== holderIdentity) input.waiting(holderIdentity)
    told = holderIdentity
    await pause(clock, 1000, signal)
  }
}

const refOf = ({ environment, namespace }: Pick<LeaseInput, 'environment' | 'namespace'>) =>
  ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: recordName(environment), namespace }) as const

function leaseOf(input: LeaseInput, resourceVersion: string | undefined): KubeObject {
  const { apiVersion, kind, name, namespace } = refOf(input)
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, labels: ownLabels(input.environment), ...(resourceVersion && { resourceVersion }) },
    spec: {
      holderIdentity: input.holder.name,
      leaseDurationSeconds: DURATION,
      renewTime: microTime(input.clock.now()),
    },
  }
}

async function specOf(input: LeaseInput, options: CallOptions): Promise<LeaseSpec | undefined> {
  return (await input.cluster.get(refOf(input), options))?.['spec'] as LeaseSpec | undefined // a Lease's spec
}

function busy({ environment }: LeaseInput, holder: string): UserError {
  return new UserError(`another deploy of \`${environment}\` is running`, {
    notes: [`by ${holder}`],
    hint: 'wait until it is done',
  })
}

const isConflict = (error: unknown): boolean =>
  error instanceof ClusterError && (error.failure === 'exists' || error.failure === 'conflict')

function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = clock.every(milliseconds, () => finish(resolve))
    const finish = (end: () => void) => {
      stop()
      signal.removeEventListener('abort', onAbort)
      end()
    }
    const onAbort = () => finish(() => reject(signal.reason))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/: with microseconds. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')
