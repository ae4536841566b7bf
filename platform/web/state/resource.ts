import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { ReplyOf, RouteName } from '../../api/routes.ts'
import type { CallInput } from '../../client/client.ts'
import { platform } from './client.ts'
import { type Failure, toProblem } from './problem.ts'
import { isOffline, noticeOf } from './session.ts'

/** Result of a read. The last response is kept while a newer one is requested, so that the page does not jump. */
export interface ReadState<T> {
  readonly data?: T
  readonly problem?: Failure
}

export interface Read<T> {
  readonly state: ReadonlySignal<ReadState<T>>
  /** Requests the resource again. */
  refresh(): Promise<void>
  /** Stores data that is already known, such as the response to a change. */
  put(data: T): void
}

type Reading = `GET ${string}` & RouteName

interface KeptRead {
  readonly state: Signal<ReadState<unknown>>
  readonly ask: () => Promise<void>
  users: number
}

const held = new Map<string, KeptRead>()
/** Maximum number of responses that are kept for pages that are opened again. */
const MOST = 200
/** Polling interval while a page is open, and delay before a retry after a failure, in milliseconds. */
const EVERY = 15_000
const AGAIN = 3_000

/** Reads a route, and polls it every `every` milliseconds while the page is visible. */
export function useResource<N extends Reading>(name: N, input: CallInput<N>, every = EVERY): Read<ReplyOf<N>> {
  const key = keyOf(name, input)
  const one = hold(key, name, input)
  const wait = useRef(every)
  wait.current = every
  const schedule = useRef(() => {})
  useEffect(() => schedule.current(), [every])
  useEffect(() => {
    one.users++
    let askedAt = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const next = () => {
      clearTimeout(timer)
      if (isGone) return
      const after = one.state.peek().problem?.kind === 'offline' ? AGAIN : wait.current
      timer = setTimeout(run, Math.max(0, askedAt + after - Date.now()))
    }
    const run = () => {
      askedAt = Date.now()
      if (document.visibilityState === 'hidden') return next()
      void one.ask().finally(next)
    }
    const seen = () => document.visibilityState === 'visible' && run()
    document.addEventListener('visibilitychange', seen)
    addEventListener('online', run)
    run()
    schedule.current = next
    return () => {
      isGone = true
      one.users--
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
      removeEventListener('online', run)
    }
  }, [key])
  return {
    // The route table guarantees the type.
    state: one.state as Signal<ReadState<ReplyOf<N>>>,
    refresh: one.ask,
    put: data => {
      one.state.value = { data }
    },
  }
}

const keyOf = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`

/**
 * Returns the data that another part of the page has read. When the data changes, the calling component is rendered
 * again.
 */
export function readResource<N extends Reading>(name: N, input: CallInput<N>): ReadState<ReplyOf<N>> {
  return hold(keyOf(name, input), name, input).state.value as ReadState<ReplyOf<N>> // what the table promises
}

/** Stores new data of a resource, which a stream has reported before the next poll. */
export function putResource<N extends Reading>(name: N, input: CallInput<N>, data: ReplyOf<N>): void {
  const { state } = hold(keyOf(name, input), name, input)
  if (JSON.stringify(state.peek().data) !== JSON.stringify(data) || state.peek().problem) state.value = { data }
}

/** Requests a resource again if a page has read it. */
export function refreshResource<N extends Reading>(name: N, input: CallInput<N>): void {
  const key = keyOf(name, input)
  if (held.has(key)) void held.get(key)?.ask()
}

function hold<N extends Reading>(key: string, name: N, input: CallInput<N>): KeptRead {
  const found = held.get(key)
  if (found) return found
  const state = signal<ReadState<unknown>>({})
  let running: Promise<void> | undefined
  const ask = (): Promise<void> => {
    running ??= platform
      .call(name, input)
      .then(
        data => {
          isOffline.value = false
          // An equal response is not stored, so that nothing is rendered again.
          if (JSON.stringify(state.peek().data) !== JSON.stringify(data) || state.peek().problem) state.value = { data }
        },
        (error: unknown) => {
          const problem = toProblem(error)
          noticeOf(problem)
          state.value = { ...(problem.kind !== 'refused' && { data: state.peek().data }), problem }
        },
      )
      .finally(() => {
        running = undefined
      })
    return running
  }
  const made: KeptRead = { state, ask, users: 0 }
  for (const [old, { users }] of held) if (held.size >= MOST && users === 0) held.delete(old)
  held.set(key, made)
  return made
}

/** Requests all resources on the page again, after a change that other parts of the page also show. */
export function refreshAll(): void {
  for (const { users, ask } of held.values()) if (users > 0) void ask()
}
