import { setTimeout } from 'node:timers/promises'
import { afterAll } from 'vitest'

/** Time in milliseconds that a file has to end what it began. */
const PATIENCE = 1000

// Files share a worker. A loop that a test leaves behind would take processor time from all later ones.
afterAll(async () => {
  const deadline = performance.now() + PATIENCE
  while (process.getActiveResourcesInfo().includes('Immediate')) {
    if (performance.now() > deadline) throw new Error('a loop of `setImmediate` is still running after the tests')
    await setTimeout(5)
  }
})
