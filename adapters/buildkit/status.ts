/**
 * The progress of a build (`moby.buildkit.v1.StatusResponse`): steps, their state, and their
 * output.
 */
export interface BuildStatus {
  readonly vertexes?: readonly Vertex[]
  readonly statuses?: readonly VertexStatus[]
  readonly logs?: readonly VertexLog[]
  readonly warnings?: readonly VertexWarning[]
}

/** A step of a build; reported again when it starts and ends. */
export interface Vertex {
  readonly digest: string
  readonly inputs?: readonly string[]
  readonly name: string
  readonly cached?: boolean
  readonly started?: Timestamp
  readonly completed?: Timestamp
  readonly error?: string
}

/** A part of a step with a counter, such as the bytes of a layer that is pulled or pushed. */
export interface VertexStatus {
  readonly ID: string
  readonly vertex: string
  readonly name?: string
  readonly current?: number
  readonly total?: number
  readonly started?: Timestamp
  readonly completed?: Timestamp
}

/** Output of a step; a chunk can end in the middle of a line. */
export interface VertexLog {
  readonly vertex: string
  readonly timestamp?: Timestamp
  /** Stream of the output: 1 for standard output, 2 for standard error. */
  readonly stream?: number
  readonly msg?: Uint8Array
}

/** A finding of BuildKit's Dockerfile checks, or a warning of devctl about the build. */
export interface VertexWarning {
  readonly vertex: string
  readonly level?: number
  readonly short?: Uint8Array
  readonly detail?: readonly Uint8Array[]
  readonly url?: string
  readonly info?: { readonly filename?: string }
  readonly ranges?: readonly { readonly start?: { readonly line?: number } }[]
}

export interface Timestamp {
  readonly seconds?: number
  readonly nanos?: number
}

/** Returns a warning that is not about a step. */
export const warningOf = (text: string): VertexWarning => ({ vertex: '', short: Buffer.from(text) })
