import { createHash } from 'node:crypto'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { DeployedApplication } from '../../../environment/record/deployed-application.ts'
import { recordedServices } from '../../../environment/record/recorded-places.ts'
import { explainFailure } from '../../../environment/status/explain.ts'
import type { ObservedService } from '../../../environment/status/service-status.ts'
import type { ServiceProblem } from '../../api/environments.ts'
import type { Room } from './object-cache.ts'
import { toProblem } from './view.ts'

/** Maximum number of services in a namespace whose failures are explained. */
const MOST = 50

interface Explanation {
  /** Hash of the service's problems. If it changes, the failure is explained again. */
  readonly about: string
  problems: readonly ServiceProblem[]
  /** Number of characters of the budget that the explanation uses. */
  size: number
  readonly isDone: Promise<void>
}

/** Dependencies of explanations. */
export interface ExplanationContext extends Room {
  /** Runs a task that reads logs, as soon as a slot is free. */
  explain<T>(task: () => Promise<T>): Promise<T>
}

/**
 * Explains why services are not ready, with the same messages as a deploy and the last lines of the services' logs.
 * Each failure is explained once.
 */
export class Explanations {
  readonly #cluster: Cluster
  readonly #changed: (environment: string) => void
  readonly #around: ExplanationContext
  /** Explanations by environment and service. */
  readonly #known = new Map<string, Explanation>()

  constructor(cluster: Cluster, around: ExplanationContext, changed: (environment: string) => void) {
    this.#cluster = cluster
    this.#around = around
    this.#changed = changed
  }

  /**
   * Returns the problems of a service that have been explained so far. If the failure of the service is new, starts to
   * explain it. The callback `changed` is called when the explanation is complete.
   */
  of(environment: string, seen: ObservedService, application: DeployedApplication): readonly ServiceProblem[] {
    const key = `${environment}/${seen.overview.service}`
    if (seen.overview.state !== 'failed') {
      this.#drop(key)
      return []
    }
    const about = aboutOf(seen)
    const known = this.#known.get(key)
    if (known?.about === about) return known.problems
    if (!known && this.#known.size >= MOST) return []
    const next: Explanation = {
      about,
      // The previous explanation is shown until the new one is complete.
      problems: known?.problems ?? [],
      size: known?.size ?? 0,
      isDone: this.#explain(seen, application).then(found => {
        if (this.#known.get(key) !== next) return
        this.#around.give(next.size)
        const size = JSON.stringify(found).length
        const isKept = this.#around.take(size)
        next.size = isKept ? size : 0
        next.problems = isKept ? found : []
        this.#changed(environment)
      }),
    }
    next.isDone.catch(() => {})
    this.#known.set(key, next)
    return next.problems
  }

  /** Resolves when all explanations of an environment that were started are complete or have failed. */
  async settled(environment: string): Promise<void> {
    const own = [...this.#known].filter(([key]) => key.startsWith(`${environment}/`))
    await Promise.allSettled(own.map(([, { isDone }]) => isDone))
  }

  /** Forgets an environment that was deleted. */
  forget(environment: string): void {
    for (const key of [...this.#known.keys()]) if (key.startsWith(`${environment}/`)) this.#drop(key)
  }

  /** Forgets all environments. */
  end(): void {
    for (const key of [...this.#known.keys()]) this.#drop(key)
  }

  #drop(key: string): void {
    const known = this.#known.get(key)
    if (!known) return
    this.#known.delete(key)
    this.#around.give(known.size)
  }

  async #explain(
    { overview, workload, found }: ObservedService,
    application: DeployedApplication,
  ): Promise<readonly ServiceProblem[]> {
    const { service } = overview
    const failed = { workload: { service, source: `#services.${service}`, object: workload }, tracked: found }
    const told = await this.#around.explain(() => explainFailure(this.#cluster, failed, recordedServices(application)))
    return told.map(toProblem)
  }
}

/**
 * Returns a hash of a service's problems. The problems themselves are not kept for comparison, because a workload can
 * have any number of containers.
 */
function aboutOf({ workload, found }: ObservedService): string {
  const problems = found.problems.map(({ code, where, container, ends }) => [code, where, container, ends])
  return createHash('sha256')
    .update(JSON.stringify([workload.metadata.uid, problems]))
    .digest('base64')
}
