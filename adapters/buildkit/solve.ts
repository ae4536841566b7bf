import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServiceError } from '@grpc/grpc-js'
import type { BuilderConnection } from './connect.ts'
import { buildFailure } from './failure.ts'
import type { SessionResources } from './session/session.ts'
import { createSession } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/** What BuildKit is asked to do. */
export interface SolveRequest {
  /** Attributes of the Dockerfile frontend: https://github.com/moby/buildkit/blob/master/docs/dockerfile-frontend.md */
  readonly frontendAttributes: Readonly<Record<string, string>>
  readonly exporter: Exporter
  readonly cacheFrom?: readonly CacheEntry[]
  readonly cacheTo?: readonly CacheEntry[]
  readonly entitlements?: readonly string[]
  /** Names the folder of the context between builds. */
  readonly sharedKey: string
}

/** Where the result goes (https://github.com/moby/buildkit#output). */
export interface Exporter {
  readonly type: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface CacheEntry {
  readonly type: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface Solving {
  readonly signal: AbortSignal
  readonly onStatus: (status: BuildStatus) => void
}

/**
 * Builds, and gives what the exporter tells (`containerimage.digest`). Throws a `BuildFailure` where a step fails, and what the
 * connection fails with. The abort of the signal cancels the build on the builder.
 */
export async function solve(
  { protocol, control, openSession }: BuilderConnection,
  request: SolveRequest,
  resources: SessionResources,
  { signal, onStatus }: Solving,
): Promise<Readonly<Record<string, string>>> {
  const session = createSession(protocol, resources, request.sharedKey)
  const ref = randomUUID()
  const connection = await openSession(session.headers)
  session.serve(connection)
  const status = control.status({ Ref: ref })
  status.on('data', onStatus)
  // The answer to the solve says what failed.
  status.on('error', () => {})
  const ended = once(status, 'close')
  try {
    const { ExporterResponse } = await control.solve(messageOf(request, ref, session.id), signal)
    await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 1000).unref())])
    return ExporterResponse ?? {}
  } catch (error) {
    throw buildFailure(error as ServiceError, protocol) ?? error
  } finally {
    status.cancel()
    connection.destroy()
    session.close()
  }
}

function messageOf(request: SolveRequest, ref: string, session: string) {
  const entry = ({ type, attributes }: CacheEntry) => ({ Type: type, Attrs: attributes })
  const { type, attributes } = request.exporter
  const imports = (request.cacheFrom ?? []).map(entry)
  return {
    Ref: ref,
    Session: session,
    Frontend: 'dockerfile.v0',
    FrontendAttrs: {
      ...request.frontendAttributes,
      ...(imports.length > 0 && { 'cache-imports': JSON.stringify(imports) }),
    },
    // Older builders read the first two.
    Exporter: type,
    ExporterAttrs: attributes,
    Exporters: [{ Type: type, Attrs: attributes }],
    Cache: { Imports: imports, Exports: (request.cacheTo ?? []).map(entry) },
    Entitlements: [...(request.entitlements ?? [])],
  }
}
