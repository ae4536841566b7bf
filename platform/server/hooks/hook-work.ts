import type { HookRecord } from '../../records/hook.ts'

/** Maximum number of webhooks that are processed at the same time: in total, and of one user. */
const TOGETHER = { ofAll: 8, ofOne: 2 }

/**
 * Keeps track of the work on webhooks. Work can begin on at most one item of each webhook and a few items of each user
 * at a time, so that a slow forge of one user does not hold up the others.
 */
export class HookWork {
  /** Items that wait for a retry, by key, with the number of consecutive failures and the time of the retry. */
  readonly #later = new Map<string, { readonly failures: number; readonly until: number }>()
  readonly #busy = new Map<string, { readonly owner: string; readonly done: Promise<void> }>()

  /** Returns true if work for this webhook can begin now. */
  hasRoom({ id, owner }: HookRecord): boolean {
    const all = [...this.#busy.values()]
    const own = all.filter(one => one.owner === owner)
    return !this.#busy.has(id) && all.length < TOGETHER.ofAll && own.length < TOGETHER.ofOne
  }

  /** Starts work on a webhook. `work` must not throw. */
  begin({ id, owner }: HookRecord, work: () => Promise<void>): void {
    const done = work().finally(() => this.#busy.delete(id))
    this.#busy.set(id, { owner, done })
  }

  /** Returns true if an item need not wait for a retry, or its retry time has come. */
  isDue(key: string, now: number): boolean {
    return (this.#later.get(key)?.until ?? 0) <= now
  }

  /** Returns the number of consecutive failures of an item. */
  failuresOf(key: string): number {
    return this.#later.get(key)?.failures ?? 0
  }

  /** Postpones an item until the given time in milliseconds, and stores its number of consecutive failures. */
  wait(key: string, failures: number, until: number): void {
    this.#later.set(key, { failures, until })
  }

  /** Forgets an item that has succeeded. */
  forget(key: string): void {
    this.#later.delete(key)
  }

  /** Forgets all items whose key is not among the given keys. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#later.keys()) if (!keys.has(key)) this.#later.delete(key)
  }

  /** Waits for work in progress. */
  async settled(): Promise<void> {
    await Promise.all([...this.#busy.values()].map(({ done }) => done))
  }
}
