import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runProgram } from './run-program.ts'

/** A process of this machine that listens on a port. */
export interface PortOwner {
  /** Name of the program: `node`. */
  readonly name: string
  readonly process: number
}

/** Time limit of the search in milliseconds: the result is only a hint, and not worth a longer wait. */
const SEARCH = 2000
/** Milliseconds after which the search yields to other tasks. */
const TURN = 20

/**
 * Returns the process that listens on a TCP port of this machine; undefined if it cannot be determined, as for
 * processes of other users. Never rejects.
 */
export async function portOwner(port: number): Promise<PortOwner | undefined> {
  const signal = AbortSignal.timeout(SEARCH)
  try {
    if (process.platform === 'linux') return await ownerInProc(port, signal)
    return process.platform === 'win32' ? undefined : await ownerByLsof(port, signal)
  } catch {
    return undefined
  }
}

/** State of a listening socket in /proc/net/tcp (https://docs.kernel.org/networking/proc_net_tcp.html). */
const LISTEN = '0A'

async function ownerInProc(port: number, signal: AbortSignal): Promise<PortOwner | undefined> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets = new Set<string>()
  for (const line of ['tcp', 'tcp6'].flatMap(name => tableOf(name).split('\n'))) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    if (state === LISTEN && local?.endsWith(`:${hex}`)) sockets.add(`socket:[${inode}]`)
  }
  if (sockets.size === 0) return undefined
  const processes = readdirSync('/proc').map(Number).filter(Number.isInteger)
  // The newest processes are checked first: they are more likely owners than those that have run since boot.
  let began = performance.now()
  for (const id of processes.sort((a, b) => b - a)) {
    if (holds(id, sockets)) return { process: id, name: readFileSync(`/proc/${id}/comm`, 'utf8').trim() }
    if (performance.now() - began < TURN) continue
    await nextTurn()
    if (signal.aborted) return undefined
    began = performance.now()
  }
  return undefined
}

/** Reads a table of sockets; empty if it does not exist because the system has no IPv6. */
function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Returns true if the process has one of the sockets open. Synchronous, because asynchronous calls for thousands of
 * files would use up most of the time limit.
 */
function holds(id: number, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${id}/fd`).some(file => sockets.has(linkOf(`/proc/${id}/fd/${file}`)))
  } catch {
    // The process has ended, or belongs to another user.
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

async function ownerByLsof(port: number, signal: AbortSignal): Promise<PortOwner | undefined> {
  const words = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']
  const { stdout } = await runProgram('lsof', words, { env: process.env, signal })
  const [, id, name] = /^p(\d+)\n(?:.*\n)*?c(.*)$/m.exec(stdout) ?? []
  return id === undefined || name === undefined ? undefined : { process: Number(id), name }
}
