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

/** Called with each answer, and with the moment (`moments`) at which it was requested, for `putResource`. */
type OnAnswer<T> = (data: T, moment: number) => void

const held = new Map<string, KeptRead>()
/** Maximum number of responses that are kept for pages that are opened again. */
const MOST = 200
/** Polling interval while a page is open, and delay before a retry after a failure, in milliseconds. */
const EVERY = 15_000
const AGAIN = 3_000

/**
 * Number of requests and changes so far. Its value at a request or change is called the moment, and tells newer data
 * from older data.
 */
let moments = 0

/** A resource that pages have read, with its newest data. */
class KeptRead {
  readonly state = signal<ReadState<unknown>>({})
  /** Parts of the page that show the resource. */
  readonly readers = new Set<OnAnswer<unknown>>()
  readonly #call: () => Promise<unknown>
  #running: Promise<void> | undefined
  /** Moment (`moments`) of the newest data, or of the last request if that is newer. */
  #moment = 0

  constructor(call: () => Promise<unknown>) {
    this.#call = call
  }

  /** Requests the resource, or waits for a request that is in progress. */
  ask(): Promise<void> {
    return this.#running ?? this.refresh()
  }

  /** Requests the resource again. The answer to an earlier request may lack a change, so it is dropped. */
  refresh(): Promise<void> {
    const moment = ++moments
    this.#moment = moment
    const running = this.#call()
      .then(
        data => this.#answer(data, moment),
        (error: unknown) => this.#fail(error, moment),
      )
      .finally(() => {
        if (this.#running === running) this.#running = undefined
      })
    this.#running = running
    return running
  }

  /** Stores data that was current at a moment (`moments`), unless newer data is already stored or requested. */
  put(data: unknown, moment: number): void {
    if (moment < this.#moment) return
    this.#moment = moment
    const { data: old, problem } = this.state.peek()
    // Equal data is not stored, so that nothing is rendered again.
    if (problem || !isEqual(old, data)) this.state.value = { data }
  }

  #answer(data: unknown, moment: number): void {
    isOffline.value = false
    if (moment < this.#moment) return
    this.put(data, moment)
    for (const onAnswer of this.readers) onAnswer(data, moment)
  }

  #fail(error: unknown, moment: number): void {
    const problem = toProblem(error)
    noticeOf(problem)
    if (moment < this.#moment) return
    const keepsData = problem.kind === 'login' || problem.isPassing
    this.state.value = { ...(keepsData && { data: this.state.peek().data }), problem }
  }
}

/** Compares data of the platform, which is JSON. */
export const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * Reads a route, and polls it every `every` milliseconds while the page is visible. Calls `onAnswer` with each answer,
 * even if it is equal to the last one.
 */
export function useResource<N extends Reading>(
  name: N,
  input: CallInput<N>,
  every = EVERY,
  onAnswer?: OnAnswer<ReplyOf<N>>,
): Read<ReplyOf<N>> {
  const key = keyOf(name, input)
  const one = hold(key, name, input)
  const wait = useRef(every)
  wait.current = every
  const listener = useRef(onAnswer)
  listener.current = onAnswer
  const schedule = useRef(() => {})
  useEffect(() => schedule.current(), [every])
  useEffect(() => {
    // The route table guarantees the type.
    const reader: OnAnswer<unknown> = (data, moment) => listener.current?.(data as ReplyOf<N>, moment)
    one.readers.add(reader)
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
      one.readers.delete(reader)
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
      removeEventListener('online', run)
    }
  }, [key])
  return {
    // The route table guarantees the type.
    state: one.state as Signal<ReadState<ReplyOf<N>>>,
    refresh: () => one.refresh(),
    put: data => one.put(data, ++moments),
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

/**
 * Stores new data of a resource, which a stream or the answer to another request has reported. For an answer, `moment`
 * is the moment of its request, so that older data does not replace newer data.
 */
export function putResource<N extends Reading>(
  name: N,
  input: CallInput<N>,
  data: ReplyOf<N>,
  moment = ++moments,
): void {
  hold(keyOf(name, input), name, input).put(data, moment)
}

/** Requests a resource again if a page has read it. */
export function refreshResource<N extends Reading>(name: N, input: CallInput<N>): void {
  void held.get(keyOf(name, input))?.refresh()
}

function hold<N extends Reading>(key: string, name: N, input: CallInput<N>): KeptRead {
  const found = held.get(key)
  if (found) return found
  const made = new KeptRead(() => platform.call(name, input))
  for (const [old, { readers }] of held) if (held.size >= MOST && readers.size === 0) held.delete(old)
  held.set(key, made)
  return made
}

/** Requests all resources on the page again, after a change that other parts of the page also show. */
export function refreshAll(): void {
  for (const one of held.values()) if (one.readers.size > 0) void one.refresh()
}
