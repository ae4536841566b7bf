import { readdir, readFile, readlink } from 'node:fs/promises'
import { runProgram } from './run-program.ts'

/** A process of this machine. */
export interface PortOwner {
  /** Its program: `node`. */
  readonly name: string
  readonly process: number
}

/** Milliseconds for the search: the answer is a help, and nobody should wait for it. */
const SEARCH = 1000

/**
 * The process that listens on a TCP port of this machine; undefined where it cannot be found out, as
 * for processes of other users. Never rejects.
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

/** The state of a socket that listens, in /proc/net/tcp (https://docs.kernel.org/networking/proc_net_tcp.html). */
const LISTEN = '0A'

async function ownerInProc(port: number, signal: AbortSignal): Promise<PortOwner | undefined> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')))
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets = new Set<string>()
  for (const line of tables.join('\n').split('\n')) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    if (state === LISTEN && local?.endsWith(`:${hex}`)) sockets.add(`socket:[${inode}]`)
  }
  if (sockets.size === 0) return undefined
  const processes = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  // What was started last is asked first: it is more likely than what runs since the machine does.
  for (const id of processes.sort((a, b) => b - a)) {
    if (signal.aborted) return undefined
    if (await holds(id, sockets)) return { process: id, name: (await readFile(`/proc/${id}/comm`, 'utf8')).trim() }
  }
  return undefined
}

async function holds(id: number, sockets: ReadonlySet<string>): Promise<boolean> {
  // Those of other users cannot be read.
  const files = await readdir(`/proc/${id}/fd`).catch(() => [])
  const links = await Promise.all(files.map(file => readlink(`/proc/${id}/fd/${file}`).catch(() => '')))
  return links.some(link => sockets.has(link))
}

async function ownerByLsof(port: number, signal: AbortSignal): Promise<PortOwner | undefined> {
  const words = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']
  const { stdout } = await runProgram('lsof', words, { env: process.env, signal })
  const [, id, name] = /^p(\d+)\n(?:.*\n)*?c(.*)$/m.exec(stdout) ?? []
  return id === undefined || name === undefined ? undefined : { process: Number(id), name }
}
