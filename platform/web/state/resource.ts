import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { ReplyOf, RouteName } from '../../api/routes.ts'
import type { CallInput } from '../../client/client.ts'
import { platform } from './client.ts'
import { type Failure, toProblem } from './problem.ts'
import { isOffline, noticeOf } from './session.ts'

/** Result of a read: the last answer stays while a newer one is requested, so that the page does not jump. */
export interface ReadState<T> {
  readonly data?: T
  readonly problem?: Failure
}

export interface Read<T> {
  readonly state: ReadonlySignal<ReadState<T>>
  /** Asks again. */
  refresh(): Promise<void>
  /** Stores data that is already known: the answer to a change. */
  put(data: T): void
}

type Reading = `GET ${string}` & RouteName

interface KeptRead {
  readonly state: Signal<ReadState<unknown>>
  readonly ask: () => Promise<void>
  users: number
}

const held = new Map<string, KeptRead>()
/** Answers that are kept for pages that are opened again. */
const MOST = 200
/** Milliseconds between two questions while a page is open; and to the first one after a failure. */
const EVERY = 15_000
const AGAIN = 3_000

/** The answer of a route, asked for again while the page is seen, after that many milliseconds. */
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

/** Returns what another part of the page has read; the caller is rendered again when it changes. */
export function readResource<N extends Reading>(name: N, input: CallInput<N>): ReadState<ReplyOf<N>> {
  return hold(keyOf(name, input), name, input).state.value as ReadState<ReplyOf<N>> // what the table promises
}

/** Tells pages what has become of something that they have read: a stream says so before they ask. */
export function putResource<N extends Reading>(name: N, input: CallInput<N>, data: ReplyOf<N>): void {
  const { state } = hold(keyOf(name, input), name, input)
  if (JSON.stringify(state.peek().data) !== JSON.stringify(data) || state.peek().problem) state.value = { data }
}

/** Asks again for one that pages have read. */
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
          // The same answer is no change: nothing is drawn again.
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

/** Asks again for all that is on the page: after a change that other parts show, too. */
export function refreshAll(): void {
  for (const { users, ask } of held.values()) if (users > 0) void ask()
}
