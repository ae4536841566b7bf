import type { HookRecord } from '../records/hook.ts'

/** Webhooks that are looked after at the same time: of all, and of one person. */
const TOGETHER = { ofAll: 8, ofOne: 2 }

/** What is under way: one thing of a webhook at a time, and some of a person, so that nobody's forge holds up the others. */
export class HookWork {
  readonly #busy = new Map<string, { readonly owner: string; readonly done: Promise<void> }>()

  /** Whether something of this webhook can begin. */
  hasRoom({ id, owner }: HookRecord): boolean {
    const all = [...this.#busy.values()]
    const own = all.filter(one => one.owner === owner)
    return !this.#busy.has(id) && all.length < TOGETHER.ofAll && own.length < TOGETHER.ofOne
  }

  /** Begins it; `work` throws nothing. */
  begin({ id, owner }: HookRecord, work: () => Promise<void>): void {
    const done = work().finally(() => this.#busy.delete(id))
    this.#busy.set(id, { owner, done })
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#busy.values()].map(({ done }) => done))
  }
}
