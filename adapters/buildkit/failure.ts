import type { ServiceError } from '@grpc/grpc-js'
import type { BuildkitProtocol } from './protocol.ts'

/** A step of a build that failed. */
export class BuildFailure extends Error {
  /** Where the step stands, if BuildKit says. */
  readonly place: DockerfilePlace | undefined
  /** The step, as the status calls it. */
  readonly step: string | undefined
  readonly exitStatus: number | undefined

  constructor(
    message: string,
    place: DockerfilePlace | undefined,
    step: string | undefined,
    exitStatus: number | undefined,
  ) {
    super(message)
    this.place = place
    this.step = step
    this.exitStatus = exitStatus
  }
}

export interface DockerfilePlace {
  readonly filename: string
  readonly text: string
  /** Lines, counted from 1. */
  readonly start: number
  readonly end: number
}

interface Detail {
  readonly type: string
  readonly json: unknown
}

interface SourceDetail {
  readonly info?: { readonly filename?: string; readonly data?: string }
  readonly ranges?: readonly {
    readonly start?: { readonly line?: number }
    readonly end?: { readonly line?: number }
  }[]
}

/** What a failed solve says about its step (`grpc-status-details-bin`); undefined where it is not about one. */
export function buildFailure(error: ServiceError, protocol: BuildkitProtocol): BuildFailure | undefined {
  const binary = error.metadata?.get('grpc-status-details-bin')[0]
  if (!Buffer.isBuffer(binary)) return undefined
  const details = [...detailsOf(binary, protocol)]
  const find = <Json>(name: string) => details.find(({ type }) => type.endsWith(name))?.json as Json | undefined
  const source = find<SourceDetail>('errdefs.Source+json')
  const vertex = find<{ digest?: string }>('errdefs.Vertex+json')
  const exit = find<{ Code?: number }>('ExitMessage+json')
  const [range] = source?.ranges ?? []
  if (!vertex && !range) return undefined
  const place = range && {
    filename: source?.info?.filename ?? 'Dockerfile',
    text: Buffer.from(source?.info?.data ?? '', 'base64').toString(),
    start: range.start?.line ?? 1,
    end: range.end?.line ?? range.start?.line ?? 1,
  }
  return new BuildFailure(error.details, place, vertex?.digest, exit?.Code)
}

/** The details of a `google.rpc.Status`: BuildKit writes them as JSON, whose type says so. */
function* detailsOf(status: Buffer, { types }: BuildkitProtocol): Generator<Detail> {
  const { details = [] } = types.lookupType('google.rpc.Status').decode(status) as unknown as StatusMessage
  for (const { type_url: type, value } of details)
    if (type.endsWith('+json')) yield { type, json: JSON.parse(Buffer.from(value).toString()) }
}

interface StatusMessage {
  readonly details?: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}

/** The builder cannot be reached, refuses the connection or the build, or lost the connection. */
export class BuilderError extends Error {
  readonly kind: 'unreachable' | 'refused' | 'tls' | 'too-old' | 'lost' | 'registry'

  constructor(kind: BuilderError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
