import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Latest major version of V8 that is known to support the flags; an unsupported flag would print a warning. */
const KNOWN = 13

const areFlagsKnown = (): boolean => Number.parseInt(process.versions.v8, 10) <= KNOWN

/**
 * Stops V8 from enlarging the space for short-lived objects. The space would grow up to 48 MB during many allocations,
 * and would not shrink afterwards. Code that is loaded later is compiled from source, because cached code is only valid
 * for the flags that it was compiled with.
 */
export function keepHeapSmall(): void {
  if (areFlagsKnown()) setFlag('--semi-space-growth-factor=1', '--semi-space-growth-factor=2')
}

const initialFlags = new Set<string>()

/**
 * Sets a flag of V8, and resets it when the process exits: compiled code that is stored at the exit (bin/devctl.cjs)
 * must fit the flags of the next start.
 */
function setFlag(flag: string, initial: string): void {
  setFlagsFromString(flag)
  if (!initialFlags.has(initial)) process.prependOnceListener('exit', () => setFlagsFromString(initial))
  initialFlags.add(initial)
}

/**
 * Milliseconds between the two collections of `shrinkHeap`: V8 shrinks the space for short-lived objects only if few
 * were allocated in the last 5 s.
 */
const PAUSE = 6000

/**
 * Frees unused memory. Each of the two collections stops the process for about 100 ms. Uses the flag with which V8
 * tests its compaction. Without the flag, most pages stay allocated but nearly empty after a period with many
 * allocations.
 */
export async function shrinkHeap(pause = PAUSE): Promise<void> {
  if (!areFlagsKnown()) return
  setFlag('--expose-gc', '--no-expose-gc')
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
