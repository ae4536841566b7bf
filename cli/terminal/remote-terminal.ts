import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { BROKEN_PIPE, type LocalRun } from '../../develop/exec/remote-terminal.ts'
import { TerminalModes } from './terminal-modes.ts'

/** The standard streams of this process as bytes, for a program that runs somewhere else. */
export interface RawStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: Writable
}

const NEW_LINE = 10

/** Milliseconds for reading what was typed of a line while it was to be ignored. */
const BEGUN_LINE = 20

/**
 * The terminal of this process, or its streams if input or output is none, as that of commands in
 * containers. `attach` connects one until it has ended and all it wrote is passed on, and gives its
 * exit status; it rejects as the status does. After it the terminal is as it was. Several may be
 * attached one after another: input that none of them has read stays for the next, except what is
 * typed after `ignoreKeys`.
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
    /** True if the last line on the terminal has no end: what is written next would continue it. */
    get isLineBegun() {
      return line.isBegun
    },
    /** True while a program has the whole screen; `screenBack` is called when it gives that back. */
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
        // The start of a line comes only now that the terminal gives keys one by one.
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
  // A terminal may not know its size: Node gives none, or 0.
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
}

/** State of the screen while a program has it. */
interface Screen {
  readonly modes: TerminalModes
  readonly screenBack: () => void
  /** State of the line: `isBegun` is true if the last output ends in the middle of a line. */
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
  // Reading a terminal that was closed fails, and so does putting it back; SIGHUP ends what runs.
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
 * Passes every key on, and every change of the size. Gives the function that puts the terminal back;
 * it is also called when the process exits.
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
    // The part itself is written first.
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
  // The size may have changed while the connection was made.
  resize()
  return release
}

/** Passes bytes on until they end; rejects when one of both streams fails. */
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
