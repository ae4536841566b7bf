import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Latest major version of V8 that is known to support the flags; an unsupported flag would print a warning. */
const KNOWN = 13

const areFlagsKnown = (): boolean => Number.parseInt(process.versions.v8, 10) <= KNOWN

/**
 * Stops V8 from enlarging the space for short-lived objects, which grows while many are allocated and never shrinks: up
 * to 48 MB. Code loaded later is compiled from source, because the code cache belongs to other flags.
 */
export function keepHeapSmall(): void {
  if (areFlagsKnown()) setFlag('--semi-space-growth-factor=1', '--semi-space-growth-factor=2')
}

const initialFlags = new Set<string>()

/** Sets a flag until the process ends: code that is kept then (bin/devctl.cjs) must fit the flags of the next start. */
function setFlag(flag: string, initial: string): void {
  setFlagsFromString(flag)
  if (!initialFlags.has(initial)) process.prependOnceListener('exit', () => setFlagsFromString(initial))
  initialFlags.add(initial)
}

/**
 * Milliseconds between the two collections: V8 shrinks the space for short-lived objects only if few were allocated in
 * the last 5 s.
 */
const PAUSE = 6000

/**
 * Frees unused memory. Each of the two collections stops the process for about 100 ms. Uses the flag with which V8
 * tests its compaction; without it, most pages stay allocated, nearly empty, after a period with many allocations.
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
