import { setMaxListeners } from 'node:events'
import { RegistrySession, type RegistrySessionOptions } from './registry-session.ts'

/** Maximum number of concurrent requests. */
const AT_ONCE = 8

/**
 * Calls `ask` for each distinct item, several at the same time, in one session. Returns the answers by item, in the
 * order of the items. Rejects with the first error, without waiting for other responses.
 */
export async function askAll<Item, Answer>(
  items: readonly Item[],
  options: RegistrySessionOptions,
  ask: (item: Item, session: RegistrySession) => Promise<Answer>,
): Promise<ReadonlyMap<Item, Answer>> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  // Every pending request adds a listener.
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
  // Every item has an answer, because an error would have been thrown.
  return new Map(distinct.map(item => [item, answers.get(item)!]))
}
