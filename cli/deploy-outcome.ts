import type { Plan } from '../compiler/plan/plan.ts'
import type { Changes } from '../environment/changes.ts'
import type { DeployEvents } from '../environment/deploy.ts'
import type { WorkloadStatus } from '../environment/status.ts'
import type { Wanted } from '../environment/wanted.ts'

/** What became of a service: each has exactly one of them. */
export type ServiceState = 'ready' | 'not-ready' | 'not-made' | 'not-changed' | 'not-waited-for'

/** As many names are listed; of the others the number. */
const NAMES = 12

/** Keeps what a deploy tells of each service, so that its last line counts every one exactly once. */
export class Outcome {
  /** The services of each workload, by the one that gives it its name. */
  #members: ReadonlyMap<string, readonly string[]>
  readonly #statuses = new Map<string, WorkloadStatus['state']>()
  readonly #applied = new Set<string>()
  /** Services whose workload was there before. */
  readonly #older = new Set<string>()

  readonly #waits: boolean

  /** `waits` says whether the deploy waits until all are ready. */
  constructor({ workloads }: Plan, { waits }: { readonly waits: boolean }) {
    this.#waits = waits
    this.#members = new Map(workloads.map(({ service, pod }) => [service, pod.services]))
  }

  /** What it wants to hear of a deploy. */
  readonly events: Pick<DeployEvents, 'planned' | 'applied' | 'status'> = {
    planned: (changes, wanted) => this.#plan(changes, wanted),
    applied: service => {
      this.#applied.add(service)
    },
    status: (service, { state }) => {
      this.#statuses.set(service, state)
    },
  }

  /** Whether the cluster has any of it, or has been asked for it. */
  get isBegun(): boolean {
    return this.#applied.size > 0 || this.#statuses.size > 0
  }

  /** Every service that was to be deployed, in the order of the plan, with what became of it. */
  services(): ReadonlyMap<string, ServiceState> {
    return new Map([...this.#members].flatMap(([lead, members]) => members.map(name => [name, this.#stateOf(lead)])))
  }

  /** `db, web are ready; api is not ready`. Empty when there are no services. */
  text(): string {
    const services = this.services()
    const parts = this.#waits ? [...PARTS, NOT_REACHED] : [...PARTS, NOT_WAITED_FOR]
    return parts
      .flatMap(([state, one, several]) => {
        const names = [...services].filter(([, other]) => other === state).map(([name]) => name)
        return names.length > 0 ? [`${listed(names)} ${names.length === 1 ? one : several}`] : []
      })
      .join('; ')
  }

  #plan({ steps }: Changes, { workloads }: Wanted): void {
    // A part of the application has fewer workloads than the plan.
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

type Part = readonly [ServiceState, one: string, several: string]

const PARTS: readonly Part[] = [
  ['ready', 'is ready', 'are ready'],
  ['not-ready', 'is not ready', 'are not ready'],
  ['not-made', 'was not made', 'were not made'],
  ['not-changed', 'was not changed', 'were not changed'],
]
const NOT_WAITED_FOR: Part = [
  'not-waited-for',
  'was not waited for (`--wait` does)',
  'were not waited for (`--wait` does)',
]
/** A deploy that waits has ended before it came to them. */
const NOT_REACHED: Part = ['not-waited-for', 'is not known to be ready', 'are not known to be ready']

/** Names with commas, and of many how many more there are. */
export const listed = (names: readonly string[]): string =>
  names.length > NAMES + 1 ? `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more` : names.join(', ')
