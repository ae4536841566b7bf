import { once } from 'node:events'
import { basename } from 'node:path'
import { INTERRUPTED } from './exit-status.ts'

/**
 * Milliseconds in which two signals are one press of Ctrl-C: `npx` hands on what the terminal has sent to all of its
 * processes anyway.
 */
const ONE_PRESS = 500

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Thrown into what runs when the process is asked to end. */
class Interrupted extends Error {}

/**
 * Aborts `signal` with `Interrupted` at Ctrl-C, at SIGTERM, and when the terminal is closed, so that running work can
 * end cleanly. A second signal ends the process at once: a user who asks twice does not want to wait. A closed terminal
 * counts once, however many signals arrive: the kernel and the shell both send SIGHUP. `stop` removes the signal
 * handlers.
 */
export function watchForInterruption(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const interrupt = new AbortController()
  let since: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    if (name === 'SIGHUP' && isWithoutHangup(process.env)) return
    if (interrupt.signal.aborted && name !== 'SIGHUP' && performance.now() - since! > ONE_PRESS)
      process.exit(INTERRUPTED)
    since ??= performance.now()
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

/**
 * Asks the user, and aborts the signal of `ask` when a signal ends the process: a pending question would not notice it.
 * While a question reads the keys, the terminal sends no signal for Ctrl-C, so `ask` calls `onLeave`, and other
 * listeners get a SIGINT.
 */
export async function askUntilInterrupted<Answer>(
  ask: (signal: AbortSignal, onLeave: () => void) => Promise<Answer>,
): Promise<Answer> {
  const interrupted = new AbortController()
  const isHeard = process.listenerCount('SIGINT') > 0
  let got: NodeJS.Signals | undefined
  let isLeft = false
  const end = (name: NodeJS.Signals) => {
    got = name
    interrupted.abort()
  }
  for (const name of SIGNALS) process.on(name, end)
  try {
    const answer = await ask(interrupted.signal, () => {
      isLeft = true
    })
    if (isLeft && isHeard && !got) {
      process.kill(process.pid, 'SIGINT')
      // Earlier listeners hear of it first.
      await once(interrupted.signal, 'abort')
    }
    return answer
  } finally {
    for (const name of SIGNALS) process.removeListener(name, end)
    // The signal had no other listener, and ends the process as it would have.
    if (got && !isHeard) process.kill(process.pid, got)
  }
}

/**
 * True for a process that `nohup` has started. Node takes SIGHUP back that was ignored when it
 * started, and does not say so: what is left is the variable in which shells name what they start.
 */
const isWithoutHangup = (env: Readonly<Record<string, string | undefined>>): boolean =>
  basename(env['_'] ?? '') === 'nohup'
