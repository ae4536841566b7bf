import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EnvironmentDetails, LiveEvent } from '../../api/environments.ts'
import { summarize } from '../../rules/runs/summarize.ts'
import { putResource, refreshResource } from './resource.ts'
import { follow } from './stream.ts'

/** Polling interval for data while a stream also reports it, in milliseconds. */
const WITH_STREAM = 120_000

interface Watched {
  /** True while the stream is open and keeps the resources of the pages up to date. */
  readonly isLive: Signal<boolean>
  users: number
  end: AbortController
}

const watched = new Map<string, Watched>()

/**
 * Watches the content of a namespace while a part of a page shows it, and writes all changes into the responses that
 * pages have read. All parts share one stream. Returns the polling interval in milliseconds: a long one while the
 * stream is open, otherwise `every`.
 */
export function useLive(ns: string, every: number, isWanted = true): number {
  const isLive = isWanted ? watch(ns).isLive : undefined
  useEffect(() => {
    if (!isWanted) return
    const one = watch(ns)
    if (one.users++ === 0) begin(ns, one)
    return () => {
      one.users--
      // Closes the stream with a delay, because a part of the next page may need it right away.
      setTimeout(() => {
        if (one.users > 0 || watched.get(ns) !== one) return
        one.end.abort()
        watched.delete(ns)
      })
    }
  }, [ns, isWanted])
  return isLive?.value ? WITH_STREAM : every
}

function watch(ns: string): Watched {
  const known = watched.get(ns)
  if (known) return known
  const made = { isLive: signal(false), users: 0, end: new AbortController() }
  watched.set(ns, made)
  return made
}

function begin(ns: string, { isLive, end }: Watched): void {
  const environments = new Map<string, EnvironmentDetails>()
  const listener = {
    onEvent(event: LiveEvent) {
      const gone = applyEvent(environments, event)
      for (const [env, details] of environments)
        putResource('GET /namespaces/:ns/environments/:env', { params: { ns, env } }, details)
      for (const env of gone) refreshResource('GET /namespaces/:ns/environments/:env', { params: { ns, env } })
      putResource(
        'GET /namespaces/:ns/environments',
        { params: { ns } },
        { items: [...environments.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(toItem) },
      )
      isLive.value = true
    },
    onEnd() {
      isLive.value = false
    },
  }
  void follow('GET /namespaces/:ns/live', { params: { ns } }, listener, end.signal)
}

/** Applies an event to the environments. Returns the names of the environments that no longer exist. */
function applyEvent(environments: Map<string, EnvironmentDetails>, event: LiveEvent): readonly string[] {
  switch (event.type) {
    case 'snapshot': {
      const gone = new Set(environments.keys())
      environments.clear()
      for (const one of event.environments) {
        environments.set(one.name, one)
        gone.delete(one.name)
      }
      return [...gone]
    }
    case 'environment': {
      environments.set(event.environment.name, event.environment)
      return []
    }
    case 'services': {
      const known = environments.get(event.environment)
      if (!known) return []
      const changed = new Map(event.services.map(one => [one.name, one]))
      const services = known.services.map(one => changed.get(one.name) ?? one)
      environments.set(known.name, { ...known, state: event.state, services })
      return []
    }
    case 'removed':
      return environments.delete(event.environment) ? [event.environment] : []
    default:
      // An event of a newer platform; the next poll returns the change.
      return []
  }
}

/** Converts an environment to an item of a list. */
function toItem({ name, state, deployed, source, services }: EnvironmentDetails) {
  return { name, state, ...(deployed && { deployed }), ...(source && { source }), ...summarize(services) }
}
