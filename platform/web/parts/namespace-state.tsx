import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { FailedDeploy, RunningNamespace, ShownEnvironment } from '../../api/environments.ts'
import type { Namespace } from '../../api/namespaces.ts'
import type { Preview } from '../../api/previews.ts'
import type { ReplyOf } from '../../api/routes.ts'
import { ASKED_TOGETHER } from '../../rules/asked-together.ts'
import { environmentState, isAwake, type Running, runningOf, standingOf } from '../../rules/runs/running.ts'
import { isEqual, putResource, readResource, useResource } from '../state/resource.ts'
import { type ShownState, standingState } from './state.tsx'

/** True for an active namespace that the user is a member of: its content can be requested. */
export const isAsked = ({ status, role }: Pick<Namespace, 'status' | 'role'>): boolean =>
  status === 'Active' && role !== undefined

/**
 * Returns the state of a namespace or a preview, for display: from its content if that is known, otherwise from its
 * status.
 */
export const stateOfNamespace = (status: string, running: ShownRunning | undefined): ShownState =>
  standingState(standingOf(status, running))

/** Returns the state of an environment, for display. */
export const stateOfEnvironment = (
  ns: string,
  environment: { readonly name: string; readonly state: string },
): ShownState => standingState(environmentState(environment, deploysIn(ns)))

type ShownRunning = Running<ShownEnvironment, FailedDeploy>
type Deploys = Pick<RunningNamespace, 'failedDeploys' | 'deploys'>

const inputOf = (ns: string) => ({ params: { ns } })

/** Returns the content of a namespace; undefined if no part of the page has loaded it. `AskTogether` requests it. */
export function runningIn(ns: string): ShownRunning | undefined {
  const { data } = readResource('GET /namespaces/:ns/environments', inputOf(ns))
  return data && runningOf({ environments: data.items, ...deploysIn(ns) })
}

/** Returns the running and failed deploys of a namespace, as far as they are known. */
export const deploysIn = (ns: string): Deploys => deploys.value.get(ns) ?? NONE

const NONE: Deploys = { failedDeploys: [], deploys: [] }
/**
 * Deploys by namespace. Stored separately from the environments, because the stream of a namespace does not report
 * deploys.
 */
const deploys = signal<ReadonlyMap<string, Deploys>>(new Map())

/** Lists of namespaces whose content is currently requested, one list for each `AskTogether` on the page. */
const asked = new Set<readonly string[]>()

/** True if the content of all of these namespaces is currently requested by `AskTogether`. */
export const areAsked = (names: readonly string[]): boolean =>
  names.every(name => [...asked].some(others => others.includes(name)))

interface AskTogetherProps {
  /** Names of 1 to `ASKED_TOGETHER` namespaces. */
  readonly names: readonly string[]
  /** Polling interval in milliseconds. */
  readonly every: number
  /** Called when the first request has ended, even if it failed, and after each later response. */
  readonly onAnswer?: () => void
}

/** Requests the content of several namespaces with one request, for all parts of the page. Renders nothing. */
export function AskTogether({ names, every, onAnswer }: AskTogetherProps) {
  const input = { query: { namespaces: names.join(',') } }
  const { data, problem } = useResource('GET /environments', input, every, distribute).state.value
  useLayoutEffect(() => {
    asked.add(names)
    return () => void asked.delete(names)
  }, [names.join()])
  useEffect(() => {
    if (data || problem) onAnswer?.()
  }, [data, problem])
  return null
}

/**
 * Distributes an answer with the content of several namespaces to all parts of the page. Also called if the answer is
 * equal to the last one, because other requests and streams may have stored other data since.
 */
function distribute({ items }: ReplyOf<'GET /environments'>, moment: number): void {
  const known = new Map(deploys.peek())
  for (const { namespace, environments, ...own } of items) {
    putResource('GET /namespaces/:ns/environments', inputOf(namespace), { items: environments }, moment)
    known.set(namespace, own)
  }
  if (!isEqual([...known], [...deploys.peek()])) deploys.value = known
}

interface AskAboutPreviewsProps {
  readonly previews: readonly Preview[]
  /** Polling interval in milliseconds. */
  readonly every: number
}

/** Requests the content of the previews that were used last, for all parts of the page. Renders nothing. */
export function AskAboutPreviews({ previews, every }: AskAboutPreviewsProps) {
  const names = lastUsed(previews.filter(({ role, status }) => role !== undefined && isAwake(status)))
  return names.length > 0 ? <AskTogether names={names} every={every} /> : null
}

/**
 * Returns the names of the previews that were used last, sorted by name, so that the request stays the same while the
 * order of use changes.
 */
const lastUsed = (previews: readonly Preview[]): readonly string[] =>
  previews
    .toSorted((a, b) => Date.parse(b.lastActive) - Date.parse(a.lastActive))
    .slice(0, ASKED_TOGETHER)
    .map(({ name }) => name)
    .sort()
