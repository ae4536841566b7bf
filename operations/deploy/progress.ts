import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { agoText } from '../../environment/ago.ts'
import type { DeployEvents } from '../../environment/apply/deploy.ts'
import { deletionBlocker } from '../../environment/apply/removal.ts'
import { addressesOf, type PublicAddress, shorterFirst } from '../../environment/endpoints/routes.ts'
import type { Changes } from '../../environment/plan/changes.ts'
import { type DesiredState, nameOf } from '../../environment/plan/desired-state.ts'
import type { Drift } from '../../environment/plan/drift.ts'
import { firstCheckDelay } from '../../environment/rollout/first-check.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { ServiceStates } from './service-states.ts'

/** Clock and deadline of a deploy. */
interface Timing {
  readonly now: () => number
  /**
   * True to wait until every workload is ready. Otherwise the deploy only waits for workloads that others depend on.
   */
  readonly waits: boolean
  /** Deadline in milliseconds since 1970. If absent, there is no deadline. */
  readonly deadline?: number | undefined
}

/**
 * Returns handlers that report the progress of a deploy as events. `onChange` is called after an object was written.
 */
export function deployEvents(
  on: (event: CommonEvent) => void,
  states: Pick<ServiceStates, 'events'>,
  onChange: () => void,
  { now, waits, deadline = Number.POSITIVE_INFINITY }: Timing,
): DeployEvents {
  return {
    overwriting(drift) {
      for (const one of drift) on({ type: 'note', text: `reverted: ${driftText(one, now())}` })
    },
    planned(changes, wanted) {
      states.events.planned(changes, wanted)
      const files = new Set([...changes.steps.keys()].map(({ source }) => source.split('#', 1)[0]!))
      const text = `${[...files].sort().join(', ')} → ${plural(changes.steps.size, 'object')}`
      if (files.size > 0) on({ type: 'step', step: 'Compiled', text })
      const actions = [...changes.steps.values()].map(({ action }) => action)
      const words = { create: 'to create', update: 'to change', replace: 'to replace', unchanged: 'unchanged' } as const
      const parts = (Object.keys(words) as (keyof typeof words)[]).flatMap(action => {
        const number = actions.filter(one => one === action).length
        return number > 0 ? [`${number} ${words[action]}`] : []
      })
      const gone = changes.prune.length + changes.pruneFirst.length
      on({
        type: 'step',
        step: 'Planned',
        text: [...parts, ...(gone > 0 ? [`${gone} to prune`] : [])].join(', '),
      })
      const rest = deadline - now()
      for (const text of lateChecks(changes, wanted, waits, rest)) on({ type: 'note', text })
    },
    locked: holder => reportLock(on, holder),
    done(action, object) {
      onChange()
      on({ type: 'object', action, object })
    },
    ending(object) {
      const text = `waiting until ${nameOf(object)} is deleted: ${deletionBlocker(object)}`
      on({ type: 'note', text })
    },
    waiting(service, needs) {
      on({ type: 'waiting', service, for: needs })
    },
    status(service, status) {
      states.events.status(service, status)
      on({ type: 'status', service, state: status.state, text: status.text })
    },
    applied: states.events.applied,
    routed() {},
    watching(services) {
      const names = listed(services)
      const text = `all are ready; watching ${names} for a few more seconds, because ${services.length === 1 ? 'it has' : 'they have'} no healthcheck`
      on({ type: 'note', text })
    },
  }
}

/**
 * Returns a note for each service that the deploy waits for and that cannot become ready in the remaining time, because
 * its first health check comes later.
 */
function lateChecks({ steps }: Changes, { workloads }: DesiredState, waits: boolean, rest: number): readonly string[] {
  const awaited = new Set(
    workloads.flatMap(({ dependencies }) =>
      dependencies.flatMap(({ service, condition }) => (condition === 'service_healthy' ? [service] : [])),
    ),
  )
  return workloads.flatMap(one => {
    const delay = firstCheckDelay(one.object)
    if (delay <= rest || steps.get(one)?.action === 'unchanged' || !(waits || awaited.has(one.service))) return []
    return `the first health check of ${one.service} comes ${readableDuration(delay)} after its start, and this deploy ends in ${readableDuration(rest)}: wait longer with \`--timeout\`, or shorten \`healthcheck.start_period\``
  })
}

/** Describes a manual change, for example `deployment/web spec.replicas 5 → 2, set by kubectl-edit 3 hours ago`. */
export function driftText({ object, path, before, after, masked, by }: Drift, now: number): string {
  const values = [before, after].map(value => (value === undefined ? 'nothing' : JSON.stringify(value)))
  const isShort = values.every(value => value.length <= LONGEST_VALUE)
  const change = masked ?? (isShort ? values.join(' → ') : '')
  const when = by.time === undefined ? '' : ` ${agoText(now - Date.parse(by.time))}`
  return `${[object, path, change].filter(text => text !== '').join(' ')}, set by ${by.manager}${when}`
}

/** Maximum length of a value that is shown in a line. */
const LONGEST_VALUE = 60

/** Reports the holder of the lock that a command waits for. */
export function reportLock(on: (event: CommonEvent) => void, holder: string): void {
  on({ type: 'note', text: `waiting for the lock of ${holder}` })
}

/** Maximum number of names to list; further names are only counted. */
const NAMES = 12

/** Joins names with commas. If there are many, lists the first and counts the rest. */
export const listed = (names: readonly string[]): string =>
  names.length > NAMES + 1 ? `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more` : names.join(', ')

/**
 * Returns the public addresses of routes, each with the service that answers there. Contains no duplicates; shorter
 * addresses come first.
 */
export function addressesInOrder(routes: readonly KubeObject[]): readonly PublicAddress[] {
  const byUrl = new Map(routes.flatMap(route => addressesOf(route, new Map())).map(one => [one.url, one]))
  return [...byUrl.values()].sort(shorterFirst)
}
