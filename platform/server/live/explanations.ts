import { Slots } from '../../../adapters/http/slots.ts'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { DeployedApplication } from '../../../operations/objects/deployed-application.ts'
import { explainFailure } from '../../../operations/objects/explain.ts'
import { recordedServices } from '../../../operations/objects/recorded-places.ts'
import type { SeenService } from '../../../operations/objects/seen-services.ts'
import type { ServiceProblem } from '../../api/environments.ts'
import { toProblem } from './view.ts'

/** Explanations that are computed at the same time: each reads logs. */
const AT_ONCE = 4
/** Services of a namespace whose failures are explained. */
const MOST = 50

interface Explanation {
  /** What the explanation is about; if that changes, it is computed again. */
  readonly about: string
  problems: readonly ServiceProblem[]
  readonly isDone: Promise<void>
}

/**
 * Why services are not ready, in the words of a deploy, with the last lines of their logs. Computed once for each
 * failure.
 */
export class Explanations {
  readonly #cluster: Cluster
  readonly #changed: (environment: string) => void
  readonly #slots = new Slots(AT_ONCE)
  /** By environment and service. */
  readonly #known = new Map<string, Explanation>()

  constructor(cluster: Cluster, changed: (environment: string) => void) {
    this.#cluster = cluster
    this.#changed = changed
  }

  /** What is known now. The rest is started, and `changed` is called when it is there. */
  of(environment: string, seen: SeenService, application: DeployedApplication): readonly ServiceProblem[] {
    const key = `${environment}/${seen.overview.service}`
    const { problems } = seen.found
    if (seen.overview.state !== 'failed') {
      this.#known.delete(key)
      return []
    }
    const about = JSON.stringify([
      seen.workload.metadata.uid,
      problems.map(({ code, where, container, ends }) => [code, where, container, ends]),
    ])
    const known = this.#known.get(key)
    if (known?.about === about) return known.problems
    if (!known && this.#known.size >= MOST) return []
    const next: Explanation = {
      about,
      // The previous explanations are shown until there are new ones.
      problems: known?.problems ?? [],
      isDone: this.#explain(seen, application).then(found => {
        next.problems = found
        if (this.#known.get(key) === next) this.#changed(environment)
      }),
    }
    next.isDone.catch(() => {})
    this.#known.set(key, next)
    return next.problems
  }

  /** Resolves when all explanations of an environment that were started are there, or have failed. */
  async settled(environment: string): Promise<void> {
    const own = [...this.#known].filter(([key]) => key.startsWith(`${environment}/`))
    await Promise.allSettled(own.map(([, { isDone }]) => isDone))
  }

  /** Forgets an environment that was deleted. */
  forget(environment: string): void {
    for (const key of this.#known.keys()) if (key.startsWith(`${environment}/`)) this.#known.delete(key)
  }

  async #explain(
    { overview, workload, found }: SeenService,
    application: DeployedApplication,
  ): Promise<readonly ServiceProblem[]> {
    const { service } = overview
    const failed = { workload: { service, source: `#services.${service}`, object: workload }, tracked: found }
    const told = await this.#slots.run(undefined, () =>
      explainFailure(this.#cluster, failed, recordedServices(application)),
    )
    return told.map(toProblem)
  }
}
