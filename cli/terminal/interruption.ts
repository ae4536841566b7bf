import { once } from 'node:events'
import { basename } from 'node:path'
import { INTERRUPTED } from './exit-status.ts'

/**
 * Time within which two signals count as a single press of Ctrl-C, in milliseconds: `npx` forwards the signal, although
 * the terminal has already sent it to every process.
 */
const ONE_PRESS = 500

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Abort reason for running work when the process is asked to end. */
class Interrupted extends Error {}

/**
 * Aborts `signal` with `Interrupted` on Ctrl-C, on SIGTERM, and when the terminal is closed, so that running work can
 * end cleanly. A second signal ends the process at once, because a user who asks twice does not want to wait. A closed
 * terminal counts once, however many signals arrive, because the kernel and the shell both send SIGHUP. `stop` removes
 * the signal handlers.
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
 * Asks the user. If a signal asks the process to end, a pending question does not notice, so the abort signal that
 * `ask` receives is aborted. While a question reads single keys, the terminal sends no signal for Ctrl-C. `ask` then
 * calls `onLeave`, and this function sends a SIGINT to the process for its other listeners.
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
      // Listeners that were added earlier receive the signal first.
      await once(interrupted.signal, 'abort')
    }
    return answer
  } finally {
    for (const name of SIGNALS) process.removeListener(name, end)
    // The signal has no other listener, so it ends the process as usual.
    if (got && !isHeard) process.kill(process.pid, got)
  }
}

/**
 * True for a process that `nohup` has started. Node resets an ignored SIGHUP at startup without any indication, so the
 * only sign left is the variable in which shells store the name of the program that they start.
 */
const isWithoutHangup = (env: Readonly<Record<string, string | undefined>>): boolean =>
  basename(env['_'] ?? '') === 'nohup'
