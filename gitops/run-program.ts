import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

export interface ProgramOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Open files that it inherits, from descriptor 3 on. */
  readonly descriptors?: readonly number[]
  /** What it reads on standard input; absent: nothing. */
  readonly input?: string
}

export interface ProgramEnd {
  /** Exit status; -1 where a signal ended it, or it could not be started. */
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Milliseconds in which a program that is asked to end may tidy up. */
const GRACE = 2000
/** Milliseconds for which the output of a program that has ended is waited for. */
const LAST_WORDS = 500

/**
 * Runs a program to its end. At the signal it is ended with all that it has started: a helper that git leaves behind might push after the user was told of an
 * interruption. Never throws: a program that is not there has the status -1.
 */
export function runProgram(
  program: string,
  words: readonly string[],
  { folder, env, signal, descriptors = [], input }: ProgramOptions,
): Promise<ProgramEnd> {
  return new Promise(resolve => {
    const isGroup = !hasTerminal()
    const child = spawn(program, words, {
      cwd: folder,
      env,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...descriptors],
      detached: isGroup,
      windowsHide: true,
      // What is piped is there, whatever is handed on beside it.
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>
    // One that ends before it has read all says so by its status.
    child.stdin?.on('error', () => {}).end(input)
    const written = collect(child)
    const timers: NodeJS.Timeout[] = []
    const end = () => {
      send(child.pid, isGroup, 'SIGTERM')
      timers.push(setTimeout(() => send(child.pid, isGroup, 'SIGKILL'), GRACE))
    }
    const finish = (status: number) => {
      signal.removeEventListener('abort', end)
      timers.forEach(clearTimeout)
      resolve({ status, stdout: written.stdout.join(''), stderr: written.stderr.join('') })
    }
    signal.addEventListener('abort', end)
    child.on('error', error => {
      written.stderr.push(`${error.message}\n`)
      finish(-1)
    })
    child.on('exit', () => {
      const letGo = () => {
        child.stdout.destroy()
        child.stderr.destroy()
      }
      if (!signal.aborted) {
        // What git leaves in the background, such as the shared connection of ssh, holds its output open for as long as it runs.
        timers.push(setTimeout(letGo, LAST_WORDS))
        return
      }
      if (isGroup) send(child.pid, isGroup, 'SIGKILL')
      letGo()
    })
    child.on('close', status => finish(status ?? -1))
  })
}

function collect({ stdout, stderr }: ChildProcessByStdio<Writable | null, Readable, Readable>) {
  const written = { stdout: [] as string[], stderr: [] as string[] }
  stdout.setEncoding('utf8').on('data', text => written.stdout.push(text))
  stderr.setEncoding('utf8').on('data', text => written.stderr.push(text))
  return written
}

function send(pid: number | undefined, isGroup: boolean, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(isGroup ? -pid : pid, name)
  } catch {
    // It has ended.
  }
}

let terminal: boolean | undefined

/**
 * At a terminal programs stay in our group: a new one would have no terminal, where ssh asks for the passphrase of a key; and Ctrl-C reaches them all by itself.
 * Windows has no groups.
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
