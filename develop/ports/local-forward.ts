import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import { AgentError } from '../../adapters/ssh/agent-client.ts'
import { join } from '../../adapters/ssh/join.ts'
import { type LocalPort, listenLocally, ownerNotes, PortUnavailable } from '../../operations/forward/listen.ts'
import type { AgentLink } from './agent-link.ts'
import type { ForwardEvent } from './events.ts'

/** Time that a client waits for a container that is not connected, in milliseconds. */
const PATIENCE = 10_000
/**
 * Restart grace period in milliseconds: if a program that was reachable before stops listening, an error is reported
 * only after this time.
 */
const RESTART = 10_000
/** Polling interval for a port that is in use by another process, in milliseconds. */
const BUSY = 1000
/** Maximum number of ports that are tried after the requested port. */
const NEXT = 20

export interface LocalForward {
  readonly localPort: number
  readonly remotePort: number
  /** Name of a Service, resolved in the Pod; undefined for the container itself. */
  readonly service?: string | undefined
  /**
   * Returns the name of the Service that the labels select; undefined if there is none. Called for each connection if
   * `service` is absent.
   */
  readonly findService?: (() => Promise<string | undefined>) | undefined
  /** Labels of the Service, shown in messages if the Service has no fixed name. */
  readonly label?: string | undefined
  /**
   * Behavior if the port is in use by another process. With `move`, the forward uses one of the next ports. With
   * `wait`, it waits for the port, because the process may be another session of the project, which forwards to the
   * same Service.
   */
  readonly whenBusy: 'move' | 'wait'
  /** Time that a program may take to restart, in milliseconds; defaults to 10 s. */
  readonly restart?: number
}

/** A forward that is listening or waiting for its port. */
export interface OpenForward {
  readonly local: string
  readonly remote: string
  close(): void
}

/**
 * Listens on the port of a forward. If the port is unavailable, listens on one of the next ports or waits for the port,
 * as `whenBusy` requires. Rejects with a UserError if all ports are unavailable.
 */
export async function openLocalForward(
  forward: LocalForward,
  address: string | undefined,
  link: AgentLink,
  on: (event: ForwardEvent) => void,
): Promise<OpenForward> {
  const control = new AbortController()
  const remote = remoteText(forward)
  const shown = (port: number) => `${address ?? 'localhost'}:${port}`
  const connect = connector(forward, link, control.signal, shown, on)
  let listener: LocalPort | undefined
  try {
    listener = await listenLocally(address, forward.localPort, connect)
  } catch (error) {
    const why = await reasonOf(error)
    if (forward.whenBusy === 'wait' && (error as PortUnavailable).reason === 'busy') {
      on({ kind: 'waiting', local: shown(forward.localPort), remote, why })
      void waitForPort(address, forward.localPort, connect, control.signal).then(found => {
        listener = found
      })
    } else {
      listener = await listenNearby(address, forward.localPort, connect, error)
      on({ kind: 'moved', wanted: forward.localPort, why, local: shown(listener.port), remote })
    }
  }
  return {
    local: shown(listener?.port ?? forward.localPort),
    remote,
    close() {
      control.abort()
      listener?.close()
    },
  }
}

const remoteText = ({ service, label, remotePort }: LocalForward): string => {
  const name = service ?? label
  return name === undefined ? String(remotePort) : `${name}:${remotePort}`
}

async function reasonOf(error: unknown): Promise<string> {
  if (!(error instanceof PortUnavailable)) throw error
  const [owner] = error.reason === 'busy' ? await ownerNotes(error.port) : []
  return owner ? `${error.message}, ${owner}` : error.message
}

/** Listens on one of the next ports. If all fail, throws the error for the first port as a UserError. */
async function listenNearby(
  address: string | undefined,
  wanted: number,
  connect: (socket: Socket) => void,
  first: unknown,
): Promise<LocalPort> {
  if (!(first instanceof PortUnavailable)) throw first
  if (first.reason !== 'other') {
    const start = wanted < 1024 ? 8000 + wanted : wanted + 1
    for (let port = start; port < Math.min(start + NEXT, 65_536); port++) {
      const listener = await listenLocally(address, port, connect).catch(() => undefined)
      if (listener) return listener
    }
  }
  throw await first.toUserError('use another port in `forward`')
}

async function waitForPort(
  address: string | undefined,
  port: number,
  connect: (socket: Socket) => void,
  signal: AbortSignal,
): Promise<LocalPort | undefined> {
  while (!signal.aborted) {
    const listener = await listenLocally(address, port, connect).catch(() => undefined)
    if (listener && signal.aborted) listener.close()
    if (listener) return listener
    await pause(BUSY, signal).catch(() => {})
  }
  return undefined
}

/**
 * Returns a function that connects local connections to the Pod. Reports the same failure only once until a connection
 * succeeds. A program that was reachable before may be restarting, so a failure is reported only if the program does
 * not listen again in time.
 */
function connector(
  forward: LocalForward,
  link: AgentLink,
  closed: AbortSignal,
  shown: (port: number) => string,
  on: (event: ForwardEvent) => void,
): (socket: Socket) => void {
  let last: string | undefined
  let hasListened = false
  let isAwaited = false
  const report = (local: string, error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    if (why === last) return
    last = why
    on({ kind: 'refused', local, remote: remoteText(forward), why })
  }
  const awaitRestart = async (local: string) => {
    if (isAwaited) return
    isAwaited = true
    try {
      await pause(forward.restart ?? RESTART, closed)
      const channel = await dial(forward, link, closed)
      channel.destroy()
    } catch (error) {
      if (!closed.aborted) report(local, error)
    } finally {
      isAwaited = false
    }
  }
  return socket => {
    const gone = new AbortController()
    const local = shown(socket.localPort ?? forward.localPort)
    // The connection may break before it is joined to the channel.
    socket.on('error', () => {})
    socket.once('close', () => gone.abort(new Error('the client has gone')))
    dial(forward, link, AbortSignal.any([closed, gone.signal])).then(
      channel => {
        last = undefined
        hasListened = true
        if (socket.destroyed) channel.destroy()
        else join(socket, channel)
      },
      error => {
        socket.resetAndDestroy()
        if (closed.aborted || gone.signal.aborted) return
        if (hasListened && error instanceof AgentError && error.failure === 'refused') void awaitRestart(local)
        else report(local, error)
      },
    )
  }
}

/** Connects to the target in the Pod. Retries if the connection to the agent is lost before the target is connected. */
async function dial(forward: LocalForward, link: AgentLink, signal: AbortSignal): Promise<Duplex> {
  const until = performance.now() + PATIENCE
  for (;;) {
    const agent = await link.current(Math.max(0, until - performance.now()), signal)
    const host = forward.service ?? (forward.findService ? await forward.findService() : 'localhost')
    if (host === undefined) throw new Error(`no Service has the labels ${forward.label}`)
    try {
      return await agent.connect(host, forward.remotePort)
    } catch (error) {
      if (!(error instanceof AgentError) || error.failure !== 'lost') throw error
      await pause(100, signal)
    }
  }
}
