import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ProcessGroup } from './process-group.ts'

export interface ProgramOptions {
  /** The folder to run in; default the current one. */
  readonly folder?: string
  /** All of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal | undefined
  /** Open files that it inherits, from descriptor 3 on. */
  readonly descriptors?: readonly number[]
  /** Its standard input; `terminal`: the user's input. Absent: none. */
  readonly input?: { readonly text: string } | 'terminal'
  /** Its standard error goes to the user, and is not collected. */
  readonly showsErrors?: boolean
}

export interface ProgramEnd {
  /** Exit status; -1 where a signal ended it, or it could not be started. */
  readonly status: number
  /** The signal that ended it. */
  readonly signal?: NodeJS.Signals
  /** The reason why it could not be started: `ENOENT` if the program or the folder does not exist. */
  readonly failure?: NodeJS.ErrnoException
  readonly stdout: string
  readonly stderr: string
}

/** Milliseconds in which a program that is asked to end may tidy up. */
const GRACE = 2000
/** Milliseconds for which the output of a program that has ended is waited for. */
const LAST_WORDS = 500

/**
 * Runs a program to its end. When the signal is aborted it is ended with all that it has started: a
 * helper that git leaves behind might push after the interruption was reported. Never rejects: a
 * program that could not be started has the status -1, and one that was ended by the signal is
 * reported by the caller.
 */
export function runProgram(
  program: string,
  words: readonly string[],
  { folder, env, signal, descriptors = [], input, showsErrors = false }: ProgramOptions,
): Promise<ProgramEnd> {
  return new Promise(resolve => {
    const isGroup = !hasTerminal()
    const child = spawn(program, words, {
      ...(folder !== undefined && { cwd: folder }),
      env: { ...env },
      stdio: [stdinFor(input), 'pipe', showsErrors ? 'inherit' : 'pipe', ...descriptors],
      detached: isGroup,
      windowsHide: true,
    })
    const group = isGroup && child.pid !== undefined ? new ProcessGroup(child.pid) : undefined
    // One that ends before it has read all says so by its status.
    if (typeof input === 'object') child.stdin?.on('error', () => {}).end(input.text)
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
    const timers: NodeJS.Timeout[] = []
    let failure: NodeJS.ErrnoException | undefined
    const send = (name: NodeJS.Signals) => void (group ? group.send(name) : child.kill(name))
    const end = () => {
      send('SIGTERM')
      timers.push(setTimeout(send, GRACE, 'SIGKILL'))
    }
    const letGo = () => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    const finish = (status: number | null, by: NodeJS.Signals | null) => {
      signal?.removeEventListener('abort', end)
      timers.forEach(clearTimeout)
      group?.release()
      resolve({
        status: status ?? -1,
        ...(by && { signal: by }),
        ...(failure && { failure }),
        stdout: stdout.join(''),
        stderr: stderr.join(''),
      })
    }
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    child.on('error', error => {
      failure = error
      // Of one that was started, the end is still to come.
      if (child.pid === undefined) finish(null, null)
    })
    child.on('exit', () => {
      // Processes that git leaves in the background, such as the shared connection of ssh, hold its
      // output open for as long as they run.
      if (!signal?.aborted) return void timers.push(setTimeout(letGo, LAST_WORDS))
      group?.send('SIGKILL')
      letGo()
    })
    child.on('close', finish)
  })
}

function stdinFor(input: ProgramOptions['input']): 'ignore' | 'pipe' | 'inherit' {
  if (input === undefined) return 'ignore'
  return input === 'terminal' ? 'inherit' : 'pipe'
}

function collect(stream: Readable | null): string[] {
  const texts: string[] = []
  stream?.setEncoding('utf8').on('data', text => texts.push(text))
  return texts
}

let terminal: boolean | undefined

/**
 * True if programs stay in devctl's process group. At a terminal they do: a new group would have no terminal, where ssh
 * asks for the passphrase of a key; and Ctrl-C reaches them all by itself. Windows has no groups.
 */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return true
  if (terminal !== undefined) return terminal
  try {
    closeSync(openSync('/dev/tty', 'r'))
    terminal = true
  } catch {
    terminal = false
  }
  return terminal
}
