import type { Namespace } from '../../api/namespaces.ts'
import { useResource } from '../state/resource.ts'
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

/** What runs in a namespace; undefined until it is known. An answer that another part of the page has just had will do. */
export function useRunning(ns: string, every: number, isPatient = true): Running | undefined {
  const { data } = useResource('GET /namespaces/:ns/environments', { params: { ns } }, every, isPatient).state.value
  return data && runningOf(data.items)
}
