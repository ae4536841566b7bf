import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { FailedDeploy } from '../../api/environments.ts'
import type { Namespace } from '../../api/namespaces.ts'
import { putResource, readResource, useResource } from '../state/resource.ts'
import { type Running, runningOf } from '../state/running.ts'
import { namespaceState, type ShownState, workloadState } from './state.tsx'

/** True of a namespace of which somebody may ask what runs in it, and in which something may. */
export const isAsked = ({ status, role }: Pick<Namespace, 'status' | 'role'>): boolean =>
  status === 'Active' && role !== undefined

/** How a namespace is: by what runs in it where that is known, else by its own status. */
export function stateOfNamespace(status: string, running: Running | undefined): ShownState {
  if (!running || status !== 'Active') return namespaceState(status)
  const shown = workloadState(running.state)
  return { ...shown, word: running.word ?? shown.word }
}

const inputOf = (ns: string) => ({ params: { ns } })

/** Returns all that is known about the content of a namespace: `AskTogether` asks. */
export function runningIn(ns: string): Running | undefined {
  const { data } = readResource('GET /namespaces/:ns/environments', inputOf(ns))
  return data && runningOf(data.items, failedDeploys.value.get(ns))
}

/** The deploys that have failed, by namespace: the stream of a namespace does not tell them. */
const failedDeploys = signal<ReadonlyMap<string, FailedDeploy>>(new Map())

/** Lists of namespaces that parts of the page ask about. */
const asked = new Set<readonly string[]>()

/** Returns whether some part of the page asks about all of these namespaces. */
export const areAsked = (names: readonly string[]): boolean =>
  names.every(name => [...asked].some(others => others.includes(name)))

interface AskTogetherProps {
  /** One at least, and `ASKED_TOGETHER` at most. */
  readonly names: readonly string[]
  /** Milliseconds between two questions. */
  readonly every: number
  /** Called when the first answer has come, or cannot be had. */
  readonly onAnswer?: () => void
}

/** Asks what runs in several namespaces by one request, for all parts of the page. Draws nothing. */
export function AskTogether({ names, every, onAnswer }: AskTogetherProps) {
  const input = { query: { namespaces: names.join(',') } }
  const { data, problem } = useResource('GET /environments', input, every).state.value
  useLayoutEffect(() => {
    asked.add(names)
    return () => void asked.delete(names)
  }, [names.join()])
  useEffect(() => {
    const failed = new Map(failedDeploys.peek())
    for (const { namespace, environments, failedDeploy } of data?.items ?? []) {
      putResource('GET /namespaces/:ns/environments', inputOf(namespace), { items: environments })
      if (failedDeploy) failed.set(namespace, failedDeploy)
      else failed.delete(namespace)
    }
    failedDeploys.value = failed
    if (data || problem) onAnswer?.()
  }, [data, problem])
  return null
}
