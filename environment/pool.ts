/**
 * Requests that run at the same time. The API server's own limit for one client is some hundreds;
 * more than this is no faster.
 */
const WIDTH = 8

/**
 * Runs the task for every item, some at a time, and gives the results in the order of the items. At
 * the first failure it begins no more, and throws it when all that it has begun is over.
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
