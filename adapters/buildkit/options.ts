import type { Keepalive } from './keepalive.ts'

/** Options for connecting to a builder. */
export interface BuilderOptions {
  /** Certificates: with them, or with the scheme `https` or `tls`, the connection is encrypted. */
  readonly tls?: BuilderTls
  readonly keepalive?: Keepalive
  readonly signal: AbortSignal
  /** Says where the Docker Engine is. Absent: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Milliseconds in which the builder must answer: 6 s if absent. */
  readonly answerWithin?: number
}

/** PEM. Without `ca`, the authorities that Node.js trusts. */
export interface BuilderTls {
  readonly ca?: Buffer
  /** The certificate of the client and its key. */
  readonly cert?: Buffer
  readonly key?: Buffer
  /** The name in the certificate of the builder, if it is not that of the address. */
  readonly serverName?: string
}

/** Bytes of a message that a builder may send, also decompressed: twice what BuildKit sends. */
export const LARGEST_MESSAGE = 32 << 20

/** Milliseconds in which a builder must answer. */
export const ANSWER_WITHIN = 6000
