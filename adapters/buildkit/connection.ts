import type { Duplex } from 'node:stream'
import type { ClientReadableStream } from '@grpc/grpc-js'
import type { BuildkitProtocol } from './protocol.ts'
import type { BuildSession } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/** A connection to a builder. */
export interface BuilderConnection {
  readonly name: string
  readonly protocol: BuildkitProtocol
  readonly control: Control
  /** Opens the connection over which the builder calls back. */
  readonly openSession: (headers: BuildSession['headers'], signal: AbortSignal) => Promise<Duplex>
  close(): void
}

/** The calls of a builder (`moby.buildkit.v1.Control`). */
export interface Control {
  info(signal: AbortSignal): Promise<{ readonly buildkitVersion?: { readonly version?: string } }>
  solve(
    request: unknown,
    signal: AbortSignal,
  ): Promise<{ readonly ExporterResponse?: Readonly<Record<string, string>> }>
  status(request: { readonly Ref: string }): ClientReadableStream<BuildStatus>
}
