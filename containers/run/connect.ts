import { Readable } from 'node:stream'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { LeftError } from '../../compiler/diagnostics/user-error.ts'
import type { AttachedTerminal } from '../exec/exec-service.ts'
import { type Connect, InputError, type RunningContainer } from './follow-run.ts'
import { IgnoredInterrupts } from './ignored-interrupts.ts'
import { joinOutput } from './join-output.ts'
import type { RunContext } from './run-context.ts'

/** Maximum time in milliseconds, after a container has ended, until its status and its last output arrive. */
const LATE = 5000

/**
 * Returns a function that connects the streams of a run: its terminal or, without a terminal, its log and its input, if
 * any. The log contains all output from the start, so nothing is lost if the connection is late.
 */
export function connectTo(world: RunContext, container: string): Connect {
  const { terminal, input } = world
  if (terminal) return running => inTerminal(world, terminal, { ...running, container })
  return async running => {
    const own = { ...running, container }
    // A program without its input could wait for ever, and so its log would not end.
    await Promise.all([printLog(world, own), input && feed(world, own)])
  }
}

async function printLog(world: RunContext, running: Running): Promise<void> {
  for await (const part of logOf(world, running, true)) await world.write(part)
}

interface Running extends RunningContainer {
  readonly container: string
}

const logOf = ({ session }: RunContext, { pod, container, signal }: Running, follow: boolean) =>
  session.cluster.logBytes({ name: pod, namespace: session.namespace }, { container, follow, signal })

/**
 * Passes the input to the container until the input or the container ends. Throws an InputError if the container cannot
 * be reached.
 */
async function feed({ session, input }: RunContext, running: Running): Promise<void> {
  const { access, namespace } = session
  const { pod, container, signal, over } = running
  const { openAttach } = await import('../../adapters/kubernetes/exec.ts')
  const target = { pod, namespace, container, stdin: true }
  let remote: ExecProcess | undefined
  try {
    remote = await openAttach(access, target, { signal })
    const { stdin, exit, endsInput } = remote
    const end = () => remote?.destroy()
    over.addEventListener('abort', end)
    if (over.aborted) end()
    // Without a way to close the input, the end of the connection closes it.
    if (!endsInput) stdin.once('finish', end)
    input!.pipe(stdin)
    // The log has the output, but containerd closes a connection without one.
    remote.stdout.resume()
    remote.stderr.resume()
    await exit
  } catch (error) {
    // The end of the connection is the end of the program, or of the input.
    const isClosed = remote?.stdin.writableFinished ?? false
    if (!isClosed && !(await isOver(over))) throw new InputError('no input', { cause: error })
  } finally {
    if (remote) input!.unpipe(remote.stdin)
    input!.pause()
    remote?.destroy()
  }
}

/**
 * Warning for the terminal of a run. Contains carriage returns, because the terminal is in raw mode and does not add
 * them.
 */
const IGNORES = '\r\ndevctl: the program ignores Ctrl-C; press it once more to end the run\r\n'

/** Connects a terminal until the container has ended. Throws an InputError if the container cannot be reached. */
async function inTerminal(world: RunContext, terminal: AttachedTerminal, running: Running): Promise<void> {
  const { access, namespace } = world.session
  const { pod, container, signal, over } = running
  const { openAttach } = await import('../../adapters/kubernetes/exec.ts')
  const target = { pod, namespace, container, stdin: true, tty: terminal.size! }
  const readLog = async (): Promise<string> => {
    const parts: Uint8Array[] = []
    for await (const part of logOf(world, running, false)) parts.push(part)
    return Buffer.concat(parts).toString('utf8').replaceAll(/\r+\n/g, '\n')
  }
  let remote: ExecProcess
  try {
    remote = await openAttach(access, target, { signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || !(await isOver(over))) throw new InputError('no terminal', { cause: error })
    for await (const part of logOf(world, running, false)) await world.write(part)
    return
  }
  const end = () => setTimeout(remote.destroy.bind(remote), LATE).unref()
  over.addEventListener('abort', end)
  let isLeft = false
  const interrupts = new IgnoredInterrupts({
    now: () => performance.now(),
    warn: () => void world.write(Buffer.from(IGNORES)),
    end() {
      isLeft = true
      remote.destroy()
    },
  })
  remote.stdout.on('data', (part: Buffer) => interrupts.printed(part))
  try {
    const quiet = `connected to pod/${pod}: press Enter if no prompt appears`
    const stdout = joinOutput(remote.stdout, readLog, { quiet, signal, untilOver: () => isOver(over) })
    const exit = remote.exit.catch(async error => {
      // A connection to a container that has just ended fails; its output is in the log.
      if (!isLeft && (await isOver(over))) return 0
      throw error
    })
    await terminal.attach({ ...forwarded(remote), stdin: interrupts.keysTo(remote.stdin), stdout, exit })
  } catch (error) {
    throw new InputError('no terminal', { cause: isLeft ? new LeftError('interrupted') : error })
  }
}

/**
 * Returns the parts of a process that need no change, bound to the process. `stderr` is empty, because a terminal has
 * only one output.
 */
const forwarded = (remote: ExecProcess): Omit<ExecProcess, 'stdout' | 'exit'> => ({
  stdin: remote.stdin,
  // A terminal has one output only, and the errors of the connection come from `exit`.
  stderr: Readable.from([]),
  endsInput: remote.endsInput,
  resize: (columns, rows) => remote.resize(columns, rows),
  destroy: () => remote.destroy(),
})

/** Returns true if the container has ended, or if its end is reported within the next few seconds. */
async function isOver(over: AbortSignal): Promise<boolean> {
  if (over.aborted) return true
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(over.aborted), LATE)
    over.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
