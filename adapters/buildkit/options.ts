import type { Keepalive } from './keepalive.ts'

/** Options for connecting to a builder. */
export interface BuilderOptions {
  /** Certificates. If present, or if the scheme is `https` or `tls`, the connection is encrypted. */
  readonly tls?: BuilderTls
  readonly keepalive?: Keepalive
  readonly signal: AbortSignal
  /** Environment that determines the address of the Docker Engine. If absent, the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Timeout for the builder's response, in milliseconds; 6 s if absent. */
  readonly answerWithin?: number
}

/** Certificates in PEM format. If `ca` is absent, the certificate authorities that Node.js trusts are used. */
export interface BuilderTls {
  readonly ca?: Buffer
  /** Client certificate (`cert`) and its private key (`key`). */
  readonly cert?: Buffer
  readonly key?: Buffer
  /** Name in the builder's certificate, if it differs from the address. */
  readonly serverName?: string
}

/** Maximum size of a message from a builder in bytes, after decompression: twice the size that BuildKit sends. */
export const LARGEST_MESSAGE = 32 << 20

/** Timeout for a builder's response, in milliseconds. */
export const ANSWER_WITHIN = 6000
