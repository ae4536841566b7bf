/**
 * Maximum number of concurrent requests. The API server accepts a few hundred from one client, but a higher number than
 * this makes devctl no faster.
 */
const WIDTH = 8

/**
 * Runs the task for every item, several at a time, and returns the results in the order of the items. After the first
 * failure it starts no further tasks, waits for the running ones, and throws the failure.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length)
  let next = 0
  let failed = false
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++
      try {
        results[index] = await task(items[index]!)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(WIDTH, items.length) }, worker))
  for (const result of workers) if (result.status === 'rejected') throw result.reason
  return results
}
