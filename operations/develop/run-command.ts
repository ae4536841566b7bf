import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../../adapters/kubernetes/connection.ts'
import type { ExecTarget } from '../../adapters/kubernetes/exec.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { READY_FILE, RUN_PATH } from '../../constructs/mirror/names.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import type { Polling } from './polling.ts'
import type { RemoteTerminal } from './remote-terminal.ts'
import type { Supervisor } from './supervisor.ts'

/** Milliseconds before a command that was cut off is run again. */
const AGAIN = 500

/** The variable that marks the processes of a run, so that those of older runs are found. */
const RUN = 'DEVCTL_SESSION'

export interface RunningCommand {
  readonly access: KubeconfigAccess
  readonly namespace: string
  /** The name of the development container. */
  readonly dev: string
  readonly container: string
  readonly command: readonly string[]
  /** The folder in which it runs; undefined: that of the container. */
  readonly workdir?: string | undefined
  readonly polling: Polling
  /** Names the run. */
  readonly id: string
}

/** What a running command is asked for, and what it says. */
export interface RunWishes {
  /** Called with each run; the signal is aborted when it is to be ended and run again. */
  restart(): AbortSignal
  /** Hears why it is run again. */
  again(reason: string): void
}

/**
 * Runs the command in the Pod that is in sync; again after the connection was lost, and when that is
 * wished. Gives its exit status; throws what cannot pass by itself, and the reason of the signal.
 */
export async function runCommand(
  supervisor: Supervisor,
  running: RunningCommand,
  terminal: RemoteTerminal,
  wishes: RunWishes,
  signal: AbortSignal,
): Promise<number> {
  for (let run = 1; ; run++) {
    const ready = await supervisor.untilReady(signal)
    const { pod, lost } = ready
    const restart = wishes.restart()
    try {
      if (run > 1) await endOlderRuns(running, pod, signal)
      const { openExec } = await import('../../adapters/kubernetes/exec.ts')
      const remote = await openExec(running.access, execTarget(running, pod, terminal, `${running.id}-${run}`), {
        signal: AbortSignal.any([signal, lost, restart]),
      })
      const status = await terminal.attach(remote)
      if (!(await supervisor.leaveEnding(ready, signal))) return status
      wishes.again(waitingFor('its Pod has ended', running))
      await pause(AGAIN, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (restart.aborted && !lost.aborted) {
        wishes.again(`\`${running.command.join(' ')}\` starts again`)
        continue
      }
      if (!lost.aborted && !isCut(error)) throw error
      const reason = error instanceof ClusterError ? error.message : 'the connection was lost'
      wishes.again(waitingFor(reason, running))
      await pause(AGAIN, signal)
    }
  }
}

const waitingFor = (reason: string, { dev }: RunningCommand): string =>
  `${reason}; the command runs again as soon as ${dev} is connected`

const UNTIL_READY = `while [ -d ${RUN_PATH} ] && [ ! -e ${READY_FILE} ]; do ${TOOL} sleep 0.1; done; `

/** What is run in the container for a command: with the terminal's type, and marked with its run. */
export function execTarget(
  { namespace, container, command, workdir, polling }: Omit<RunningCommand, 'access' | 'id' | 'dev'>,
  pod: KubeObject,
  { size, type }: Pick<RemoteTerminal, 'size' | 'type'>,
  run?: string,
): ExecTarget {
  const variables = [
    ...(run === undefined ? [] : [`${RUN}=${run}`]),
    ...(size && type ? [`TERM=${type}`] : []),
    ...polling.variables,
  ]
  // Without a terminal a shell stays: what is still to be read is lost when the command closes its output.
  // Beside the agent the container runs before the first files have come.
  const script = `${UNTIL_READY}cd "$0" || exit 1; ${size ? 'exec "$@"' : '"$@"; exit $?'}`
  return {
    pod: pod.metadata.name,
    namespace,
    container,
    command: [TOOL, 'env', ...variables, TOOL, 'sh', '-c', script, workdir ?? '.', ...command],
    stdin: true,
    ...(size && { tty: size }),
  }
}

/**
 * Ends what earlier runs have left in the container: Kubernetes does not end a process whose
 * connection is gone. First by TERM, 3 seconds later by KILL.
 */
async function endOlderRuns(
  { access, namespace, container, id }: RunningCommand,
  pod: KubeObject,
  signal: AbortSignal,
) {
  const script = `
b=${TOOL}
old() {
  for one in /proc/[0-9]*; do
    "$b" tr '\\0' '\\n' < "$one/environ" 2>/dev/null | "$b" grep -q '^${RUN}=${id}-' && echo "\${one#/proc/}"
  done
}
found=$(old)
[ -n "$found" ] || exit 0
kill -TERM $found 2>/dev/null
for second in 1 2 3; do "$b" sleep 1; found=$(old); [ -n "$found" ] || exit 0; done
kill -KILL $found 2>/dev/null
exit 0
`
  const { openExec } = await import('../../adapters/kubernetes/exec.ts')
  const target = { pod: pod.metadata.name, namespace, container, command: [TOOL, 'sh', '-c', script], stdin: false }
  const remote = await openExec(access, target, { signal: withTimeLimit(10_000, signal) })
  remote.stdout.resume()
  remote.stderr.resume()
  await remote.exit
}

/** True if the connection broke, or the Pod has gone, rather than the command failed to start. */
const isCut = (error: unknown): boolean =>
  error instanceof ClusterError && ['unreachable', 'unavailable', 'not-found'].includes(error.failure)
