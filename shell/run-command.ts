import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Masker } from './mask.ts'
import { readOutput } from './output-lines.ts'
import { ProcessGroup } from './process-group.ts'

export interface ShellOptions {
  /** Absolute path of the folder to run in. */
  readonly folder: string
  /** All of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** `sh` in place of bash. */
  readonly noBash: boolean
  readonly masker: Masker
  readonly colours: boolean
  readonly signal: AbortSignal | undefined
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number
  /** Milliseconds that output may still come when the shell has ended and a background process holds it open. */
  readonly drain: number
  /** A line of output. Output is not read on until its promise is kept. */
  readonly line: (stream: 'stdout' | 'stderr', text: string) => unknown
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** What it left running in the background; its output still comes. Undefined when there is nothing. */
  readonly background: Background | undefined
}

export interface Background {
  /** Ends the processes, and their output. */
  end(): Promise<void>
}

/**
 * Runs one text in a shell of its own, without input, as a process group of its own. Rejects with the signal's reason when that is aborted,
 * after all of the group has ended; with a UserError when there is no shell or no folder; with what `line` throws.
 */
export async function runCommand(text: string, options: ShellOptions): Promise<Ended> {
  const { signal, grace, drain } = options
  signal?.throwIfAborted()
  const child = await start(text, options)
  const group = new ProcessGroup(child.pid!)
  const output = readBoth(child, options)
  let isEnding = false
  const end = async () => {
    isEnding = true
    await group.end(grace)
    // What they said last; after that only a daemon can hold it open.
    await Promise.race([output, sleep(drain, undefined, { ref: false })]).catch(() => {})
    child.stdout?.destroy()
    child.stderr?.destroy()
    await output.catch(() => {})
  }
  try {
    const status = await untilAborted(Promise.race([exit(child), output.then(() => exit(child))]), signal)
    // What it had printed is on its way. Whoever holds the output open for longer is in the background.
    const isRead = await untilAborted(
      Promise.race([output.then(() => true), sleep(drain, false, { ref: false })]),
      signal,
    )
    group.settle()
    const isAlone = isRead && !group.isAlive
    output.catch(() => {})
    return { ...status, background: isAlone ? undefined : { end } }
  } catch (error) {
    if (!isEnding) await end()
    throw error
  }
}

async function start(text: string, { folder, env, noBash }: ShellOptions): Promise<ChildProcess> {
  // Node says ENOENT for both, a folder and a program that are not there.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`there is no folder \`${folder}\` to run commands in`)
  const shell = noBash ? 'sh' : 'bash'
  const child = spawn(shell, ['-c', text], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', cause => {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT')
        reject(
          new UserError(`\`${shell}\` is needed to run the commands of the manifest, and is not on the PATH`, {
            hint: noBash ? 'install a shell' : 'install bash, or run them with `sh`: `--no-bash`',
            cause,
          }),
        )
      else if (code === 'E2BIG')
        reject(
          new UserError('the command and its environment are too long for this system', {
            hint: 'hand large values on in files',
            cause,
          }),
        )
      else reject(new UserError(`\`${shell}\` cannot be started: ${cause.message}`, { cause }))
    })
  })
  return child
}

function exit(child: ChildProcess): Promise<Pick<Ended, 'exitCode' | 'signal'>> {
  return new Promise(resolve => {
    const done = () => resolve({ exitCode: child.exitCode, signal: child.signalCode })
    if (child.exitCode !== null || child.signalCode !== null) done()
    else child.once('exit', done)
  })
}

/** Hands all lines on, until both streams end. */
async function readBoth({ stdout, stderr }: ChildProcess, options: ShellOptions): Promise<void> {
  const read = async (name: 'stdout' | 'stderr', stream: Readable) => {
    try {
      for await (const line of readOutput(stream, options)) await options.line(name, line)
    } catch (error) {
      // Ours: nobody waits for more of it.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    }
  }
  // Both are pipes.
  await Promise.all([read('stdout', stdout!), read('stderr', stderr!)])
}

/** What the promise gives, or a rejection with the signal's reason. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
