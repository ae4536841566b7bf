import { INTERRUPTED } from './exit-status.ts'

/** Milliseconds in which two signals are one press of Ctrl-C: `npx` hands on what the terminal has sent to all of its processes anyway. */
const ONE_PRESS = 500

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Thrown into what runs when the process is asked to end. */
export class Interrupted extends Error {}

/**
 * Aborts `signal` with `Interrupted` at Ctrl-C and at SIGTERM, so that what runs can come to a clean end. At the second one the process ends at
 * once: whoever asks twice does not want to wait. `stop` gives the signals back.
 */
export function watchForInterruption(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const interrupt = new AbortController()
  let since: number | undefined
  const onSignal = () => {
    since ??= performance.now()
    if (interrupt.signal.aborted && performance.now() - since > ONE_PRESS) process.exit(INTERRUPTED)
    interrupt.abort(new Interrupted('interrupted'))
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return {
    signal: interrupt.signal,
    stop: () => {
      for (const name of SIGNALS) process.removeListener(name, onSignal)
    },
  }
}
