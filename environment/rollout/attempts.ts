import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { type LoggedContainer, lastLogLines } from '../status/last-log-lines.ts'
import { controllerOf } from '../status/owners.ts'
import { type SeenContainer, type SeenPod, statusesOf } from '../status/pod-fields.ts'

/** Attempt of a Job to run its program; the attempt has ended in an error. */
export interface Attempt extends LoggedContainer {
  readonly ends: { readonly count: number; readonly exitCode: number; readonly reason?: string }
  /** Last lines of the attempt's log; if the attempt printed nothing, the last lines of the previous attempt's log. */
  readonly lines: Promise<readonly string[]>
}

/**
 * Reads the log of each attempt of a Job when it ends, because the Job controller deletes a Pod that has failed too
 * often, and the kubelet keeps only the log of the last attempt.
 */
export class JobAttempts {
  readonly #cluster: Cluster
  /** Last attempt, by the UID of its Job. */
  readonly #last = new Map<string, Attempt>()
  readonly #seen = new Set<string>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Records the failed attempts of a Job's Pod; ignores other Pods. */
  see(pod: KubeObject): void {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'Job') return
    const { name, namespace = '', uid } = pod.metadata
    for (const one of statusesOf(pod as unknown as SeenPod)) {
      // the server has checked its shape
      const ended = endOf(one)
      const id = ended && `${uid}/${one.name}/${ended.containerID ?? one.restartCount}`
      if (!id || ended.exitCode === 0 || this.#seen.has(id)) continue
      this.#seen.add(id)
      const of = { pod: name, namespace, container: one.name }
      const before = this.#last.get(owner.uid)?.lines
      const count = one.restartCount + (one.state?.terminated ? 1 : 0)
      const { exitCode, reason } = ended
      this.#last.set(owner.uid, {
        ...of,
        ends: { count, exitCode, ...(reason && { reason }) },
        lines: this.#read(of, one.state?.terminated === undefined, before),
      })
    }
  }

  /** Returns the last failed attempt of a Job; undefined if none was seen. */
  of({ metadata: { uid = '' } }: KubeObject): Attempt | undefined {
    return this.#last.get(uid)
  }

  async #read(
    of: LoggedContainer,
    previous: boolean,
    before: Promise<readonly string[]> | undefined,
  ): Promise<readonly string[]> {
    const lines = await lastLogLines(this.#cluster, of, previous).catch(() => undefined)
    return lines && lines.length > 0 ? lines : ((await before) ?? [])
  }
}

/**
 * Returns the last termination of a container. For a waiting or running container it is the termination of its previous
 * run.
 */
const endOf = ({ state, lastState }: SeenContainer) => state?.terminated ?? lastState?.terminated
