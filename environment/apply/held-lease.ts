import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Clock } from '../clock.ts'
import { gone, isEnding } from './removal.ts'

/** Seconds after which a holder that says nothing more counts as gone. */
const DURATION = 15
/** Milliseconds between two signs of life. */
const RENEWAL = 5000
/**
 * Milliseconds for giving the Lease back: nobody who presses Ctrl-C wants to wait for a server that
 * does not answer.
 */
const RELEASE = 3000

/** The holder of a Lease. */
export interface Holder {
  /** For people, and distinguished from all others: `ann@laptop (4711)`. */
  readonly name: string
  /** The login name of whose session it is, on a platform. */
  readonly person?: string
  /**
   * True if a holder of that name is known to be gone: a process of this machine that has ended.
   */
  isGone(name: string): boolean
}

/** Returns who somebody is, without the number of the process: `ann@laptop`. */
export const personOf = ({ holder }: { readonly holder: Holder }): string => holder.name.replace(/ \(\d+\)$/, '')

/** Returns who deploys, wherever: `ann`, as the platform knows her, or without a platform `ann@laptop`. */
export const deployerOf = (of: { readonly holder: Holder }): string => of.holder.person ?? personOf(of)

/** A Lease, and who wants to hold it. */
export interface LeaseRequest {
  readonly cluster: Cluster
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** Of what the Lease guards: with it the Lease is deleted, too. */
  readonly ownerReferences?: KubeObject['metadata']['ownerReferences']
  readonly holder: Holder
  readonly clock: Clock
  readonly signal: AbortSignal
  /** It waits for somebody who may be gone; said once of each. */
  readonly waiting: (holder: string) => void
  /** The error for somebody else's Lease; undefined when it is not there any more. */
  readonly busy: (there: KubeObject | undefined) => UserError
  /** The error for a Lease that somebody else has taken. */
  readonly lost: () => UserError
  /** Milliseconds without a renewal after which it counts as lost: the cluster cannot be reached. */
  readonly silence: number
  /**
   * It counts as lost at that moment, also while a renewal is still under way: two must never hold
   * it at once. Without it, a machine that has slept can go on with what nobody has taken.
   */
  readonly isStrict?: boolean
  /** Take it from a holder who is alive. */
  readonly takeOver?: boolean
  /** Make it again when somebody has deleted it: nobody has taken it by that. Otherwise it is lost. */
  readonly remake?: boolean
  /** True if nobody can take a deleted Lease, as its namespace goes, too: then it is not lost. */
  readonly isMoot?: () => Promise<boolean>
}

export interface HeldLease {
  /** Aborted when the Lease is lost, and with the signal of the wish. */
  readonly signal: AbortSignal
  /** Renews it at once, which aborts the signal if somebody else has taken it. */
  check(): Promise<void>
  /** Gives the Lease back, if it is still ours; never rejects. */
  release(): Promise<void>
}

/**
 * Gets a Lease, and renews it until it is given back. A holder who says nothing for the duration
 * has died, and its Lease is taken. Throws what `busy` gives when somebody else has it.
 */
export async function holdLease(input: LeaseRequest): Promise<HeldLease> {
  const { cluster, clock, signal } = input
  let { held, renewed } = await take(input).catch(async error => {
    // A request that was cut off, or given up, can have reached the cluster all the same.
    if (!(error instanceof UserError)) await release(input)
    throw error
  })
  const [lost, done] = [new AbortController(), new AbortController()]
  const options = { signal: AbortSignal.any([signal, done.signal]) }
  let renewing = Promise.resolve()
  const renew = async () => {
    if (done.signal.aborted) return
    const begun = clock.now()
    try {
      held = await cluster.replace(leaseOf(input, held.metadata.resourceVersion), options)
      renewed = begun
    } catch (error) {
      if (options.signal.aborted) return
      if (isNotFound(error) && (await input.isMoot?.().catch(() => false))) {
        renewed = begun
        return
      }
      // After a cut connection the next renewal tries again; but a holder that has not been heard
      // of for long has to stop, because others count it as gone.
      if (clock.now() - renewed >= input.silence) lost.abort(error)
      if (!isConflict(error) && !isNotFound(error)) return
      const there = await cluster.get(refOf(input), options).catch(() => held)
      if (!there && input.remake) {
        // What keeps it from that is tried again, or shows that somebody has taken it.
        held = await cluster.create(leaseOf(input, undefined), options).catch(() => held)
        return
      }
      // When somebody has taken it, two would write at once. Our own newer version is that of a
      // renewal whose answer got lost.
      if (there && holderOf(there) === input.holder.name) held = there
      else lost.abort(input.lost())
    }
  }
  const check = () => {
    renewing = renewing.then(renew)
    return renewing
  }
  const stop = clock.every(RENEWAL, () => {
    if (input.isStrict && clock.now() - renewed >= input.silence)
      lost.abort(new ClusterError('unreachable', `the Lease \`${input.name}\` could not be renewed in time`))
    void check()
  })
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    check,
    async release() {
      stop()
      // A renewal that is under way, and may try for long, has no use any more.
      done.abort()
      await renewing
      await release(input, held)
    },
  }
}

