import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Masker } from '../../compiler/values/secrets/masker.ts'
import { statIfFound } from '../files/stat-if-found.ts'
import { readOutput } from './output-lines.ts'
import { ProcessGroup } from './process-group.ts'

export interface ShellOptions {
  /** Absolute path of the folder to run in. */
  readonly folder: string
  /** Positional parameters of the script, `"$@"`; the shell never interprets them as code. */
  readonly args?: readonly string[]
  /** Full environment of the shell. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** True to use `sh` instead of bash. */
  readonly noBash: boolean
  readonly masker: Masker
  readonly colours: boolean
  readonly signal: AbortSignal | undefined
  /** Time between SIGTERM and SIGKILL, in milliseconds. */
  readonly grace: number
  /**
   * Time to wait for more output, in milliseconds, if a background process keeps the output open after the shell has
   * ended.
   */
  readonly drain: number
  /** Called with each line of output. Reading pauses until the returned promise resolves. */
  readonly line: (stream: 'stdout' | 'stderr', text: string) => unknown
}

export interface Ended {
  /** Exit code; null if a signal ended the shell. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Processes still running in the background, whose output continues to arrive. Undefined if there are none. */
  readonly background: Background | undefined
}

export interface Background {
  /** Ends the processes and their output. */
  end(): Promise<void>
}

/**
 * Runs a script in a separate shell, without input, as a new process group. Rejects with the signal's abort reason,
 * after the full group has ended; with a UserError if the shell or the folder does not exist; or with the error that
 * `line` throws.
 */
export async function runShell(text: string, options: ShellOptions): Promise<Ended> {
  const { signal, grace, drain } = options
  signal?.throwIfAborted()
  const child = await start(text, options)
  const group = new ProcessGroup(child.pid!)
  const output = new Output(child, options)
  const end = async () => {
    await group.end(grace)
    // Waits for the group's last output. After that, only a daemon can keep the output open.
    await output.isOver(drain, () => false).catch(() => {})
    await output.stop()
  }
  try {
    const status = await untilAborted(Promise.race([exit(child), output.end.then(() => exit(child))]), signal)
    const isOver = await untilAborted(
      output.isOver(drain, () => group.isAlive),
      signal,
    )
    group.settle()
    const isAlone = isOver && !group.isAlive
    return { ...status, background: isAlone ? undefined : { end } }
  } catch (error) {
    await end()
    throw error
  }
}

async function start(text: string, { folder, args = [], env, noBash }: ShellOptions): Promise<ChildProcess> {
  // Node reports ENOENT for a missing folder and for a missing program.
  if (!statIfFound(folder)?.isDirectory())
    throw new UserError(`the folder \`${folder}\` to run commands in does not exist`)
  const shell = noBash ? 'sh' : 'bash'
  try {
    const child = spawn(shell, ['-c', text, shell, ...args], {
      cwd: folder,
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await once(child, 'spawn')
    return child
  } catch (error) {
    // Node throws some errors, such as E2BIG, and emits others, such as ENOENT.
    throw startFailure(shell, error as NodeJS.ErrnoException)
  }
}

function startFailure(shell: 'sh' | 'bash', cause: NodeJS.ErrnoException): UserError {
  if (cause.code === 'ENOENT')
    return new UserError(`\`${shell}\` is needed to run the commands of the manifest, and is not on the PATH`, {
      hint: shell === 'sh' ? 'install a shell' : 'install bash, or run them with `sh`: `--no-bash`',
      cause,
    })
  if (cause.code === 'E2BIG')
    return new UserError('the command and its environment are too long for this system', {
      hint: 'pass large values in files',
      cause,
    })
  return new UserError(`\`${shell}\` cannot be started: ${cause.message}`, { cause })
}

function exit(child: ChildProcess): Promise<Pick<Ended, 'exitCode' | 'signal'>> {
  return new Promise(resolve => {
    const done = () => resolve({ exitCode: child.exitCode, signal: child.signalCode })
    if (child.exitCode !== null || child.signalCode !== null) done()
    else child.once('exit', done)
  })
}

/** Maximum number of waits of `drain` milliseconds for a process outside the group that prints without pause. */
const DRAIN_ROUNDS = 20

/** The output of a command on both streams, passed on line by line. */
class Output {
  /** Resolves when both streams have ended, whichever process holds them; rejects with the error that `line` throws. */
  readonly end: Promise<unknown>
  readonly #streams: readonly Readable[]
  #lines = 0
  #taking = 0

  constructor({ stdout, stderr }: ChildProcess, options: ShellOptions) {
    // Both streams are pipes.
    this.#streams = [stdout!, stderr!]
    this.end = Promise.all([this.#read('stdout', stdout!, options), this.#read('stderr', stderr!, options)])
    // The error is passed to callers that wait for the promise.
    this.end.catch(() => {})
  }

  /**
   * Waits for the remaining output after the program has ended. Returns true if all output was passed on. Returns false
   * if no output has arrived for `drain` milliseconds, if output still arrives after `DRAIN_ROUNDS` such periods, or if
   * `isMore` returns true because processes that may print more are left.
   */
  async isOver(drain: number, isMore: () => boolean): Promise<boolean> {
    for (let round = 0; ; round++) {
      const before = this.#lines
      const isRead = await Promise.race([this.end.then(() => true), sleep(drain, false, { ref: false })])
      if (isRead || isMore()) return isRead
      if (this.#taking === 0 && (this.#lines === before || round >= DRAIN_ROUNDS)) return false
    }
  }

  /** Stops reading both streams, and waits until reading has ended. */
  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.destroy()
    await this.end.catch(() => {})
  }

  async #read(name: 'stdout' | 'stderr', stream: Readable, options: ShellOptions): Promise<void> {
    try {
      for await (const line of readOutput(stream, options)) {
        this.#taking++
        await options.line(name, line)
        this.#taking--
        this.#lines++
      }
    } catch (error) {
      // Caused by `stop`: the caller waits for no more output.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    }
  }
}

/** Returns the value of the promise, or rejects with the signal's abort reason. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
