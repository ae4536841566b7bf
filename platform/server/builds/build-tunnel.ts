import { createHmac } from 'node:crypto'
import type { ClientHttp2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { constants, performServerHandshake } from 'node:http2'
import type { Socket } from 'node:net'
import {
  CANCELLED,
  CallError,
  INVALID_ARGUMENT,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
} from '../../../adapters/buildkit/session/call-error.ts'
import { frame } from '../../../adapters/buildkit/session/frames.ts'
import { decodeMessage, encodeMessage } from '../../../adapters/buildkit/wire.ts'
import {
  type BuildRequest,
  type BuildScope,
  buildProblem,
  type Pulls,
  scopedBuild,
} from '../../rules/registry/build-request.ts'
import { inOrder } from '../../rules/registry/placement.ts'
import { type BuildSlot, type BuildSlots, TooManyBuilds } from './build-slots.ts'
import { BuilderLinks } from './builder-links.ts'
import type { BuilderPool } from './builder-pool.ts'
import { emptyBuilder } from './empty-builder.ts'
import { answerWith, begin, callOnce, fail, headersOf, onlyMessage, type RequestRoom } from './grpc.ts'

/** The client of a build connection: its user, its namespace and its rights. */
export interface BuildClient {
  readonly user: string
  readonly scope: BuildScope
  readonly pool: BuilderPool
  /** Random bytes that only this server knows. The names of builds and sessions are derived from them. */
  readonly key: Buffer
  /** Memory budget for the user's requests on all connections. */
  readonly room: RequestRoom
  /** Rejects if the client may no longer build. */
  readonly check: () => Promise<void>
  /** Returns the registry paths of the namespaces from which the client may pull images now. */
  readonly pulls: () => Promise<Pulls>
}

const CONTROL = '/moby.buildkit.v1.Control/'
/** Maximum number of concurrent calls; one build makes three. */
const STREAMS = 100
/** Maximum size of a build request, and of other requests, in bytes. */
const REQUEST = 1 << 20
const SMALL = 64 << 10
/**
 * HTTP/2 flow control windows in bytes: for each call while all builds of the client wait for a slot, for each call
 * while a build runs, and for the whole connection. Node.js reads incoming data at once, so `all` limits the throughput
 * over a long distance, but not the memory.
 */
const WINDOW = { waiting: 64 << 10, building: 1 << 20, all: 4 << 20 }
/** Maximum number of sessions on one connection. Each build has one session, and devctl runs eight builds at a time. */
const SESSIONS = 16
/** Maximum number of status calls that wait for the slot of one build; a normal build makes one. */
const STATUSES = 8
/** Time limits in milliseconds. */
const LIMITS = {
  /** Longest time between the start of a session and the start of its build. */
  begin: 60_000,
  /** Longest time that one build may take. */
  build: 3_600_000,
  /**
   * Time from the end of a build until the server ends the session of the build, and from the error that ends a session
   * until the server closes the call of that session.
   */
  after: 5_000,
  /** Longest time for which a connection stays open without a call. */
  idle: 600_000,
  /** Interval between two keep-alive pings. */
  ping: 20_000,
  /** Interval between two checks that the client may still build. */
  check: 15_000,
}

const TOO_LONG = `a build takes at most ${LIMITS.build / 60_000} minutes`

/** Session headers that are forwarded unchanged. */
const NAME_HEADER = 'x-docker-expose-session-name'
const METHOD_HEADER = 'x-docker-expose-session-grpc-method'
const ID_HEADER = 'x-docker-expose-session-uuid'
const KEY_HEADER = 'x-docker-expose-session-sharedkey'
/** Header with the client's name for a build. Builds of the same name go to the same builder. */
const BUILD_HEADER = 'x-devctl-build'

/** Pattern of the gRPC methods that a builder may call on the client's machine. */
const SERVED =
  /^\/(?:grpc\.health\.v1\.health|moby\.filesync\.v1\.(?:filesync|filesend|auth)|moby\.buildkit\.secrets\.v1\.secrets|moby\.sshforward\.v1\.ssh|containerd\.services\.content\.v1\.content)\/\w+$/i

interface Session {
  /** The id that the session has on the builder. */
  readonly id: string
  readonly link: Promise<ClientHttp2Session>
  hasBegun: boolean
  /** Aborted when the session has ended. From then on, the session must not use its slot. */
  readonly gone: AbortSignal
  /** Ends the session and releases its slot, even if the client does not respond. Further calls do nothing. */
  readonly end: (error?: CallError) => void
  /** Number of builds ahead in the queue; undefined once the build has a slot. */
  before: number | undefined
  readonly onQueue: Set<() => void>
}

interface Build {
  /** Resolves to the session of the build once the build is requested. */
  readonly session: Deferred<Session>
  /**
   * Number of waiting status calls. A call that the client has closed still counts, because it stays in memory until
   * the wait ends.
   */
  statuses: number
}

/**
 * Serves the calls of one client over a connection. Accepts only the calls that a build needs, and checks each of them.
 * Names that the client chooses (of a build, a session or a copied folder) are replaced with names that only this
 * connection or this namespace can have, so the client cannot refer to objects of another user.
 */
export function serveBuilds(connection: Socket, client: BuildClient): void {
  const session = performServerHandshake(connection, {
    maxSessionMemory: 32,
    maxHeaderListPairs: 256,
    maxSendHeaderBlockLength: SMALL,
    settings: { maxConcurrentStreams: STREAMS, initialWindowSize: WINDOW.waiting, enablePush: false },
  })
  session.setLocalWindowSize(WINDOW.all)
  const tunnel = new BuildTunnel(client, isBuilding => {
    if (!session.destroyed) session.settings({ initialWindowSize: isBuilding ? WINDOW.building : WINDOW.waiting })
  })
  session.on('error', () => {})
  connection.on('error', () => {})
  // Proxies close connections that are silent for a minute. A client that does not answer pings is treated as
  // disconnected.
  let unanswered = 0
  const pinging = setInterval(() => {
    if (++unanswered > 2) session.destroy()
    else
      session.ping(error => {
        if (!error) unanswered = 0
      })
  }, LIMITS.ping)
  const end = () => {
    clearInterval(pinging)
    clearInterval(checking)
    tunnel.close()
    connection.destroy()
  }
  const checking = setInterval(() => {
    if (tunnel.isBusy) client.check().catch(() => session.destroy())
    else if (Date.now() - lastCall > LIMITS.idle) session.close()
  }, LIMITS.check)
  session.once('close', end)
  connection.once('close', () => session.destroy())
  // A proxy may report that the client has closed its side but leave the other direction open.
  connection.once('end', () => session.destroy())
  let lastCall = Date.now()
  const onStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: readonly string[]) => {
    stream.on('error', () => {})
    lastCall = Date.now()
    tunnel.answer(stream, headers, raw).catch(error => fail(stream, error))
  }
  // The type definitions of Node.js lack the last argument.
  session.on('stream', onStream as never)
}

