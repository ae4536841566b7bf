import type { KubeObject } from '../cluster/cluster.ts'

/**
 * Milliseconds for which a container without a readiness probe has to be at work before it counts as ready. Kubernetes says so the moment it starts, also of one that ends
 * again at once.
 */
const SETTLING = 3000

interface Pod {
  readonly spec?: { readonly containers?: readonly { readonly name: string; readonly readinessProbe?: unknown }[] }
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly restartCount: number
      readonly state?: { readonly running?: { readonly startedAt?: string } }
    }[]
  }
}

/** Knows for how long containers are at work, by our own clock: that of the cluster may go otherwise. */
export class Settling {
  readonly #since = new Map<string, number>()

  /** Takes note of a Pod. `isFirst`: it was there when we began to look, so that only its own word tells how long. */
  see(pod: KubeObject, now: number, isFirst: boolean): void {
    for (const { id, startedAt } of unprobed(pod)) {
      if (startedAt === undefined || this.#since.has(id)) continue
      this.#since.set(id, isFirst && now - startedAt >= SETTLING ? startedAt : now)
    }
  }

  /** Whether every container of the Pod that has no readiness probe has been at work for long enough. */
  isSettled(pod: KubeObject, now: number): boolean {
    return unprobed(pod).every(({ id }) => now - (this.#since.get(id) ?? now) >= SETTLING)
  }
}

function unprobed(pod: KubeObject): readonly { readonly id: string; readonly startedAt: number | undefined }[] {
  const { spec, status } = pod as unknown as Pod // the server has checked its shape
  const probed = new Set(spec?.containers?.flatMap(({ name, readinessProbe }) => (readinessProbe ? [name] : [])))
  return (status?.containerStatuses ?? [])
    .filter(({ name }) => !probed.has(name))
    .map(({ name, restartCount, state }) => ({
      id: `${pod.metadata.uid}/${name}/${restartCount}`,
      startedAt: state?.running && (Date.parse(state.running.startedAt ?? '') || 0),
    }))
}
