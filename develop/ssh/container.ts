import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { announceEnd } from '../session/announced-end.ts'

/** Options for running a program. */
export interface FrontRun {
  readonly stdin: boolean
  readonly tty?: { readonly columns: number; readonly rows: number }
}

/** The development container, for those who run programs in it. */
export interface FrontContainer {
  /** The path of a static busybox in it: the image may have no program at all. */
  readonly tool: string
  /** The folder to begin in, as `exec` does; absent: the working directory of the container. */
  readonly workdir?: string | undefined
  /** The folder in it with the sockets of the agent; absent: none. */
  readonly shared?: string
  /** Variables for all shells and commands: `NAME=value`. */
  readonly variables?: () => readonly string[]
  /**
   * Runs a program as soon as the container is connected. Rejects with a ClusterError, or the reason
   * of the signal, which also ends the connection.
   */
  run(command: readonly string[], options: FrontRun, signal: AbortSignal): Promise<ExecProcess>
}

/** Marks the processes of an SSH session. */
const SESSION = 'DEVCTL_SSH'

/** Script that every session begins with. Replaces a home that is not writable: IDEs install their servers there. */
const BEGIN = `\
b=$0
if ! [ -w "\${HOME:-/}" ] && "$b" mkdir -p /tmp/devctl-home 2>/dev/null; then export HOME=/tmp/devctl-home; fi
[ -z "$1" ] || cd "$1" 2>/dev/null || cd "\${HOME:-/}" 2>/dev/null || cd /
`

/**
 * Runs a command with the shell that the user would have, or that shell itself. Without a terminal this shell stays:
 * when no process has the output open any more, as in `exec cat >file`, Kubernetes ends the input early. It announces
 * the end of the command.
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

/** Runs the commands on its input; those of SFTP. */
const COMMANDS = `${BEGIN}
export b
exec "$b" sh
`

/**
 * Sends a signal to the process that a session has begun with, and to its group. Its parent is
 * outside of the container, so it is 0.
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

/** The command for a shell, or for a line that it runs. */
export function shellCommand(
  { tool, workdir = '', variables: common = () => [] }: FrontContainer,
  session: string,
  variables: readonly string[],
  line: string | undefined,
): readonly string[] {
  const words = [tool, 'sh', '-c', SHELL, tool, workdir, ...(line === undefined ? [] : [line])]
  return [tool, 'env', `${SESSION}=${session}`, ...common(), ...variables, ...words]
}

/** The command for a shell that reads its commands from its input; `$b` is busybox in them. */
export function commandsShell({ tool, workdir = '' }: FrontContainer): readonly string[] {
  return [tool, 'sh', '-c', COMMANDS, tool, workdir]
}

/** The command that sends a signal, as `HUP`, to the processes of a session. */
export function signalCommand({ tool }: FrontContainer, session: string, signal: string): readonly string[] {
  return [tool, 'sh', '-c', SIGNAL, tool, session, signal]
}
