import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../../adapters/kubernetes/connection.ts'
import type { ExecProcess, ExecTarget } from '../../adapters/kubernetes/exec.ts'
import { READY_FILE, RUN_PATH } from '../../constructs/mirror/names.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { isTransientForPod } from '../retry-transient.ts'
import { announceEnd, withAnnouncedEnd } from '../session/announced-end.ts'
import type { Polling } from '../session/polling.ts'
import type { Supervisor } from '../session/supervisor.ts'
import { endedContainer, killedForMemory } from './ended-container.ts'
import { CLEAR_EARLIER, endRuns, execVariable, runVariables } from './marked-processes.ts'
import type { RemoteTerminal } from './remote-terminal.ts'

/**
 * Delay before a command whose connection was lost is run again, in milliseconds: the initial and the maximum delay.
 */
const AGAIN = 500
const AGAIN_LAST = 10_000

export interface RunningCommand {
  readonly access: KubeconfigAccess
  readonly cluster: Pick<Cluster, 'get'>
  readonly namespace: string
  /** Name of the development container. */
  readonly dev: string
  readonly container: string
  readonly command: readonly string[]
  /** Folder in which the command runs; undefined for the working directory of the container. */
  readonly workdir?: string | undefined
  readonly polling: Polling
  /** Identifier of the session. The name of each run consists of this identifier and a number. */
  readonly id: string
  /** Aborted when the user ends the session while the container keeps running. */
  readonly interrupted: AbortSignal
}

/** Callbacks for the restarts and the messages of a running command. */
export interface RunCommandOptions {
  /** Called at the start of each run. The returned signal is aborted to end this run and start another one. */
  restart(): AbortSignal
  /** Called with the reason why the command is run again, or was killed. */
  again(reason: string): void
}

/**
 * Runs the command in the synchronized Pod. Runs it again if the connection is lost, the Pod is replaced, or a restart
 * is requested. Returns its exit status; throws permanent errors and the signal's abort reason. If the user interrupts
 * the command, also ends it in the container.
 */
export async function runCommand(
  supervisor: Supervisor,
  running: RunningCommand,
  terminal: RemoteTerminal,
  wishes: RunCommandOptions,
  signal: AbortSignal,
): Promise<number> {
  let isTold = false
  let failures = 0
  const tell = (reason: string) => {
    // Report a container that is not ready only once.
    if (!isTold) wishes.again(waitingFor(reason, running))
    isTold = true
  }
  for (let run = 1; ; run++) {
    const ready = await supervisor.untilReady(signal)
    const { pod, lost } = ready
    const restart = wishes.restart()
    try {
      const target = execTarget(running, pod, terminal, { run: `${running.id}-${run}` })
      const remote = await openCommand(running.access, target, AbortSignal.any([signal, lost, restart]))
      isTold = false
      failures = 0
      const status = await terminal.attach(remote)
      const leaving = await supervisor.leaveEnding(ready, signal)
      // The agent ends with the Pod, and its lost connection is the first sign.
      const podEnd = () => supervisor.endOf(pod) ?? (lost.aborted ? messageOf(lost.reason) : undefined)
      const ended = leaving ?? (await endedContainer({ ...running, pod }, status, podEnd, signal))
      // A container also ends with its Pod; the cluster may have reported the reason in the meantime.
      const reason = leaving ?? (ended && (supervisor.endOf(pod) ?? ended))
      if (reason === undefined) {
        const killed = await killedForMemory({ ...running, pod }, status, signal)
        if (killed !== undefined) wishes.again(killed)
        return status
      }
      tell(reason)
    } catch (error) {
      if (running.interrupted.aborted) await endRuns({ ...running, pod })
      signal.throwIfAborted()
      if (restart.aborted && !lost.aborted) {
        wishes.again(startsAgain(running.command))
        continue
      }
      // Otherwise, the command could not be started.
      if (!lost.aborted && !isTransientForPod(error)) throw error
      failures++
      tell(supervisor.endOf(pod) ?? messageOf(lost.aborted ? lost.reason : error))
    }
    const stopIgnoring = terminal.ignoreKeys()
    try {
      await pause(Math.min(AGAIN * 2 ** Math.max(0, failures - 1), AGAIN_LAST), signal)
      await supervisor.untilReady(signal)
    } finally {
      stopIgnoring()
    }
  }
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : 'the connection was lost')

/** Returns the message that a command starts again. Shows the command without the shell that wraps it. */
export const startsAgain = (command: readonly string[]): string =>
  `\`${(command[0] === 'sh' && command[1] === '-c' ? command.slice(2) : command).join(' ')}\` starts again`

const waitingFor = (reason: string, { dev }: RunningCommand): string =>
  `${reason}; the command runs again as soon as ${dev} is connected`

/**
 * Script that waits until the initial files have arrived. The container starts at the same time as the agent, which
 * synchronizes the files.
 */
export const UNTIL_READY = `while [ -d ${RUN_PATH} ] && [ ! -e ${READY_FILE} ]; do ${TOOL} sleep 0.1; done; `

/** Script that changes to the folder `$1` and removes it from the arguments. */
export const inFolder = `cd "$1" 2>/dev/null || { echo "the folder $1 does not exist in the container" >&2; exit 1; }; shift`

/** Names that mark the processes of a command, so that they can be found in its container. */
export interface Marks {
  /**
   * Name of the run that the command belongs to. Processes that other runs of the session have left are ended first.
   */
  readonly run?: string
  readonly exec?: string
}

/**
 * Returns the exec target of a command, with the terminal's type and the variables that mark its processes. If the
 * program does not exist or is not executable, the exit status is 127 or 126, as in a shell.
 */
export function execTarget(
  {
    namespace,
    container,
    command,
    workdir,
    polling,
  }: Pick<RunningCommand, 'namespace' | 'container' | 'command' | 'workdir' | 'polling'>,
  pod: KubeObject,
  { size, type }: Pick<RemoteTerminal, 'size' | 'type'>,
  { run, exec }: Marks = {},
): ExecTarget {
  const variables = [
    ...(exec === undefined ? [] : [execVariable(exec)]),
    ...(run === undefined ? [] : runVariables(run)),
    ...(size && type ? [`TERM=${type}`] : []),
    ...polling.variables,
  ]
  const cleared = run === undefined ? '' : CLEAR_EARLIER
  // The shell keeps running without a terminal: unread output would be lost when the command closes its output.
  const script = `${cleared}${UNTIL_READY}${inFolder}; ${size ? 'exec "$@"' : `"$@"; ${announceEnd(TOOL)}`}`
  return {
    pod: pod.metadata.name,
    namespace,
    container,
    command: [TOOL, 'env', ...variables, TOOL, 'sh', '-c', script, 'sh', workdir ?? '.', ...command],
    stdin: true,
    ...(size && { tty: size }),
  }
}

/** Runs a command prepared by `execTarget`. Rejects as `openExec` does. */
export async function openCommand(
  access: KubeconfigAccess,
  target: ExecTarget,
  signal: AbortSignal,
): Promise<ExecProcess> {
  const { openExec } = await import('../../adapters/kubernetes/exec.ts')
  const remote = await openExec(access, target, { signal })
  return target.tty ? remote : withAnnouncedEnd(remote)
}
