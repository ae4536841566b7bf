import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { announceEnd } from '../session/announced-end.ts'

/** Options for running a program. */
export interface FrontRun {
  readonly stdin: boolean
  readonly tty?: { readonly columns: number; readonly rows: number }
}

/** The development container, as seen by the code that runs programs in it. */
export interface FrontContainer {
  /** Path of a static busybox in the container, because the image may contain no programs at all. */
  readonly tool: string
  /** Initial folder, as for `exec`. If absent, programs start in the working directory of the container. */
  readonly workdir?: string | undefined
  /** Folder in the container for the sockets of the SSH agent. If absent, agent forwarding is not available. */
  readonly shared?: string
  /** Returns the variables for all shells and commands as `NAME=value`. */
  readonly variables?: () => readonly string[]
  /**
   * Runs a program as soon as the container is connected. Rejects with a ClusterError or with the signal's abort
   * reason; aborting the signal also ends the connection.
   */
  run(command: readonly string[], options: FrontRun, signal: AbortSignal): Promise<ExecProcess>
}

/** Variable that marks the processes of an SSH session. */
const SESSION = 'DEVCTL_SSH'

/**
 * Script that starts every session. If the home folder is not writable, the script sets another one, because IDEs
 * install their servers in the home folder.
 */
const BEGIN = `\
b=$0
if ! [ -w "\${HOME:-/}" ] && "$b" mkdir -p /tmp/devctl-home 2>/dev/null; then export HOME=/tmp/devctl-home; fi
[ -z "$1" ] || cd "$1" 2>/dev/null || cd "\${HOME:-/}" 2>/dev/null || cd /
`

/**
 * Script that starts the user's preferred shell, or runs a command with it. Without a terminal, the script's own shell
 * keeps running, and announces the end of the command. If this shell ended, Kubernetes would end the input early when
 * no process has the output open any more, as in `exec cat >file`.
 */
const SHELL = `${BEGIN}
for shell in "$SHELL" /bin/bash /usr/bin/bash /bin/sh; do
  [ -x "$shell" ] && break
  shell=
done
if [ -n "$shell" ]; then export SHELL="$shell"; set -- "$shell" \${2+-c "$2"}; else set -- "$b" sh \${2+-c "$2"}; fi
[ -t 0 ] && exec "$@"
"$@"
${announceEnd('"$b"')}
`

/** Script that runs the commands from its input; used for SFTP. */
const COMMANDS = `${BEGIN}
export b
exec "$b" sh
`

/**
 * Script that sends a signal to the initial process of a session and to its process group. Recognizes the initial
 * process by the parent ID 0, because the parent is outside the container.
 */
const SIGNAL = `
b=$0
for process in /proc/[0-9]*; do
  "$b" tr '\\0' '\\n' <"$process/environ" 2>/dev/null | "$b" grep -qx "${SESSION}=$1" || continue
  [ "$("$b" sed 's/^.*) //' "$process/stat" 2>/dev/null | "$b" cut -d' ' -f2)" = 0 ] || continue
  id=\${process#/proc/}
  kill -s "$2" -- "-$id" 2>/dev/null || kill -s "$2" "$id" 2>/dev/null
done
exit 0
`

/** Returns the command for an interactive shell, or for a command line that the shell runs. */
export function shellCommand(
  { tool, workdir = '', variables: common = () => [] }: FrontContainer,
  session: string,
  variables: readonly string[],
  line: string | undefined,
): readonly string[] {
  const words = [tool, 'sh', '-c', SHELL, tool, workdir, ...(line === undefined ? [] : [line])]
  return [tool, 'env', `${SESSION}=${session}`, ...common(), ...variables, ...words]
}

/** Returns the command for a shell that reads commands from its input; in these commands, `$b` is busybox. */
export function commandsShell({ tool, workdir = '' }: FrontContainer): readonly string[] {
  return [tool, 'sh', '-c', COMMANDS, tool, workdir]
}

/** Returns the command that sends a signal, such as `HUP`, to the processes of a session. */
export function signalCommand({ tool }: FrontContainer, session: string, signal: string): readonly string[] {
  return [tool, 'sh', '-c', SIGNAL, tool, session, signal]
}