class BuildTunnel {
  readonly #client: BuildClient
  readonly #slots: BuildSlots
  readonly #links: BuilderLinks
  readonly #onBuilding: (isBuilding: boolean) => void
  /** Number of sessions that have a slot on a builder. */
  #placed = 0
  readonly #sessions = new Map<string, Session>()
  /** Builds by the name that the client chose. */
  readonly #builds = new Map<string, Build>()

  /**
   * Creates a tunnel. `onBuilding` is called with true when the first session gets a slot, and with false when the last
   * session with a slot ends.
   */
  constructor(client: BuildClient, onBuilding: (isBuilding: boolean) => void) {
    this.#client = client
    this.#onBuilding = onBuilding
    this.#slots = client.pool.slots
    this.#links = new BuilderLinks(client.pool.tls)
  }

  get isBusy(): boolean {
    return this.#sessions.size > 0
  }

  close(): void {
    this.#links.close()
  }

  async answer(down: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): Promise<void> {
    const path = String(headers[':path'])
    switch (path) {
      case `${CONTROL}Info`:
      case `${CONTROL}ListWorkers`:
        return this.#ask(down, path)
      case `${CONTROL}Session`:
        return this.#session(down, headers, raw)
      case `${CONTROL}Solve`:
        return this.#solve(down)
      case `${CONTROL}Status`:
        return this.#status(down)
      default:
        throw new CallError(
          PERMISSION_DENIED,
          `builders of the platform do not allow the call \`${path.slice(0, 100)}\``,
        )
    }
  }

