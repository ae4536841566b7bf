import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { ServerChannel, Session } from 'ssh2'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { withAnnouncedEnd } from '../session/announced-end.ts'
import { type FrontContainer, shellCommand, signalCommand } from './container.ts'

/** Exit status that OpenSSH's client uses for a failed connection. */
const FAILED = 255
/** Timeout for sending a signal, in milliseconds. */
const SIGNALLING = 10_000

/**
 * Serves the shells and commands of an SSH session. `forwardAgent` returns the path of a socket that is connected to
 * the client's SSH agent.
 */
export function serveSession(
  session: Session,
  container: FrontContainer,
  keep: (channel: ServerChannel) => void,
  forwardAgent: () => Promise<string | undefined>,
): void {
  const id = randomBytes(8).toString('hex')
  const variables: string[] = []
  let size: { columns: number; rows: number } | undefined
  let remote: ExecProcess | undefined
  let agent: Promise<string | undefined> | undefined
  session.on('env', (accept, reject, { key, val }) => {
    if (!/^[A-Za-z_]\w*$/.test(key)) return reject?.()
    variables.push(`${key}=${val}`)
    accept?.()
  })
  session.on('pty', (accept, _, { cols, rows, term }) => {
    size = { columns: cols, rows }
    if (term) variables.push(`TERM=${term}`)
    accept?.()
  })
  session.on('auth-agent', accept => {
    agent ??= forwardAgent()
    accept?.()
  })
  session.on('window-change', (accept, _, { cols, rows }) => {
    size &&= { columns: cols, rows }
    remote?.resize(cols, rows)
    accept?.()
  })
  session.on('signal', (accept, _, { name }) => {
    void sendSignal(container, id, name.replace(/^SIG/, ''))
    accept?.()
  })
  const start = async (channel: ServerChannel, line?: string) => {
    keep(channel)
    const closed = new AbortController()
    channel.once('close', () => closed.abort(new Error('the client has gone')))
    try {
      const socket = await agent
      if (socket !== undefined) variables.push(`SSH_AUTH_SOCK=${socket}`)
      const command = shellCommand(container, id, variables, line)
      const options = { stdin: true, ...(size && { tty: size }) }
      const opened = await container.run(command, options, closed.signal)
      remote = size ? opened : withAnnouncedEnd(opened)
      finish(channel, await connect(channel, remote, closed.signal))
    } catch (error) {
      // Kubernetes does not end the process by itself.
      if (closed.signal.aborted && remote) await sendSignal(container, id, 'HUP')
      channel.stderr.write(`devctl: ${error instanceof Error ? error.message : error}\r\n`)
      finish(channel, FAILED)
    }
  }
  session.on('shell', accept => void start(accept()))
  session.on('exec', (accept, _, { command }) => void start(accept(), command))
}

/** Connects a channel to a process until all output has been passed on, and returns the process's exit status. */
async function connect(channel: ServerChannel, remote: ExecProcess, closed: AbortSignal): Promise<number> {
  const gone = new Promise<never>((_, reject) =>
    closed.addEventListener('abort', () => reject(closed.reason), { once: true }),
  )
  gone.catch(() => {})
  channel.pipe(remote.stdin)
  const passed = Promise.all([pass(remote.stdout, channel), pass(remote.stderr, channel.stderr)])
  const [status] = await Promise.race([Promise.all([remote.exit, passed]), gone])
  return status
}

/** Copies bytes; resolves once the last byte is written. */
function pass(from: ExecProcess['stdout'], to: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    from.once('error', reject)
    from.once('end', () => to.write('', () => resolve()))
    from.pipe(to, { end: false })
  })
}

function finish(channel: ServerChannel, status: number): void {
  channel.exit(status)
  channel.end()
}

/** Sends a signal to the processes of a session. Never rejects, because a process that has ended needs no signal. */
async function sendSignal(container: FrontContainer, session: string, signal: string): Promise<void> {
  if (!/^[A-Z0-9]+$/.test(signal)) return
  try {
    const limit = withTimeLimit(SIGNALLING)
    const remote = await container.run(signalCommand(container, session, signal), { stdin: false }, limit)
    remote.stdout.resume()
    remote.stderr.resume()
    await remote.exit
  } catch {
    // The container is no longer reachable.
  }
}
