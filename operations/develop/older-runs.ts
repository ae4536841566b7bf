import { TOOL } from '../../constructs/mirror/scripts.ts'

/** The variable that marks the processes of a run, so that those of older runs are found. */
const RUN = 'DEVCTL_SESSION'

/** Marks what a command starts as of this run. */
export const runVariable = (run: string): string => `${RUN}=${run}`

/**
 * A script that ends what runs other than `$1` have left in the container, this session's and
 * earlier ones': Kubernetes does not end a process whose connection is gone. First by HUP,
 * which ends an interactive shell, and TERM; 3 seconds later by KILL.
 */
export const END_OLDER_RUNS = `
b=${TOOL}
old() {
  for one in /proc/[0-9]*; do
    "$b" tr '\\0' '\\n' 2>/dev/null < "$one/environ" | "$b" grep '^${RUN}=' | "$b" grep -qvxF "${RUN}=$1" && echo "\${one#/proc/}"
  done
}
end_older() {
  found=$(old "$1")
  [ -n "$found" ] || return 0
  kill -HUP $found 2>/dev/null; kill -TERM $found 2>/dev/null
  for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "$b" sleep 0.2; found=$(old "$1"); [ -n "$found" ] || return 0; done
  kill -KILL $found 2>/dev/null
  return 0
}
`