  /**
   * Answers requests for information about the builder itself. An empty request is sent to the builder, because the
   * fields of the client's request do not matter.
   */
  async #ask(down: ServerHttp2Stream, path: string): Promise<void> {
    const { pool, scope, room } = this.#client
    const { done } = await onlyMessage(down, SMALL, room)
    done()
    const link = await this.#links.to(inOrder(pool.builders, scope.namespace)[0]!)
    answerWith(down, callOnce(link, path, Buffer.alloc(0)))
  }

  async #session(down: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): Promise<void> {
    const name = String(headers[ID_HEADER])
    if (!/^[\w-]{8,64}$/.test(name)) throw new CallError(INVALID_ARGUMENT, 'the session has no name')
    if (this.#sessions.has(name)) throw new CallError(INVALID_ARGUMENT, 'this session already exists')
    if (this.#sessions.size >= SESSIONS) throw new CallError(RESOURCE_EXHAUSTED, 'there are too many sessions')
    const methods = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === METHOD_HEADER)
    const unknown = methods.find(method => !SERVED.test(method))
    if (unknown !== undefined)
      throw new CallError(PERMISSION_DENIED, `a session cannot serve \`${unknown.slice(0, 100)}\``)
    const gone = new AbortController()
    let slot: BuildSlot | undefined
    const timers: NodeJS.Timeout[] = []
    const end = (error = new CallError(CANCELLED, 'the session has ended')) => {
      if (gone.signal.aborted) return
      for (const timer of timers) clearTimeout(timer)
      this.#sessions.delete(name)
      gone.abort(error)
      slot?.free()
      if (down.destroyed) return
      fail(down, error)
      // Closes the call after a delay even if the client does not read it or does not close its side.
      setTimeout(() => down.close(constants.NGHTTP2_CANCEL), LIMITS.after)
    }
    const session: Session = {
      id: this.#connectionName(`session ${name}`),
      link: this.#place(String(headers[BUILD_HEADER] ?? ''), gone.signal, () => session).then(placed => {
        slot = placed.slot
        return placed.link
      }),
      hasBegun: false,
      gone: gone.signal,
      end,
      before: undefined,
      onQueue: new Set(),
    }
    this.#sessions.set(name, session)
    down.once('close', () => end())
    if (down.destroyed) end()
    const link = await session.link.catch(error => {
      end(error)
      throw error
    })
    if (gone.signal.aborted) return slot?.free()
    if (++this.#placed === 1) this.#onBuilding(true)
    gone.signal.addEventListener('abort', () => --this.#placed === 0 && this.#onBuilding(false), { once: true })
    const endAfter = (time: number, isOver: () => boolean, message: string) =>
      timers.push(setTimeout(() => isOver() && end(new CallError(CANCELLED, message)), time))
    endAfter(LIMITS.begin, () => !session.hasBegun, 'the session has no build')
    endAfter(LIMITS.begin + LIMITS.build, () => true, TOO_LONG)
    const up = link.request({
      ...headersOf(`${CONTROL}Session`),
      [ID_HEADER]: session.id,
      [NAME_HEADER]: 'devctl',
      [KEY_HEADER]: this.#scopeName(`folder ${String(headers[KEY_HEADER] ?? '')}`),
      [METHOD_HEADER]: methods,
    })
    up.on('error', () => {})
    gone.signal.addEventListener('abort', () => up.close(constants.NGHTTP2_CANCEL), { once: true })
    down.pipe(up)
    answerWith(down, up)
    up.once('close', () => end())
  }

  /**
   * Waits for a slot on a builder, and empties the builder if necessary. Returns the slot and the connection to the
   * builder. While the build waits, all of its status calls are told the number of builds ahead.
   */
  async #place(
    build: string,
    signal: AbortSignal,
    session: () => Session,
  ): Promise<{ readonly slot: BuildSlot; readonly link: ClientHttp2Session }> {
    const { user, scope } = this.#client
    // The queue may call back synchronously, before the session exists.
    await Promise.resolve()
    try {
      const slot = await this.#slots.take({
        user,
        namespace: scope.cache,
        key: `${scope.namespace}\0${build.slice(0, 200)}`,
        signal,
        onQueue: before => {
          const waiting = session()
          waiting.before = before
          for (const tell of waiting.onQueue) tell()
        },
      })
      try {
        const link = await this.#links.to(slot.builder)
        if (this.#client.pool.isEmptied) await slot.emptied(() => emptyBuilder(link, signal), signal)
        const placed = session()
        placed.before = undefined
        for (const tell of placed.onQueue) tell()
        return { slot, link }
      } catch (error) {
        slot.free()
        throw error
      }
    } catch (error) {
      throw error instanceof TooManyBuilds ? new CallError(RESOURCE_EXHAUSTED, error.message) : error
    }
  }

  async #solve(down: ServerHttp2Stream): Promise<void> {
    const { message, done } = await onlyMessage(down, REQUEST, this.#client.room)
    try {
      await this.#start(down, decode<BuildRequest>('moby.buildkit.v1.SolveRequest', message))
    } finally {
      done()
    }
  }

  async #start(down: ServerHttp2Stream, request: BuildRequest): Promise<void> {
    const { scope, check, pulls } = this.#client
    const { Ref: ref = '' } = request
    const build = this.#build(ref)
    let session: Session | undefined
    // A slot is for one build. It is released when the build is done or its client has disconnected.
    const leave = () => {
      const ended = session
      if (ended && !ended.gone.aborted) setTimeout(() => ended.end(), LIMITS.after)
    }
    down.once('close', leave)
    try {
      const problem = buildProblem(request, scope)
      if (problem !== undefined) throw new CallError(PERMISSION_DENIED, problem)
      const found = this.#sessions.get(request.Session ?? '')
      if (!found || found.hasBegun) throw new CallError(INVALID_ARGUMENT, 'the build has no session of its own')
      session = found
      session.hasBegun = true
      build.session.resolve(session)
      await check().catch(() => {
        throw new CallError(PERMISSION_DENIED, `you may no longer build for \`${scope.namespace}\``)
      })
      const link = await session.link
      // If the session has ended, another namespace may have its slot by now.
      found.gone.throwIfAborted()
      if (down.destroyed) throw new CallError(CANCELLED, 'the client is gone')
      const ids = { ref: this.#connectionName(`build ${ref}`), session: session.id }
      const scoped = scopedBuild(request, ids, scope, scope.images ? await pulls() : [])
      const up = callOnce(link, `${CONTROL}Solve`, encodeMessage('moby.buildkit.v1.SolveRequest', { ...scoped }))
      const stop = () => {
        fail(down, found.gone.reason)
        up.close(constants.NGHTTP2_CANCEL)
      }
      found.gone.addEventListener('abort', stop, { once: true })
      const late = setTimeout(() => found.end(new CallError(CANCELLED, TOO_LONG)), LIMITS.build)
      up.once('close', () => {
        clearTimeout(late)
        found.gone.removeEventListener('abort', stop)
        leave()
      })
      down.once('close', () => this.#builds.delete(ref))
      answerWith(down, up)
    } catch (error) {
      build.session.reject(error)
      this.#builds.delete(ref)
      leave()
      throw error
    }
  }

  /** Serves a status call. A client can send the call before it requests the build. */
  async #status(down: ServerHttp2Stream): Promise<void> {
    const { message, done } = await onlyMessage(down, SMALL, this.#client.room)
    done()
    const { Ref: ref = '' } = decode<{ Ref?: string }>('moby.buildkit.v1.StatusRequest', message)
    const build = this.#build(ref)
    if (build.statuses >= STATUSES)
      throw new CallError(RESOURCE_EXHAUSTED, 'too many calls wait for the status of this build')
    build.statuses++
    try {
      const link = await this.#placeOf(await build.session.promise, down)
      if (down.destroyed) return
      const request = { Ref: this.#connectionName(`build ${ref}`) }
      answerWith(down, callOnce(link, `${CONTROL}Status`, encodeMessage('moby.buildkit.v1.StatusRequest', request)))
    } finally {
      build.statuses--
    }
  }

  /**
   * Waits until a session has a slot, and returns the connection to its builder. As long as the session waits, the
   * status call shows the session's position in the queue.
   */
  async #placeOf(session: Session, down: ServerHttp2Stream): Promise<ClientHttp2Session> {
    const tell = () => this.#tellQueue(down, session)
    const leave = () => session.onQueue.delete(tell)
    session.onQueue.add(tell)
    down.once('close', leave)
    tell()
    return session.link.finally(leave)
  }

  /** Sends a build step that shows the number of builds ahead, and completes the step when the build has a slot. */
  #tellQueue(down: ServerHttp2Stream, { before }: Session): void {
    if (down.destroyed || (before === undefined && !down.headersSent)) return
    // Positions are skipped while the client does not read, but the message that the build has a slot is always sent.
    if (before !== undefined && down.writableNeedDrain) return
    const step = {
      digest: 'platform:queue',
      name: '[platform] waiting for a builder',
      started: { seconds: 1 },
      ...(before === undefined && { completed: { seconds: 1 } }),
    }
    const ahead = before !== undefined && {
      statuses: [{ ID: `position ${before + 1} in the queue`, vertex: step.digest, started: step.started }],
    }
    begin(down)
    const status = encodeMessage('moby.buildkit.v1.StatusResponse', { vertexes: [step], ...ahead })
    down.write(Buffer.concat(frame(status)))
  }

  #build(ref: string): Build {
    if (!/^[\w-]{8,64}$/.test(ref)) throw new CallError(INVALID_ARGUMENT, 'the build has no name')
    const known = this.#builds.get(ref)
    if (known) return known
    if (this.#builds.size >= STREAMS) throw new CallError(RESOURCE_EXHAUSTED, 'there are too many builds')
    const build = { session: deferred<Session>(LIMITS.begin), statuses: 0 }
    this.#builds.set(ref, build)
    return build
  }

  /** Returns a name that is derived from the client's text, and that no other connection can have. */
  #connectionName(text: string): string {
    return createHmac('sha256', this.#client.key).update(text).digest('hex').slice(0, 40)
  }

  /** Returns a name that is derived from the client's text, and that no other namespace can have. */
  #scopeName(text: string): string {
    return createHmac('sha256', this.#client.scope.cache).update(text).digest('hex')
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

/**
 * Returns a promise with the functions that settle it. The promise rejects with a CallError if it is not settled within
 * the given time in milliseconds.
 */
function deferred<T>(within: number): Deferred<T> {
  let [resolve, reject]: [(value: T) => void, (error: unknown) => void] = [() => {}, () => {}]
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  const late = setTimeout(() => reject(new CallError(CANCELLED, 'nobody asked for this build')), within)
  promise.then(
    () => clearTimeout(late),
    () => clearTimeout(late),
  )
  return { promise, resolve, reject }
}

function decode<T>(type: string, bytes: Buffer): T {
  try {
    return decodeMessage(type, bytes) as T // the table says so
  } catch {
    throw new CallError(INVALID_ARGUMENT, 'the request cannot be read')
  }
}
