import type { ServiceError } from '@grpc/grpc-js'
import { maskLogins } from '../../compiler/values/images/build-context.ts'
import { olderFailure } from './older-failure.ts'
import { registryAnswer, shortRegistryText } from './registry-failure.ts'
import type { Vertex } from './status.ts'
import { decodeMessage } from './wire.ts'

/** Error of a build in which a step failed. */
export class BuildFailure extends Error {
  /** Position of the step in the Dockerfile, if BuildKit reports it. */
  readonly place: DockerfilePlace | undefined
  /** Digest that identifies the step in the status of the build. */
  readonly step: string | undefined
  readonly exitStatus: number | undefined
  /** True if a registry failed temporarily: the same build may succeed later. */
  readonly isTransient: boolean
  /** Name of the step in the status of the build. Set if the builder does not report the position of the step. */
  readonly stepName: string | undefined

  constructor(
    message: string,
    {
      place,
      step,
      exitStatus,
      isTransient = false,
      stepName,
    }: Partial<Pick<BuildFailure, 'place' | 'step' | 'exitStatus' | 'isTransient' | 'stepName'>> = {},
  ) {
    super(message)
    this.stepName = stepName
    this.place = place
    this.step = step
    this.exitStatus = exitStatus
    this.isTransient = isTransient
  }
}

export interface DockerfilePlace {
  readonly filename: string
  readonly text: string
  /** First line (`start`) and last line (`end`) in the Dockerfile, counted from 1. */
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

/**
 * Returns the failure of a step, from the details of a solve error (`grpc-status-details-bin`); undefined if the error
 * is not about a step.
 */
function buildFailure(error: ServiceError): BuildFailure | undefined {
  const binary = error.metadata?.get('grpc-status-details-bin')[0]
  if (!Buffer.isBuffer(binary)) return undefined
  const details = [...detailsOf(binary)]
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
  const isTransient = exit === undefined && registryAnswer(error.details) === 'transient'
  return new BuildFailure(error.details, { place, step: vertex?.digest, exitStatus: exit?.Code, isTransient })
}

/**
 * Returns the failure of a step, parsed from the text of an error without details, as sent by the builder in Docker
 * 20.10. Undefined if the error is not about a step.
 */
function plainFailure(text: string, failedStep: Vertex | undefined): BuildFailure | undefined {
  const start = { filename: 'Dockerfile', text: '', start: 1, end: 1 }
  if (/\bthe Dockerfile(?: \([^)]*\))? cannot be empty$/i.test(text))
    return new BuildFailure('the Dockerfile cannot be empty', { place: start })
  if (UNKNOWN_TARGET.test(text)) return new BuildFailure(text)
  const [syntax, line] = /dockerfile parse error line (\d+): .*/s.exec(text) ?? []
  if (syntax !== undefined) {
    const place = { filename: 'Dockerfile', text: '', start: Number(line), end: Number(line) }
    return new BuildFailure(syntax, { place })
  }
  const found = olderFailure(text, failedStep)
  if (!found) return undefined
  const { message, stepName, exitStatus } = found
  const isTransient = exitStatus === undefined && registryAnswer(text) === 'transient'
  const step = stepName === undefined && exitStatus === undefined ? undefined : failedStep?.digest
  return new BuildFailure(message, { step, exitStatus, isTransient, stepName })
}

/** Error of the frontend if `target` names a missing stage. */
const UNKNOWN_TARGET = /target stage "[^"]*" could not be found/

/**
 * Yields the JSON details of a `google.rpc.Status`, in which BuildKit describes errors. Skips details whose type does
 * not end in `+json`.
 */
function* detailsOf(status: Buffer): Generator<Detail> {
  const { details = [] } = decodeMessage('google.rpc.Status', status) as StatusMessage
  for (const { type_url: type, value } of details)
    if (type.endsWith('+json')) yield { type, json: JSON.parse(Buffer.from(value).toString()) }
}

interface StatusMessage {
  readonly details?: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}

/**
 * Error of a builder that cannot be reached, refuses the connection or the build, or lost the connection; of a registry
 * that rejects the image; or of a file that changed during the build.
 */
export class BuilderError extends Error {
  readonly kind: 'unreachable' | 'refused' | 'tls' | 'too-old' | 'lost' | 'registry' | 'changed'
  /** True if the same build may succeed a moment later. */
  readonly isTransient: boolean

