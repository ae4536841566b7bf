import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Problem } from '../status/problems.ts'
import type { ObservedWorkload } from './tracker.ts'

/**
 * Milliseconds after the dependencies of a program have become ready in which failed attempts of the program do not
 * count, because dependencies that run possibly do not answer yet. The kubelet starts the program after about 0, 10, 30
 * and 70 seconds.
 */
const PATIENCE = 60_000

/**
 * Returns true if the kubelet retries a program of the workload. Such a program may have failed because a dependency
 * was not ready at the last attempt.
 */
export const hasAttempts = ({ problems }: ObservedWorkload): boolean =>
  problems.some(({ isPassing, attemptedAt }) => !isPassing && attemptedAt !== undefined)

/**
 * Returns the state of a workload with problems marked as temporary if the next attempt may succeed: at the last
 * attempt, a dependency was not ready, or had become ready only moments before. Ignores dependencies that have failed
 * themselves.
 */
export function withPatience(tracked: ObservedWorkload, dependencies: readonly ObservedWorkload[]): ObservedWorkload {
  const hopeful = dependencies.filter(one => isWell(one) || one.problems.every(({ isPassing }) => isPassing))
  const since = Math.max(Number.NEGATIVE_INFINITY, ...hopeful.map(readySince))
  const judged = (one: Problem): Problem =>
    one.attemptedAt !== undefined && one.attemptedAt < since + PATIENCE ? { ...one, isPassing: true } : one
  return { ...tracked, problems: tracked.problems.map(judged) }
}

const isWell = ({ status }: ObservedWorkload): boolean => status.state === 'ready' || status.state === 'complete'

/**
 * Returns the time at which a workload became ready or complete, in milliseconds since 1970 by the cluster's clock;
 * infinity if the workload is neither.
 */
function readySince({ object, status, pods }: ObservedWorkload): number {
  if (status.state === 'complete') return completedAt(object)
  if (status.state !== 'ready') return Number.POSITIVE_INFINITY
  return Math.max(0, ...pods.map(readyAt))
}

function completedAt({ status }: KubeObject): number {
  const { completionTime } = (status ?? {}) as { readonly completionTime?: string } // a Job's status
  return Date.parse(completionTime ?? '') || 0
}

function readyAt({ status }: KubeObject): number {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime?: string
    }[]
  } // a Pod's status
  const ready = conditions.find(one => one.type === 'Ready' && one.status === 'True')
  return Date.parse(ready?.lastTransitionTime ?? '') || 0
}
