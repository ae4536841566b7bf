import type { Duplex } from 'node:stream'
import type { ClientReadableStream } from '@grpc/grpc-js'
import { BuilderError } from './failure.ts'
import type { BuildSession } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/** An open connection to a builder, over which devctl sends requests and opens sessions. */
export interface BuilderConnection {
  readonly name: string
  readonly control: Control
  /** Opens the connection over which the builder sends its own requests. */
  readonly openSession: (headers: BuildSession['headers'], signal: AbortSignal) => Promise<Duplex>
  close(): void
}

/** The RPCs of a builder (`moby.buildkit.v1.Control`). */
export interface Control {
  info(signal: AbortSignal): Promise<{ readonly buildkitVersion?: { readonly version?: string } }>
  solve(
    request: unknown,
    signal: AbortSignal,
  ): Promise<{ readonly ExporterResponse?: Readonly<Record<string, string>> }>
  status(request: { readonly Ref: string }): ClientReadableStream<BuildStatus>
  /** Waits until the client is connected. Rejects at the deadline, or with the signal's abort reason. */
  connected(deadline: Date, signal: AbortSignal): Promise<void>
}

/** Time within which a restarted daemon or machine should be reachable again, in milliseconds. */
const BACK_WITHIN = 30_000

/** Waits until a builder responds again: see `Builder.back`. */
export async function connectedAgain({ name, control }: BuilderConnection, signal: AbortSignal): Promise<void> {
  try {
    await control.connected(new Date(Date.now() + BACK_WITHIN), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new BuilderError(
      'lost',
      `the connection to ${name} was lost, and it was not back in ${BACK_WITHIN / 1000} s`,
      {
        cause: error,
      },
    )
  }
}
