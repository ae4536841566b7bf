import type { WatchExec, WatchRule } from '../../compiler/compose/project.ts'
import { type WatchPatterns, watchFilter } from './watch-patterns.ts'

/** A rule of `develop.watch` that does more than copy files. */
export interface ActionRule {
  readonly patterns: WatchPatterns
  readonly action: Exclude<WatchRule['action']['value'], 'sync'>
  /** Command of a `sync+exec` rule. */
  readonly exec?: WatchExec
}

/** Action for a batch of changes. */
export type BatchAction =
  /** Rebuilds the image and updates the mirror, which restarts everything. */
  | { readonly kind: 'rebuild' }
  /** Runs the commands one after the other and then, if `restarts` is true, restarts the program of the container. */
  | { readonly kind: 'run'; readonly execs: readonly WatchExec[]; readonly restarts: boolean }

/**
 * Returns a function that decides on the action for a batch of changed absolute paths: at most one action, so that a
 * `git checkout` of a hundred files restarts once. A build takes precedence, because it starts a new container with all
 * changes.
 */
export function batchDecision(rules: readonly ActionRule[]): (changed: readonly string[]) => BatchAction | undefined {
  const filtered = rules.map(rule => ({ rule, takes: watchFilter(rule.patterns) }))
  return changed => {
    const hit = filtered.filter(({ takes }) => changed.some(takes)).map(({ rule }) => rule)
    if (hit.length === 0) return undefined
    if (hit.some(({ action }) => action === 'rebuild')) return { kind: 'rebuild' }
    return {
      kind: 'run',
      execs: [...new Set(hit.flatMap(({ exec }) => exec ?? []))],
      restarts: hit.some(({ action }) => action === 'restart' || action === 'sync+restart'),
    }
  }
}

/** Operations that carry out actions. Each rejects with the signal's abort reason if the signal is aborted. */
export interface ActionHandlers {
  /** Waits until all changes seen so far are in the container. */
  settled(signal: AbortSignal): Promise<void>
  /** Runs a command in the container and returns its exit status. */
  exec(command: WatchExec, signal: AbortSignal): Promise<number>
  /** Restarts the program of the container by sending USR1 to `run.sh`. */
  restart(signal: AbortSignal): Promise<void>
  /** Rebuilds the image and makes the mirror run it. */
  rebuild(signal: AbortSignal): Promise<void>
  /** Waits for this number of milliseconds. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** Event that reports the progress of an action to the user. */
export type ActionEvent =
  | { readonly type: 'begun'; readonly action: BatchAction; readonly changed: readonly string[] }
  | { readonly type: 'ended'; readonly action: BatchAction }
  /** An action has failed. The session continues, and the next change causes another attempt. */
  | { readonly type: 'failed'; readonly action: BatchAction; readonly error: unknown }

/** Debounce interval in milliseconds: a batch is complete after this time without a change. */
const QUIET = 100
/** Maximum duration of a batch in milliseconds, even if changes continue. */
const LONGEST = 2000

/** Carries out the actions for changed paths, one at a time. Changes during an action form the next batch. */
export class WatchActions {
  readonly #decide: (changed: readonly string[]) => BatchAction | undefined
  readonly #hands: ActionHandlers
  readonly #on: (event: ActionEvent) => void
  readonly #now: () => number
  #changed = new Set<string>()
  #wake: (() => void) | undefined

  constructor(
    rules: readonly ActionRule[],
    hands: ActionHandlers,
    { on, now = () => performance.now() }: { readonly on: (event: ActionEvent) => void; readonly now?: () => number },
  ) {
    this.#decide = batchDecision(rules)
    this.#hands = hands
    this.#on = on
    this.#now = now
  }

  /** Adds absolute paths that have changed on this machine. */
  add(changed: Iterable<string>): void {
    for (const path of changed) this.#changed.add(path)
    if (this.#changed.size > 0) this.#wake?.()
  }

  /** Carries out actions until the signal is aborted, and then rejects with the signal's abort reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#someChange(signal)
      const changed = await this.#batch(signal)
      const action = this.#decide(changed)
      if (action) await this.#carryOut(action, changed, signal)
    }
  }

  #someChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason)
      if (signal.aborted) return abort()
      this.#wake = () => {
        this.#wake = undefined
        signal.removeEventListener('abort', abort)
        resolve()
      }
      signal.addEventListener('abort', abort, { once: true })
      if (this.#changed.size > 0) this.#wake()
    })
  }

  async #batch(signal: AbortSignal): Promise<readonly string[]> {
    const began = this.#now()
    let size = -1
    while (size !== this.#changed.size && this.#now() - began < LONGEST) {
      size = this.#changed.size
      await this.#hands.pause(QUIET, signal)
    }
    const changed = [...this.#changed]
    this.#changed = new Set()
    return changed
  }

  async #carryOut(action: BatchAction, changed: readonly string[], signal: AbortSignal): Promise<void> {
    this.#on({ type: 'begun', action, changed })
    try {
      await this.#do(action, signal)
      this.#on({ type: 'ended', action })
    } catch (error) {
      signal.throwIfAborted()
      this.#on({ type: 'failed', action, error })
    }
  }

  async #do(action: BatchAction, signal: AbortSignal): Promise<void> {
    if (action.kind === 'rebuild') return this.#hands.rebuild(signal)
    await this.#hands.settled(signal)
    for (const exec of action.execs) {
      const status = await this.#hands.exec(exec, signal)
      if (status !== 0) throw new CommandFailed(exec.command.words, status)
    }
    if (action.restarts) await this.#hands.restart(signal)
  }
}

/** Error for a command of a `sync+exec` rule that exited with a status other than 0. */
class CommandFailed extends Error {
  readonly status: number

  constructor(words: readonly string[], status: number) {
    super(`\`${words.join(' ')}\` ended with status ${status}`)
    this.status = status
  }
}