  constructor(kind: BuilderError['kind'], message: string, options?: ErrorOptions & { isTransient?: boolean }) {
    super(message, options)
    this.kind = kind
    this.isTransient = options?.isTransient ?? kind === 'lost'
  }
}

/** gRPC status codes for which devctl has its own messages. */
const DEADLINE_EXCEEDED = 4
const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14
const DATA_LOSS = 15
const UNAUTHENTICATED = 16

/** Returns the error for a failed connection to a builder. `name` is the builder's name in messages. */
export function connectionError(error: ServiceError, name: string): BuilderError {
  const { code, details } = error
  const fail = (kind: BuilderError['kind'], text: string) => new BuilderError(kind, text, { cause: error })
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED)
    return fail('refused', `${name} does not accept the connection: ${details}`)
  if (code === UNIMPLEMENTED && /unknown service/.test(details)) return fail('refused', `${name} is another program`)
  // BuildKit 0.11 added the RPC.
  if (code === UNIMPLEMENTED) return fail('too-old', `${name} is older than 0.11`)
  const [kind, text] = reasonOf(lastError(details))
  return fail(kind, `no connection to ${name}: ${text}`)
}

/**
 * Returns the part of gRPC's error message that describes the last attempt to connect; the full message if there is no
 * such part.
 */
const lastError = (details: string): string =>
  /Last error: (?:Error: )?(.*?)\s*(?:\. Resolution note:.*)?$/s.exec(details)?.[1] ?? details

/** Matches the error code that Node.js prints before a message. */
const CODE = /^(?:Error )?\[?[A-Z]+(?:_[A-Z]+)+\]?:? /

/** Returns the kind of a connection failure, and the reason in words, derived from a message of Node.js or gRPC. */
export function reasonOf(reason: string): readonly [kind: BuilderError['kind'], text: string] {
  const libraryReason = /:SSL routines:[^:]*:([^:]+)/.exec(reason)?.[1]
  if (libraryReason === 'wrong version number') return ['tls', 'it does not use TLS']
  if (libraryReason !== undefined) return ['tls', libraryReason]
  if (/certificate|altnames|ERR_TLS/i.test(reason)) return ['tls', reason.replace(CODE, '')]
  if (/Name resolution failed|ENOTFOUND|EAI_AGAIN/.test(reason)) return ['unreachable', 'the name does not resolve']
  if (/ENOENT/.test(reason)) return ['unreachable', 'the socket does not exist']
  if (/ECONNREFUSED/.test(reason)) return ['unreachable', 'nothing listens there']
  if (/EACCES|EPERM/.test(reason)) return ['refused', 'no permission']
  // Errors of the HTTP/2 and HTTP clients for a response in a different protocol.
  if (/^Protocol error|^HPE_/.test(reason)) return ['refused', 'another program listens there']
  if (/^Failed to connect/.test(reason)) return ['unreachable', 'the connection was closed; it may need TLS']
  return ['unreachable', reason]
}

/** Returns the error for a failed solve: a failed step, a registry error, a lost connection, or a refused build. */
export function solveError(
  error: ServiceError,
  name: string,
  failedStep: Vertex | undefined,
): BuildFailure | BuilderError {
  error.details = maskLogins(error.details)
  const { code, details } = error
  const failure = buildFailure(error) ?? plainFailure(details, failedStep)
  if (failure && (failure.exitStatus !== undefined || !SESSION_LOST.test(details))) return failure
  const answer = registryAnswer(details)
  if (answer)
    return new BuilderError('registry', shortRegistryText(details), {
      cause: error,
      isTransient: answer === 'transient',
    })
  if (code === UNAVAILABLE || code === DATA_LOSS || LOST.test(details))
    return new BuilderError('lost', `the connection to ${name} was lost: ${reasonOf(lastError(details))[1]}`, {
      cause: error,
    })
  if (code === DEADLINE_EXCEEDED) return new BuilderError('lost', `${name} took too long: ${details}`, { cause: error })
  return new BuilderError('refused', `${name} does not accept the build: ${details}`, { cause: error })
}

/** Errors of a step that could not reach the client because the session was lost. */
const SESSION_LOST = /no active session|transport is closing|closing transport|error reading from server/

/** Errors of a builder or of gRPC that indicate a lost connection or session. */
const LOST =
  /RST_STREAM|ECONNRESET|EPIPE|transport is closing|closing transport|connection error|connection reset|no active session|session .*not found|no such job|error reading from server|\bEOF\b/i
