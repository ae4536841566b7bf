import { setMaxListeners } from 'node:events'
import { RegistrySession, type RegistrySessionOptions } from './registry-session.ts'

/** Number of questions that are under way at the same time. */
const AT_ONCE = 8

/**
 * Asks registries about each item, several at once, in one session. The result has the distinct
 * items in their order. Rejects with the first error, and then waits for no other answer.
 */
export async function askAll<Item, Answer>(
  items: readonly Item[],
  options: RegistrySessionOptions,
  ask: (item: Item, session: RegistrySession) => Promise<Answer>,
): Promise<ReadonlyMap<Item, Answer>> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  // Every question under way listens to it.
  setMaxListeners(0, signal)
  const session = new RegistrySession({ ...options, signal })
  const distinct = [...new Set(items)]
  const answers = new Map<Item, Answer>()
  const queue = distinct.values()
  const work = async () => {
    for (const item of queue) answers.set(item, await ask(item, session))
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    stop.abort()
    session.close()
  }
  // Each has an answer, or an error was thrown.
  return new Map(distinct.map(item => [item, answers.get(item)!]))
}
