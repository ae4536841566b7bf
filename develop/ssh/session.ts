import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { ServerChannel, Session } from 'ssh2'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { withAnnouncedEnd } from '../session/announced-end.ts'
import { type FrontContainer, shellCommand, signalCommand } from './container.ts'

/** Exit status of OpenSSH's client when the connection fails. */
const FAILED = 255
/** Milliseconds for a signal to get there. */
const SIGNALLING = 10_000

/**
 * Serves the shells and commands of a session of SSH. `forwardAgent` gives the path of a socket that leads to the
 * client's agent.
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
    // Its type lacks the terminal's.
    if (term) variables.push(`TERM=${term}`)
    accept?.()
  })
  session.on('auth-agent', accept => {
    agent ??= forwardAgent()
    // Its type is that of a channel.
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
      // Kubernetes lets the process run on.
      if (closed.signal.aborted && remote) await sendSignal(container, id, 'HUP')
      channel.stderr.write(`devctl: ${error instanceof Error ? error.message : error}\r\n`)
      finish(channel, FAILED)
    }
  }
  session.on('shell', accept => void start(accept()))
  session.on('exec', (accept, _, { command }) => void start(accept(), command))
}

/** Connects a channel with a process, until all of its output is passed on; gives its exit status. */
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

/** Passes bytes on; resolves when the last of them is written. */
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

/** Never rejects: a process that has ended needs no signal. */
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
