import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ProcessGroup } from './process-group.ts'

export interface ProgramOptions {
  /** Folder to run in; default: the current folder. */
  readonly folder?: string
  /** Full environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal | undefined
  /** Open file descriptors that the program inherits, from descriptor 3 on. */
  readonly descriptors?: readonly number[]
  /** Standard input of the program; `terminal` passes on the user's input. If absent, the program gets no input. */
  readonly input?: { readonly text: string } | 'terminal'
  /** True to send standard error to the user instead of collecting it. */
  readonly showsErrors?: boolean
}

export interface ProgramEnd {
  /** Exit status; -1 if a signal ended the program, or if it could not be started. */
  readonly status: number
  /** Signal that ended the program. */
  readonly signal?: NodeJS.Signals
  /** Reason why the program could not be started: `ENOENT` if the program or the folder does not exist. */
  readonly failure?: NodeJS.ErrnoException
  readonly stdout: string
  readonly stderr: string
}

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE = 2000
/** Time to wait for remaining output after a program has ended, in milliseconds. */
const LAST_WORDS = 500

/**
 * Runs a program to its end. If the signal is aborted, ends the program and all processes it started: a helper left
 * behind by git might push after devctl reported the interruption. Never rejects: the status is -1 if the program
 * cannot be started, and the caller has to check whether the signal was aborted.
 */
export function runProgram(
  program: string,
  words: readonly string[],
  { folder, env, signal, descriptors = [], input, showsErrors = false }: ProgramOptions,
): Promise<ProgramEnd> {
  return new Promise(resolve => {
    const isGroup = !hasTerminal()
    const child = tryToSpawn(program, words, {
      ...(folder !== undefined && { cwd: folder }),
      env: { ...env },
      stdio: [stdinFor(input), 'pipe', showsErrors ? 'inherit' : 'pipe', ...descriptors],
      detached: isGroup,
      windowsHide: true,
    })
    if (child instanceof Error) return resolve({ status: -1, failure: child, stdout: '', stderr: '' })
    const group = isGroup && child.pid !== undefined ? new ProcessGroup(child.pid) : undefined
    // A program that exits before it has read all of its input reports that through its exit status.
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
      // If the program was started, `exit` and `close` still follow.
      if (child.pid === undefined) finish(null, null)
    })
    child.on('exit', () => {
      // Background processes of git, such as the shared connection of ssh, keep its output open while they run.
      if (!signal?.aborted) return void timers.push(setTimeout(letGo, LAST_WORDS))
      group?.send('SIGKILL')
      letGo()
    })
    child.on('close', finish)
  })
}

/** Starts a program. Returns the errors that Node throws rather than emits, such as E2BIG and ENOTDIR. */
function tryToSpawn(
  program: string,
  words: readonly string[],
  options: SpawnOptions,
): ChildProcess | NodeJS.ErrnoException {
  try {
    return spawn(program, words, options)
  } catch (error) {
    return error as NodeJS.ErrnoException // node:child_process throws nothing else
  }
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
 * Returns true if programs stay in devctl's process group because devctl has a terminal. In a new group, ssh could not
 * prompt for a key's passphrase at the terminal, and Ctrl-C already reaches all processes of devctl's group. Also true
 * on Windows, which has no process groups.
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
