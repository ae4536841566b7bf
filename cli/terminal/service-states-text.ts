import type { ServiceState } from '../../operations/deploy/outcome.ts'
import { listed } from '../../operations/deploy/progress.ts'

/**
 * Summarizes the states of services: `db, web are ready; api is not ready`. Empty if there are no services. `waits` is
 * true for a deploy that waits until the services are ready.
 */
export function statesText(services: ReadonlyMap<string, ServiceState>, waits: boolean): string {
  return [...PARTS, waits ? NOT_REACHED : NOT_WAITED_FOR]
    .flatMap(([state, one, several]) => {
      const names = [...services].filter(([, other]) => other === state).map(([name]) => name)
      return names.length > 0 ? [`${listed(names)} ${names.length === 1 ? one : several}`] : []
    })
    .join('; ')
}

type Part = readonly [ServiceState, one: string, several: string]

const PARTS: readonly Part[] = [
  ['ready', 'is ready', 'are ready'],
  ['not-ready', 'is not ready', 'are not ready'],
  ['not-made', 'was not created', 'were not created'],
  ['not-changed', 'was not changed', 'were not changed'],
]
const NOT_WAITED_FOR: Part = [
  'not-waited-for',
  'was not waited for (use `--wait`)',
  'were not waited for (use `--wait`)',
]
/** State of services that a deploy had not yet waited for when it ended. */
const NOT_REACHED: Part = ['not-waited-for', 'is not known to be ready', 'are not known to be ready']
