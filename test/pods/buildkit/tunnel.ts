import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { BuildCall, Builder, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { connectOver } from '../../../adapters/buildkit/connect.ts'
import type { BuildScope } from '../../../platform/rules/registry/build-request.ts'
import { serveBuilds } from '../../../platform/server/builds/build-tunnel.ts'
import { type BuilderPool, makePools } from '../../../platform/server/builds/builder-pool.ts'
import { buildCall, imageInput } from '../../support/buildkit/input.ts'

export const poolOf = (builders: readonly string[], atOnce = 4): BuilderPool =>
  makePools({ default: builders, untrusted: [], atOnce }).default!

/** User who may build for a namespace. */
export interface Tenant {
  readonly namespace: string
  readonly uid: string
  readonly user?: string
  readonly images?: BuildScope['images']
  readonly pool: BuilderPool
  readonly check?: () => Promise<void>
  /** Repository prefixes from which the user may pull images; if absent, only that of their own namespace. */
  readonly pulls?: readonly string[]
}

/** Opens a tunnel, and returns the client's end. */
export async function tunnelTo({
  namespace,
  uid,
  user = namespace,
  images,
  pool,
  check = async () => {},
  pulls = images ? [images.place] : [],
}: Tenant): Promise<Socket> {
  const [here, there] = await pair()
  serveBuilds(there, {
    user,
    scope: { namespace, cache: uid, ...(images && { images }) },
    pool,
    key: randomBytes(32),
    room: { take: () => true, give() {} },
    check,
    pulls: async () => pulls,
  })
  return here
}

/** Connects to the builders behind a tunnel with devctl's own client. */
export const builderOf = (tenant: Tenant): Promise<Builder> =>
  connectOver(
    { name: 'the platform', open: () => tunnelTo(tenant), isFinal: () => true },
    { signal: AbortSignal.timeout(60_000) },
  )

/** Builds, and returns what the steps printed, the names of those that came from the cache, and the warnings. */
export async function buildFor(
  tenant: Tenant,
  part: Partial<ImageInput>,
  call: Partial<BuildCall> = {},
): Promise<{ readonly log: string; readonly cached: readonly string[]; readonly warnings: readonly string[] }> {
  let log = ''
  const cached = new Set<string>()
  const warnings: string[] = []
  const builder = await builderOf(tenant)
  try {
    await builder.build(
      imageInput(part),
      buildCall({
        ...call,
        onStatus: status => {
          for (const one of status.logs ?? []) log += Buffer.from(one.msg ?? []).toString()
          for (const one of status.vertexes ?? []) if (one.cached) cached.add(one.name ?? '')
          warnings.push(...(status.warnings ?? []).map(({ short }) => Buffer.from(short ?? []).toString()))
          call.onStatus?.(status)
        },
      }),
    )
  } finally {
    builder.close()
  }
  return { log, cached: [...cached], warnings }
}

/** Returns the two ends of a connection. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const here = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [there] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const end of [here, there]) end.setNoDelay(true).on('error', () => {})
  return [here, there]
}
