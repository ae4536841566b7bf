import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Clock } from '../clock.ts'
import { gone, isEnding } from './removal.ts'

/** Seconds without a renewal after which a holder counts as dead. */
const DURATION = 15
/** Interval between two renewals, in milliseconds. */
const RENEWAL = 5000
/**
 * Timeout for releasing the Lease, in milliseconds: after Ctrl-C, users should not wait for a server that does not
 * respond.
 */
const RELEASE = 3000

/** Holder of a Lease. */
export interface Holder {
  /** Unique, human-readable name, such as `ann@laptop (4711)`. */
  readonly name: string
  /** Login name of the user on a platform; absent outside a platform. */
  readonly person?: string
  /** Returns true if the holder of that name is known to have died: a process of this machine that has ended. */
  isGone(name: string): boolean
}

/** Returns the holder's name without the process ID, such as `ann@laptop`. */
export const personOf = ({ holder }: { readonly holder: Holder }): string => holder.name.replace(/ \(\d+\)$/, '')

/**
 * Returns the name of the user who deploys: the login name on a platform (`ann`), otherwise user and machine
 * (`ann@laptop`).
 */
export const deployerOf = (of: { readonly holder: Holder }): string => of.holder.person ?? personOf(of)

/** Lease to acquire, and its new holder. */
export interface LeaseRequest {
  readonly cluster: Cluster
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** Objects that own the Lease. When these are deleted, Kubernetes deletes the Lease, too. */
  readonly ownerReferences?: KubeObject['metadata']['ownerReferences']
  readonly holder: Holder
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called when the acquisition has to wait for a holder that may have died; once for each holder. */
  readonly waiting: (holder: string) => void
  /** Returns the error for a Lease that another process holds; `there` is undefined if the Lease no longer exists. */
  readonly busy: (there: KubeObject | undefined) => UserError
  /** Returns the error for a Lease that another process has taken over. */
  readonly lost: () => UserError
  /**
   * Milliseconds without a successful renewal after which the Lease counts as lost, because the cluster cannot be
   * reached.
   */
  readonly silence: number
  /**
   * True if the Lease counts as lost after `silence` even while a renewal is in flight, because two processes must
   * never hold the Lease at once. If false, a machine that was asleep can continue if no other process has taken the
   * Lease.
   */
  readonly isStrict?: boolean
  /** True to take the Lease from a holder who is alive. */
  readonly takeOver?: boolean
  /**
   * True to create the Lease again if it was deleted, because a deletion does not mean that another process has taken
   * it. If false, a deleted Lease is lost.
   */
  readonly remake?: boolean
  /**
   * Returns true if no process can create the deleted Lease again, because its namespace is being deleted. In that
   * case, the Lease does not count as lost.
   */
  readonly isMoot?: () => Promise<boolean>
}

export interface HeldLease {
  /** Aborted when the Lease is lost, and when the signal of the request is aborted. */
  readonly signal: AbortSignal
  /** Renews the Lease at once. If another process has taken the Lease, aborts the signal. */
  check(): Promise<void>
  /** Releases the Lease if it is still held; never rejects. */
  release(): Promise<void>
}

/**
 * Acquires a Lease, and renews it until it is released. A holder that has not renewed its Lease for `DURATION` counts
 * as dead, and the Lease is taken over. Throws the error that `busy` returns if another process holds the Lease.
 */
export async function holdLease(input: LeaseRequest): Promise<HeldLease> {
  const { cluster, clock, signal } = input
  let { held, renewed } = await take(input).catch(async error => {
    // A request that was interrupted or aborted may still have reached the cluster.
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
      // The next renewal tries again after a connection error. But a holder that could not renew for a long time has to
      // stop, because others consider it dead.
      if (clock.now() - renewed >= input.silence) lost.abort(error)
      if (!isConflict(error) && !isNotFound(error)) return
      const there = await cluster.get(refOf(input), options).catch(() => held)
      if (!there && input.remake) {
        // If this fails, the next renewal tries again, and also shows whether another process has taken the Lease.
        held = await cluster.create(leaseOf(input, undefined), options).catch(() => held)
        return
      }
      // If another process has taken the Lease, both would write at once. A newer version with our name comes from a
      // renewal whose response was lost.
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
      // Aborts a renewal in flight, which could retry for a long time.
      done.abort()
      await renewing
      await release(input, held)
    },
  }
}

/**
 * Releases the Lease if this process holds it. Does not use the work's signal, because an interrupted deploy releases
 * the environment, too.
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
    // An aborted renewal has changed the version, or another process has taken the Lease.
    if (!isConflict(error)) return
  }
  try {
    const there = await cluster.get(refOf(input), options)
    if (there && holderOf(there) === holder.name) await give(there)
  } catch {
    // The next process that wants the Lease finds out that its holder has ended.
  }
}

/** Acquires the Lease, if necessary after waiting until its holder is known to be dead. */
async function take(input: LeaseRequest): Promise<{ readonly held: KubeObject; readonly renewed: number }> {
  const { cluster, clock, signal, holder } = input
  // Other processes measure from the time in the Lease, which is before the response arrives.
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
      // Its holder is releasing it, or another process is deleting it: a write to it would be lost.
      if (told !== holderIdentity) input.waiting(holderIdentity)
      told = holderIdentity
      await gone(cluster, [there], signal)
      seen = undefined
      continue
    }
    // The holder is alive if the version has changed since the first check. Clocks of different machines are never
    // compared.
    const isMine = input.takeOver || holder.isGone(holderIdentity)
    if (!isMine && seen && seen.version !== resourceVersion) throw input.busy(there)
    seen ??= { version: resourceVersion, since: clock.now() }
    if (isMine || clock.now() - seen.since >= DURATION * 1000) {
      try {
        return await noted(() => cluster.replace(leaseOf(input, resourceVersion), { signal }))
      } catch (error) {
        // Its holder has released it in the meantime.
        if (isNotFound(error)) {
          seen = undefined
          continue
        }
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

/** Returns the name of a Lease's holder. */
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

/** Formats a time with microseconds: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/ */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')
