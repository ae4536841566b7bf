import type { Plan } from '../../compiler/plan/plan.ts'
import type { DeployEvents } from '../../environment/apply/deploy.ts'
import type { Changes } from '../../environment/plan/changes.ts'
import type { DesiredState } from '../../environment/plan/desired-state.ts'
import type { WorkloadStatus } from '../../environment/rollout/status.ts'
import type { ServiceState } from './outcome.ts'

/** Collects the states of services that a deploy reports, so that its outcome contains each service exactly once. */
export class ServiceStates {
  /** Names of all services in each workload, keyed by the service that the workload is named after. */
  #members: ReadonlyMap<string, readonly string[]>
  readonly #statuses = new Map<string, WorkloadStatus['state']>()
  readonly #applied = new Set<string>()
  /** Services whose workload existed before the deploy. */
  readonly #older = new Set<string>()

  constructor({ workloads }: Pick<Plan, 'workloads'>) {
    this.#members = new Map(workloads.map(({ service, pod }) => [service, pod.services]))
  }

  /** Handlers that update the states when the events of a deploy arrive. */
  readonly events: Pick<DeployEvents, 'planned' | 'applied' | 'status'> = {
    planned: (changes, wanted) => this.#plan(changes, wanted),
    applied: service => {
      this.#applied.add(service)
    },
    status: (service, { state }) => {
      this.#statuses.set(service, state)
    },
  }

  /** True if an object is in the cluster or was sent to it. */
  get isBegun(): boolean {
    return this.#applied.size > 0 || this.#statuses.size > 0
  }

  /** Returns the state of every service that should be deployed, in the order of the plan. */
  services(): ReadonlyMap<string, ServiceState> {
    return new Map([...this.#members].flatMap(([lead, members]) => members.map(name => [name, this.#stateOf(lead)])))
  }

  #plan({ steps }: Changes, { workloads }: DesiredState): void {
    // A partial deploy has fewer workloads than the plan.
    const wanted = new Set(workloads.map(({ service }) => service))
    this.#members = new Map([...this.#members].filter(([lead]) => wanted.has(lead)))
    for (const workload of workloads) if (steps.get(workload)!.action !== 'create') this.#older.add(workload.service)
  }

  #stateOf(lead: string): ServiceState {
    if (!this.#applied.has(lead)) return this.#older.has(lead) ? 'not-changed' : 'not-made'
    const state = this.#statuses.get(lead)
    if (state === undefined) return 'not-waited-for'
    return state === 'ready' || state === 'complete' ? 'ready' : 'not-ready'
  }
}
