import { type ChildProcess, spawn } from 'node:child_process'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { counter, cutAfter, type Fault, type Faults, slowed } from './faults.ts'
import type { Env } from './git.ts'

export interface Faulty {
  /** Bytes a second that the server sends. */
  readonly slow?: number
  readonly faults?: Faults
}

/** A process for one connection and how it is ended. */
export interface Running {
  readonly children: Set<ChildProcess>
  /** Ends all processes and waits for that. */
  end(): Promise<void>
}

/** Keeps account of what a server has started. */
export function running(): Running {
  const children = new Set<ChildProcess>()
  return {
    children,
    async end() {
      const ends = [...children].map(child => new Promise(resolve => child.once('exit', resolve)))
      // A group of its own: what git has started ends with it.
      for (const child of children) if (child.pid !== undefined) signalGroup(child.pid)
      await Promise.all(ends)
    },
  }
}

/**
 * Listens on a free loopback port and starts a program for each connection, as inetd does: there is no port to guess,
 * no limit of connections, and the bytes pass here, where they can be held up and cut.
 */
export async function inetd(
  program: string,
  args: readonly string[],
  { env, slow, faults }: { env: Env } & Faulty,
): Promise<{ port: number; close(): Promise<void> }> {
  const started = running()
  const sockets = new Set<Socket>()
  const count = counter()
  const server = createServer({ allowHalfOpen: true }, async socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    const fault = await faults?.(count('connection'))
    if (fault?.kind === 'hang') return
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    started.children.add(child)
    child.on('exit', () => started.children.delete(child))
    connect(socket, child, fault, slow)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([new Promise(resolve => server.close(resolve)), started.end()])
    },
  }
}

/** Passes bytes both ways until one side ends or the fault says so. */
function connect(socket: Socket, child: ChildProcess, fault: Fault | undefined, slow = Number.POSITIVE_INFINITY): void {
  const cut = () => {
    socket.destroy()
    child.stdin?.destroy()
  }
  const request = fault?.kind === 'cut-request' ? cutAfter(fault.after) : asIs
  const answer = fault?.kind === 'cut-answer' ? cutAfter(fault.after) : asIs
  pipeline(socket, request, child.stdin!).catch(cut)
  pipeline(child.stdout!, Number.isFinite(slow) ? slowed(slow) : asIs, answer, socket).catch(cut)
}

async function* asIs(source: AsyncIterable<Buffer>) {
  yield* source
}

function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
