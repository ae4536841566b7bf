import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { program } from '../program.ts'
import type { Env } from './git.ts'

/** A run of the built program in a process of its own. */
export interface Started {
  /** PID of the process, which leads its own process group. */
  readonly pid: number
  readonly ended: Promise<Ended>
}

export interface Ended {
  /** Undefined where a signal ended it. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Starts the program as users have it, with nothing of this process's environment. */
export function start(words: readonly string[], { cwd, env }: { readonly cwd: string; readonly env: Env }): Started {
  const child = spawn(process.execPath, [program(), ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', text => (written.stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (written.stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    // Not `close`: what a killed run has started may hold its output for longer.
    child.on('exit', status => setImmediate(() => resolve({ status: status ?? undefined, ...written })))
  })
  return { pid: child.pid!, ended }
}

/** Sends a signal to a process or, with its id below zero, to its group; it may have ended. */
export function signal(pid: number, name: 'SIGKILL' | 'SIGINT' | 'SIGTERM'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

/**
 * Returns the command lines of the processes that have a variable in their environment: everything that a run has
 * started, regardless of the parent. Works on Linux only; empty on other systems.
 */
export function processesWith(variable: string): readonly string[] {
  let ids: readonly string[] = []
  try {
    ids = readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
  } catch {
    // Not Linux.
  }
  return ids.flatMap(id => {
    try {
      const isOurs = readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(variable)
      return isOurs ? [readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
    } catch {
      return []
    }
  })
}
