import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The last version of V8 of which it is known that it has the flags: others would print that they have not. */
const KNOWN = 13

const areFlagsKnown = (): boolean => Number.parseInt(process.versions.v8, 10) <= KNOWN

/**
 * V8 makes room for short-lived objects as long as many are made, and keeps it: up to 48 MB. From now on it makes no
 * more. Code that is loaded later is compiled anew, because its compiled form is for other flags.
 */
export function keepHeapSmall(): void {
  if (areFlagsKnown()) setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Milliseconds between the two collections: V8 frees the room for short-lived objects only if few were made in the last
 * 5 s.
 */
const PAUSE = 6000

/**
 * Frees unused memory. Each of two collections stops the process for some 100 ms. Without the flag with which V8 tests
 * its own compaction, most pages stay, nearly empty, after a period with many allocations.
 */
export async function shrinkHeap(pause = PAUSE): Promise<void> {
  if (!areFlagsKnown()) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // the function of that flag
  collectCompacting(collect)
  await sleep(pause, undefined, { ref: false })
  collectCompacting(collect)
}

function collectCompacting(collect: () => void): void {
  setFlagsFromString('--stress-compaction')
  try {
    collect()
  } finally {
    setFlagsFromString('--no-stress-compaction')
  }
}
