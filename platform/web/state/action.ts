import { useSignal } from '@preact/signals'
import { type Failure, toProblem, withHint } from './problem.ts'
import { noticeOf } from './session.ts'

export interface Action<A extends readonly unknown[]> {
  readonly isRunning: boolean
  /** Problem of the last call. */
  readonly problem: Failure | undefined
  /** Runs the action. Returns true if it succeeded. */
  run(...input: A): Promise<boolean>
  clear(): void
}

/**
 * Hint for a request that got no response. The change may have reached the platform, so the request is not sent again
 * automatically.
 */
const HINT = 'The request may have arrived. Check before you try again.'

/** Returns an action that a user can start, one run at a time, with the problem of the last run. */
export function useAction<A extends readonly unknown[]>(work: (...input: A) => Promise<unknown>): Action<A> {
  const isRunning = useSignal(false)
  const problem = useSignal<Failure | undefined>(undefined)
  return {
    isRunning: isRunning.value,
    // After `await run()`, a handler reads the problem of that run, and not that of the last rendering.
    get problem() {
      return problem.value
    },
    async run(...input) {
      if (isRunning.peek()) return false
      isRunning.value = true
      problem.value = undefined
      try {
        await work(...input)
        return true
      } catch (error) {
        problem.value = withHint(toProblem(error), HINT)
        noticeOf(problem.value)
        return false
      } finally {
        isRunning.value = false
      }
    },
    clear: () => {
      problem.value = undefined
    },
  }
}
