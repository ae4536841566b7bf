import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { type OneCommand, runOnce } from './run-once.ts'

/**
 * Name of the variable that marks the processes of a session's command. `EXEC` is the name for the processes of an
 * `exec`.
 */
const RUN = 'DEVCTL_SESSION'
const EXEC = 'DEVCTL_EXEC'

/** Returns the variable that marks the processes of an `exec`. */
export const execVariable = (id: string): string => `${EXEC}=${id}`

/**
 * Returns a script with a function `end_NAME`, which ends processes in the container. The function selects them by the
 * value of `variable` in their environment; `which` is the `grep` option for the comparison of `NAME=value` lines with
 * the argument of the function. The function sends HUP, which ends an interactive shell, and TERM, and after 3 seconds
 * KILL.
 */
const ending = (name: string, variable: string, which: string): string => `
b=${TOOL}
found_${name}() {
  for one in /proc/[0-9]*; do
    "$b" tr '\\0' '\\n' 2>/dev/null < "$one/environ" | "$b" grep '^${variable}=' | "$b" grep -q${which}xF "${variable}=$1" && echo "\${one#/proc/}"
  done
}
end_${name}() {
  found=$(found_${name} "$1")
  [ -n "$found" ] || return 0
  kill -HUP $found 2>/dev/null; kill -TERM $found 2>/dev/null
  for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "$b" sleep 0.2; found=$(found_${name} "$1"); [ -n "$found" ] || return 0; done
  kill -KILL $found 2>/dev/null
  return 0
}
`

/**
 * Script with a function `end_older`, which ends the processes in the container that belong to any run other than `$1`,
 * in this session or an earlier one. Kubernetes does not end a process whose connection is lost.
 */
const END_OLDER_RUNS = ending('older', RUN, 'v')

/** Name of the variable with the script that runs before a command and ends the processes of earlier runs. */
const CLEAR = 'DEVCTL_CLEAR'

/** Returns the variables of a run: its mark, and the script for `CLEAR_EARLIER`. */
export const runVariables = (run: string): readonly string[] => [
  `${RUN}=${run}`,
  // Passed in a variable, because as an argument it would clutter the process list.
  `${CLEAR}=${END_OLDER_RUNS}end_older ${run}`,
]

/** Script that ends the processes of earlier runs before a command starts. It needs the variables of the run. */
export const CLEAR_EARLIER = `eval "$${CLEAR}"; unset ${CLEAR}; `

/**
 * Timeout for ending processes in the container, in milliseconds; processes that cannot be reached are left running.
 */
const ENDING = 5000

/**
 * Ends the processes of the session in the container. If the container cannot be reached, the next session ends them.
 */
export const endRuns = (at: Omit<OneCommand, 'command'>): Promise<void> => end(at, `${END_OLDER_RUNS}end_older none`)

/** Ends the processes that an `exec` has left in the container, if the container can be reached. */
export const endExec = (at: Omit<OneCommand, 'command'>, id: string): Promise<void> =>
  end(at, `${ending('own', EXEC, '')}end_own ${id}`)

async function end(at: Omit<OneCommand, 'command'>, script: string): Promise<void> {
  try {
    await runOnce({ ...at, command: [TOOL, 'sh', '-c', script] }, withTimeLimit(ENDING))
  } catch {
    // Best effort: the command that called this ends in any case.
  }
}
