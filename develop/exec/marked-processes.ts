import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { type OneCommand, runOnce } from './run-once.ts'

/** The variables that mark the processes of a session's command, and those of one `exec`: by them they are found. */
const RUN = 'DEVCTL_SESSION'
const EXEC = 'DEVCTL_EXEC'

/** Marks what a command starts as of this run. */
export const runVariable = (run: string): string => `${RUN}=${run}`

/** Marks what a command starts as of this `exec`. */
export const execVariable = (id: string): string => `${EXEC}=${id}`

/**
 * A script that ends processes of the container that have a variable: first by HUP, which ends an interactive shell,
 * and TERM; 3 seconds later by KILL. `which` selects the lines `NAME=value` that it goes by.
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
 * Script with a function `end_older` that ends the processes that runs other than `$1` have left in the container, in
 * this session and in earlier ones: Kubernetes does not end a process whose connection is lost.
 */
export const END_OLDER_RUNS = ending('older', RUN, 'v')

/** Milliseconds for ending processes in the container; what cannot be reached is left. */
const ENDING = 5000

/** Ends what the session runs in the container; what cannot be reached is ended by the next session. */
export const endRuns = (at: Omit<OneCommand, 'command'>): Promise<void> => end(at, `${END_OLDER_RUNS}end_older none`)

/** Ends what an `exec` has left in the container, where that can be reached. */
export const endExec = (at: Omit<OneCommand, 'command'>, id: string): Promise<void> =>
  end(at, `${ending('own', EXEC, '')}end_own ${id}`)

async function end(at: Omit<OneCommand, 'command'>, script: string): Promise<void> {
  try {
    await runOnce({ ...at, command: [TOOL, 'sh', '-c', script] }, withTimeLimit(ENDING))
  } catch {
    // The command that is left for ends in any case.
  }
}
