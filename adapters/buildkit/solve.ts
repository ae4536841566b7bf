import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import type { BuildCache } from '../../compiler/values/images/build-cache.ts'
import type { BuilderConnection } from './connection.ts'
import { BuilderError, solveError } from './failure.ts'
import { type BuildSession, createSession, type SessionResources } from './session/session.ts'
import type { BuildStatus, Vertex } from './status.ts'

/** The input of a solve, the RPC with which BuildKit builds an image. */
export interface SolveRequest {
  /** Attributes of the Dockerfile frontend: https://github.com/moby/buildkit/blob/master/docs/dockerfile-frontend.md */
  readonly frontendAttributes: Readonly<Record<string, string>>
  /** Exporter of the result. If absent, the result stays in the builder's cache. */
  readonly exporter?: Exporter
  readonly cacheFrom?: readonly BuildCache[]
  readonly cacheTo?: readonly BuildCache[]
  readonly entitlements?: readonly string[]
  /** Key that identifies the folder of the context across builds. */
  readonly sharedKey: string
}

/** Destination of the result (https://github.com/moby/buildkit#output). */
export interface Exporter {
  readonly type: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface Solving {
  /** Name of the build, which is sent in a header of the session. */
  readonly name?: string
  readonly signal: AbortSignal
  readonly onStatus: (status: BuildStatus) => void
}

/**
 * Builds an image and returns the exporter's response, which contains the digest as `containerimage.digest`. Throws a
 * `BuildFailure` if a step fails, or a `BuilderError` for any other error of the builder. If the signal is aborted,
 * cancels the build on the builder and throws the abort reason.
 */
export async function solve(
  connection: BuilderConnection,
  request: SolveRequest,
  resources: SessionResources,
  { name: build, signal, onStatus }: Solving,
): Promise<Readonly<Record<string, string>>> {
  signal.throwIfAborted()
  const { name, control } = connection
  const session = createSession(resources, request.sharedKey)
  const ref = randomUUID()
  // Only a platform reads this header.
  const named = build === undefined ? [] : [['x-devctl-build', encodeURIComponent(build)] as const]
  const tunnel = await openTunnel(connection, [...session.headers, ...named], signal)
  session.serve(tunnel)
  const excess = new AbortController()
  const events = watch(control.status({ Ref: ref }), onStatus, text =>
    excess.abort(new BuilderError('refused', `${name} ${text}`)),
  )
  try {
    const { ExporterResponse } = await control.solve(
      messageOf(request, ref, session.id),
      AbortSignal.any([signal, excess.signal]),
    )
    await events.ended(signal)
    signal.throwIfAborted()
    excess.signal.throwIfAborted()
    return ExporterResponse ?? {}
  } catch (error) {
    signal.throwIfAborted()
    excess.signal.throwIfAborted()
    // The output of a step can arrive after the step failed.
    await events.ended(signal)
    signal.throwIfAborted()
    throw solveError(error as ServiceError, name, events.failedStep())
  } finally {
    events.stop()
    tunnel.destroy()
    await session.close()
  }
}

async function openTunnel(
  { name, openSession }: BuilderConnection,
  headers: BuildSession['headers'],
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await openSession(headers, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    throw new BuilderError('lost', `the connection to ${name} was lost: ${message}`, { cause: error })
  }
}

/** Longest wait for the next event after a build has ended, in milliseconds. */
const SILENCE = 3000
/**
 * Longest wait for the first event after a build has ended, in milliseconds: the event stream of a refused build never
 * ends.
 */
const FIRST_SILENCE = 300
/** Longest total wait for events after a build has ended, in milliseconds. */
const LAST_EVENTS = 10_000

/**
 * Maximum total number of steps, parts of steps and warnings of a build. The limit exists because all of them are kept
 * in memory.
 */
const MOST_ENTRIES = 50_000
/** gRPC status code for a message that is too large. */
const RESOURCE_EXHAUSTED = 8

/**
 * Forwards the events of a build to `onStatus`, and returns functions that stop the stream, wait for its end and report
 * a failed step. Calls `onExcess` if the builder sends too many or too large events.
 */
function watch(
  stream: ClientReadableStream<BuildStatus>,
  onStatus: Solving['onStatus'],
  onExcess: (text: string) => void,
) {
  const entries = new Set<string>()
  let onSilence = () => {}
  const silence = new Promise<void>(resolve => {
    onSilence = resolve
  })
  let timer: NodeJS.Timeout | undefined
  let failedStep: Vertex | undefined
  let hasBegun = false
  stream.on('data', (status: BuildStatus) => {
    hasBegun = true
    timer?.refresh()
    for (const entry of entriesOf(status)) entries.add(entry)
    if (entries.size > MOST_ENTRIES) {
      stream.cancel()
      return onExcess(`reports more than ${MOST_ENTRIES} steps, parts of steps and warnings`)
    }
    failedStep ??= status.vertexes?.find(({ error }) => error)
    onStatus(status)
  })
  stream.on('error', (error: ServiceError) => {
    // The response to the solve request reports every other error.
    if (error.code === RESOURCE_EXHAUSTED) onExcess(`sent a message that is too large: ${error.details}`)
  })
  const closed = new Promise<void>(resolve => {
    for (const event of ['end', 'close', 'error']) stream.on(event, () => resolve())
  })
  return {
    stop: () => stream.cancel(),
    /** Returns the first failed step; undefined if no step has failed. */
    failedStep: () => failedStep,
    /**
     * Waits for the end of the events. Stops early if no event arrives for a while, if the events continue for too
     * long, or if the signal is aborted.
     */
    ended: async (signal: AbortSignal) => {
      if (signal.aborted) return
      signal.addEventListener('abort', onSilence, { once: true })
      const bound = setTimeout(onSilence, LAST_EVENTS)
      timer = setTimeout(onSilence, hasBegun ? SILENCE : FIRST_SILENCE)
      await Promise.race([closed, silence])
      signal.removeEventListener('abort', onSilence)
      clearTimeout(timer)
      clearTimeout(bound)
    },
  }
}

function* entriesOf({ vertexes = [], statuses = [], warnings = [] }: BuildStatus): Generator<string> {
  for (const { digest } of vertexes) yield digest
  for (const { vertex, ID } of statuses) yield `${vertex} ${ID}`
  for (const { short } of warnings) yield Buffer.from(short ?? []).toString()
}

function messageOf(request: SolveRequest, ref: string, session: string) {
  const entry = ({ type, attributes }: BuildCache) => ({ Type: type, Attrs: attributes })
  const { exporter } = request
  const imports = (request.cacheFrom ?? []).map(entry)
  return {
    Ref: ref,
    Session: session,
    Frontend: 'dockerfile.v0',
    FrontendAttrs: {
      ...request.frontendAttributes,
      ...(imports.length > 0 && { 'cache-imports': JSON.stringify(imports) }),
    },
    // Older builders read the first two fields.
    ...(exporter && { Exporter: exporter.type, ExporterAttrs: exporter.attributes, Exporters: [entry(exporter)] }),
    Cache: { Imports: imports, Exports: (request.cacheTo ?? []).map(entry) },
    Entitlements: [...(request.entitlements ?? [])],
  }
}
