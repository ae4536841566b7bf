import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Clock } from '../clock.ts'
import { gone, isEnding } from './removal.ts'

/** Seconds after which a holder that says nothing more counts as gone. */
const DURATION = 15
/** Milliseconds between two signs of life. */
const RENEWAL = 5000
/**
 * Milliseconds allowed for releasing the Lease: after Ctrl-C, users should not wait for a server that does not answer.
 */
const RELEASE = 3000

/** The holder of a Lease. */
export interface Holder {
  /** Unique name that people can read: `ann@laptop (4711)`. */
  readonly name: string
  /** The login name of whose session it is, on a platform. */
  readonly person?: string
  /**
   * True if a holder of that name is known to be gone: a process of this machine that has ended.
   */
  isGone(name: string): boolean
}

/** Returns the holder's name without the process ID: `ann@laptop`. */
export const personOf = ({ holder }: { readonly holder: Holder }): string => holder.name.replace(/ \(\d+\)$/, '')

/** Returns who deploys, wherever: `ann`, as the platform knows her, or without a platform `ann@laptop`. */
export const deployerOf = (of: { readonly holder: Holder }): string => of.holder.person ?? personOf(of)

/** A Lease to hold, and its new holder. */
export interface LeaseRequest {
  readonly cluster: Cluster
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** Owners of the Lease: it is deleted with the object that it guards. */
  readonly ownerReferences?: KubeObject['metadata']['ownerReferences']
  readonly holder: Holder
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called once per holder when it has to wait for a holder that may have died. */
  readonly waiting: (holder: string) => void
  /** Returns the error for a Lease that another process holds; `there` is undefined if the Lease no longer exists. */
  readonly busy: (there: KubeObject | undefined) => UserError
  /** Returns the error for a Lease that another process has taken over. */
  readonly lost: () => UserError
  /** Milliseconds without a renewal after which it counts as lost: the cluster cannot be reached. */
  readonly silence: number
  /**
   * True if the Lease counts as lost at that moment even while a renewal is in flight: two processes must never hold it
   * at once. Otherwise, a machine that has slept can continue if no other process has taken the Lease.
   */
  readonly isStrict?: boolean
  /** Take it from a holder who is alive. */
  readonly takeOver?: boolean
  /**
   * Create it again if it was deleted: a deletion does not mean that another process has taken it. Otherwise it is
   * lost.
   */
  readonly remake?: boolean
  /**
   * Returns true if no process can take a deleted Lease, because its namespace is being deleted, too: then it is not
   * lost.
   */
  readonly isMoot?: () => Promise<boolean>
}

export interface HeldLease {
  /** Aborted when the Lease is lost, and with the signal of the wish. */
  readonly signal: AbortSignal
  /** Renews it at once, which aborts the signal if another process has taken it. */
  check(): Promise<void>
  /** Gives the Lease back, if it is still ours; never rejects. */
  release(): Promise<void>
}

/**
 * Acquires a Lease, and renews it until it is released. A holder that has not renewed it for the duration counts as
 * dead, and its Lease is taken. Throws the error that `busy` returns if another process holds it.
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
        // A failure is retried at the next renewal, which also shows whether another process has taken it.
        held = await cluster.create(leaseOf(input, undefined), options).catch(() => held)
        return
      }
      // If another process has taken it, both would write at once. A newer version with our name comes from a renewal
      // whose response was lost.
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
    // An abandoned renewal has changed its version, or another process has taken it.
    if (!isConflict(error)) return
  }
  try {
    const there = await cluster.get(refOf(input), options)
    if (there && holderOf(there) === holder.name) await give(there)
  } catch {
    // The next process to take it finds out that its holder has ended.
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
