import type { KubeObject } from '../cluster/cluster.ts'
import { plural } from '../compiler/diagnostics/render/summary.ts'
import type { DeployEvents } from '../environment/deploy.ts'
import type { Drift } from '../environment/drift.ts'
import { type Address, addressesOf, shorterFirst } from '../environment/endpoints/routes.ts'
import { whyThere } from '../environment/removal.ts'
import { nameOf } from '../environment/wanted.ts'
import { listed, type Outcome } from './deploy-outcome.ts'
import { agoText } from './print-diff.ts'
import type { Progress } from './progress/events.ts'

/** Tells what happens; `onChange` is called when something was written. */
export function toProgress(
  progress: Progress,
  outcome: Pick<Outcome, 'events'>,
  onChange: () => void,
  now: () => number,
): DeployEvents {
  return {
    overwriting(drift) {
      for (const one of drift) progress.tell({ type: 'note', text: `taken back: ${driftText(one, now())}` })
    },
    planned(changes, wanted) {
      outcome.events.planned(changes, wanted)
      const files = new Set([...changes.steps.keys()].map(({ source }) => source.split('#', 1)[0]!))
      const text = `${[...files].sort().join(', ')} → ${plural(changes.steps.size, 'object')}`
      if (files.size > 0) progress.tell({ type: 'step', step: 'Compiled', text })
      const actions = [...changes.steps.values()].map(({ action }) => action)
      const words = { create: 'to create', update: 'to change', replace: 'to replace', unchanged: 'unchanged' } as const
      const parts = (Object.keys(words) as (keyof typeof words)[]).flatMap(action => {
        const number = actions.filter(one => one === action).length
        return number > 0 ? [`${number} ${words[action]}`] : []
      })
      const gone = changes.prune.length + changes.pruneFirst.length
      progress.tell({
        type: 'step',
        step: 'Planned',
        text: [...parts, ...(gone > 0 ? [`${gone} to prune`] : [])].join(', '),
      })
    },
    locked: holder => tellLocked(progress, holder),
    done(action, object) {
      onChange()
      progress.tell({ type: 'object', action, object })
    },
    ending(object) {
      const text = `waiting until ${nameOf(object)} is gone: ${whyThere(object)}`
      progress.tell({ type: 'note', text })
    },
    waiting(service, needs) {
      progress.tell({ type: 'waiting', service, for: needs })
    },
    status(service, status) {
      outcome.events.status(service, status)
      progress.tell({ type: 'status', service, state: status.state, text: status.text })
    },
    applied: outcome.events.applied,
    routed() {},
    watching(services) {
      const names = listed(services)
      const text = `all are ready; watching ${names} for some seconds more, since no healthcheck says that ${services.length === 1 ? 'it works' : 'they work'}`
      progress.tell({ type: 'note', text })
    },
  }
}

/** `deployment/web spec.replicas 5 → 2, set by kubectl-edit 3 hours ago`. */
export function driftText({ object, path, before, after, masked, by }: Drift, now: number): string {
  const values = [before, after].map(value => (value === undefined ? 'nothing' : JSON.stringify(value)))
  const isShort = values.every(value => value.length <= LONGEST_VALUE)
  const change = masked ?? (isShort ? values.join(' → ') : '')
  const when = by.time === undefined ? '' : ` ${agoText(now - Date.parse(by.time))}`
  return `${[object, path, change].filter(text => text !== '').join(' ')}, set by ${by.manager}${when}`
}

/** Characters of a value that a line still shows. */
const LONGEST_VALUE = 60

/** Tells whom a command waits for. */
export function tellLocked(progress: Progress, holder: string): void {
  progress.tell({ type: 'note', text: `waiting for ${holder}, who works on it or has died` })
}

/** What state things are in when a deploy is stopped: by its deadline, by Ctrl-C, or because the cluster cannot be reached any more. */
export function stoppedText(environment: string, namespace: string, outcome: Outcome, isChanged: boolean): string {
  if (!isChanged && !outcome.isBegun) return `nothing of ${environment} in ${namespace} was changed\n`
  const services = outcome.text()
  return `${environment} is partly deployed to ${namespace}${services && `: ${services}`}. Deploy again to go on\n`
}

/** The addresses of routes with the services that answer there, each once, the shorter ones first. */
export function addressesInOrder(routes: readonly KubeObject[]): readonly Address[] {
  const byUrl = new Map(routes.flatMap(route => addressesOf(route, new Map())).map(one => [one.url, one]))
  return [...byUrl.values()].sort(shorterFirst)
}
