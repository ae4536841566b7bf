import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { BROKEN_PIPE, type LocalRun } from '../../develop/exec/remote-terminal.ts'
import { TerminalModes } from './terminal-modes.ts'

/** Standard streams of this process as bytes, for a program that runs in a container. */
export interface RawStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: Writable
}

const NEW_LINE = 10

/** Time that a terminal gets to deliver an unfinished line that was typed while input was ignored, in milliseconds. */
const BEGUN_LINE = 20

/**
 * Returns the terminal of this process for commands in containers, or its streams if input or output is not a terminal.
 * `attach` connects a command until it has ended and all its output is written, and returns the exit status of the
 * command; it rejects if the exit status cannot be read. The terminal is restored in either case. Several commands may
 * be attached one after another: unread input is passed to the next command, except for input typed after `ignoreKeys`.
 */
export function remoteTerminal(
  streams: RawStreams,
  env: Readonly<Record<string, string | undefined>>,
  screenBack: () => void = () => {},
) {
  const modes = new TerminalModes()
  let ignored: (() => Promise<void>) | undefined
  const line = { isBegun: false }
  return {
    /** True if the cursor is in the middle of a line, which the next output would continue. */
    get isLineBegun() {
      return line.isBegun
    },
    /** True while a program uses the full screen; `screenBack` is called when the program leaves it. */
    get isFullScreen() {
      return modes.isFullScreen
    },
    get size() {
      return sizeOf(streams)
    },
    type: env.TERM,
    attach(process: ExecProcess): Promise<number> {
      return attach(process, streams, { modes, screenBack, line }, () => ignored?.())
    },
    ignoreKeys() {
      if (ignored || !sizeOf(streams)) return () => {}
      const stop = ignoreKeys(streams)
      ignored = async () => {
        ignored = undefined
        // A terminal delivers an unfinished line only now, when it starts to pass on single keys.
        streams.stdin.resume()
        await setTimeout(BEGUN_LINE)
        stop()
      }
      return () => streams.stdin.pause()
    },
    runHere,
  }
}

function ignoreKeys({ stdin }: RawStreams): () => void {
  stdin.on('data', ignore)
  stdin.resume()
  return () => stdin.removeListener('data', ignore)
}

/** Runs a program of this machine with the standard streams of this process. */
async function runHere(
  [program = '', ...words]: readonly string[],
  { folder, env, signal }: LocalRun,
): Promise<number> {
  const { spawn } = await import('node:child_process')
  const { constants } = await import('node:os')
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd: folder, env, stdio: 'inherit', signal })
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.name === 'AbortError') reject(signal.reason)
      else if (error.code === 'ENOENT') reject(new UserError(`there is no program \`${program}\` on this machine`))
      else reject(new UserError(`\`${program}\` cannot be run: ${error.message}`))
    })
    child.on('close', (status, name) => resolve(status ?? 128 + (name ? constants.signals[name] : 0)))
  })
}

function sizeOf({ stdin, stdout }: RawStreams): { readonly columns: number; readonly rows: number } | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return undefined
  // Some terminals do not know their size: Node then returns undefined or 0.
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
}

/** State of the screen while a program uses it. */
interface Screen {
  readonly modes: TerminalModes
  readonly screenBack: () => void
  /** State of the current line: `isBegun` is true if the last output ends in the middle of a line. */
  readonly line: { isBegun: boolean }
}

async function attach(
  remote: ExecProcess,
  streams: RawStreams,
  screen: Screen,
  listen: () => Promise<void> | undefined,
): Promise<number> {
  const { stdin, stdout, stderr } = streams
  const release = sizeOf(streams) ? takeTerminal(remote, streams, screen) : () => {}
  // Reading from a closed terminal fails, and so does restoring it; SIGHUP ends the running work.
  if (!stdin.listeners('error').includes(ignore)) stdin.on('error', ignore)
  let isOver = false
  const listening = listen()
  if (listening) void listening.then(() => !isOver && stdin.pipe(remote.stdin))
  else stdin.pipe(remote.stdin)
  try {
    const [status] = await Promise.all([remote.exit, pass(remote.stdout, stdout), pass(remote.stderr, stderr)])
    return status
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return BROKEN_PIPE
    throw error
  } finally {
    isOver = true
    stdin.unpipe(remote.stdin).pause()
    release()
    remote.destroy()
  }
}

const ignore = () => {}

/**
 * Passes each key press and each size change to the remote process. Returns the function that restores the terminal,
 * which is also called when the process exits.
 */
function takeTerminal(
  remote: ExecProcess,
  { stdin, stdout }: RawStreams,
  { modes, screenBack, line }: Screen,
): () => void {
  const watch = (part: Buffer) => {
    line.isBegun = part.at(-1) !== NEW_LINE
    const wasFull = modes.isFullScreen
    modes.read(part)
    // The part itself must be written first.
    if (wasFull && !modes.isFullScreen) setImmediate(screenBack)
  }
  const resize = () => remote.resize(stdout.columns || 80, stdout.rows || 24)
  const release = () => {
    process.removeListener('exit', release)
    stdout.removeListener('resize', resize)
    remote.stdout.removeListener('data', watch)
    stdin.setRawMode?.(false)
    const sequences = modes.reset()
    if (sequences) stdout.write(sequences)
  }
  process.once('exit', release)
  stdout.on('resize', resize)
  remote.stdout.on('data', watch)
  stdin.setRawMode?.(true)
  // The size may have changed while the connection was being opened.
  resize()
  return release
}

/** Copies bytes until the input ends; rejects if either stream fails. */
function pass(from: Readable, to: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    to.once('error', reject)
    from.once('error', reject)
    from.once('close', () => {
      to.removeListener('error', reject)
      resolve()
    })
    from.pipe(to, { end: false })
  })
}