/**
 * Gives the Lease back, if it is ours. Not with the signal of the work: an interrupted deploy gives
 * the environment back, too.
 */
async function release(input: LeaseRequest, held?: KubeObject): Promise<void> {
  const { cluster, holder } = input
  const options = { signal: AbortSignal.timeout(RELEASE) }
  const give = async ({ metadata: { uid, resourceVersion } }: KubeObject) => {
    await cluster.delete(refOf(input), { uid, resourceVersion, ...options })
  }
  try {
    if (held) return await give(held)
  } catch (error) {
    // A renewal that was given up has moved it, or somebody has taken it.
    if (!isConflict(error)) return
  }
  try {
    const there = await cluster.get(refOf(input), options)
    if (there && holderOf(there) === holder.name) await give(there)
  } catch {
    // The next process to take it finds out that its holder is gone.
  }
}

/** Gets the Lease, if need be after waiting until its holder is known to be gone. */
async function take(input: LeaseRequest): Promise<{ readonly held: KubeObject; readonly renewed: number }> {
  const { cluster, clock, signal, holder } = input
  // Others count from when it was written, which is before the answer comes.
  const noted = async (write: () => Promise<KubeObject>) => ({ renewed: clock.now(), held: await write() })
  let seen: { readonly version: string | undefined; readonly since: number } | undefined
  let told: string | undefined
  for (;;) {
    try {
      if (!seen) return await noted(() => cluster.create(leaseOf(input, undefined), { signal }))
    } catch (error) {
      if (!isConflict(error)) throw error
    }
    const there = await cluster.get(refOf(input), { signal })
    if (!there) {
      seen = undefined
      continue
    }
    const { resourceVersion } = there.metadata
    const holderIdentity = holderOf(there)
    if (isEnding(there)) {
      // Its holder releases it, or another process deletes it: a write to it would be lost.
      if (told !== holderIdentity) input.waiting(holderIdentity)
      told = holderIdentity
      await gone(cluster, [there], signal)
      seen = undefined
      continue
    }
    // A sign of life: its version has moved since we look. The clocks of two machines are not
    // compared.
    const isMine = input.takeOver || holder.isGone(holderIdentity)
    if (!isMine && seen && seen.version !== resourceVersion) throw input.busy(there)
    seen ??= { version: resourceVersion, since: clock.now() }
    if (isMine || clock.now() - seen.since >= DURATION * 1000) {
      try {
        return await noted(() => cluster.replace(leaseOf(input, resourceVersion), { signal }))
      } catch (error) {
        if (!isConflict(error)) throw error
        throw input.busy(await cluster.get(refOf(input), { signal }))
      }
    }
    if (told !== holderIdentity) input.waiting(holderIdentity)
    told = holderIdentity
    await pause(clock, 1000, signal)
  }
}

const refOf = ({ name, namespace }: Pick<LeaseRequest, 'name' | 'namespace'>) =>
  ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name, namespace }) as const

function leaseOf(input: LeaseRequest, resourceVersion: string | undefined): KubeObject {
  const { apiVersion, kind, name, namespace } = refOf(input)
  const { labels, ownerReferences } = input
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels,
      ...(ownerReferences && { ownerReferences }),
      ...(resourceVersion && { resourceVersion }),
    },
    spec: {
      holderIdentity: input.holder.name,
      leaseDurationSeconds: DURATION,
      renewTime: microTime(input.clock.now()),
    },
  }
}

/** The name of who holds a Lease. */
export function holderOf({ spec }: KubeObject): string {
  const { holderIdentity = '' } = (spec ?? {}) as { readonly holderIdentity?: string } // a Lease's spec
  return holderIdentity
}

const isNotFound = (error: unknown): boolean => error instanceof ClusterError && error.failure === 'not-found'

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

/**
 * https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/: with
 * microseconds.
 */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')
