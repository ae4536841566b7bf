import type { Slots } from '../http/slots.ts'

/** A Kubernetes object as the API server sends it: plain JSON, no field of it lost. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFields[]
  readonly [field: string]: unknown
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

export interface ManagedFields {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly time?: string
  readonly subresource?: string
  readonly fieldsV1?: unknown
}

/** Names one object. `namespace` is absent for objects of the whole cluster. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

/** Names objects of one kind. Without a namespace: those of all namespaces, or of the cluster. */
export interface ObjectQuery {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  /** A label selector: `a=b,c`. */
  readonly labels?: string | undefined
  /** A field selector, of the few fields that the kind lets be selected by: `type=Warning`. */
  readonly fields?: string | undefined
}

/** An object that a subresource takes or returns: it has a kind, and need not have a name. */
export interface SubresourceObject {
  readonly apiVersion: string
  readonly kind: string
  readonly [field: string]: unknown
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface PageOptions extends CallOptions {
  /** Objects of one page: few for objects of others, of which each may have 1.5 MiB. */
  readonly size?: number
  /** A slot is held from the request for a page until the next one is asked for: so many are in memory at a time. */
  readonly slots?: Slots
  /** Objects have no more than their metadata. */
  readonly metadataOnly?: boolean
}

export interface ApplyOptions extends CallOptions {
  /** The field manager. */
  readonly manager: string
  /** True to compute the result without writing anything. The answer has the version of the existing object. */
  readonly dryRun?: boolean
  /** Take fields over from other managers. */
  readonly force?: boolean
}

export interface PatchOptions extends CallOptions {
  /** The field manager. */
  readonly manager: string
  /** Ask what would become of the object, and write nothing. */
  readonly dryRun?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this very object. */
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly propagation?: 'Foreground' | 'Background' | 'Orphan'
}

/**
 * An event of a watch. The objects reported as `Changed` between `Restarted` and `Listed` are all
 * that exist.
 */
export type Change =
  | { readonly type: 'Restarted' }
  | { readonly type: 'Listed' }
  | { readonly type: 'Changed'; readonly object: KubeObject }
  | { readonly type: 'Deleted'; readonly object: KubeObject }

export interface LogOptions extends CallOptions {
  readonly container: string
  /** True for the log of the container before its last restart. */
  readonly previous?: boolean
  readonly tailLines?: number
  readonly sinceSeconds?: number
  /** RFC 3339; the server counts whole seconds. Not together with `sinceSeconds`. */
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly follow?: boolean
  /** Characters; longer lines come in pieces. */
  readonly longestLine?: number
}

/** A kind of objects, as discovery reports it. */
export interface Resource {
  /** Plural, as in addresses: `deployments`. */
  readonly name: string
  readonly namespaced: boolean
}

/** A kind of objects with the version of it that the cluster prefers. */
export interface KnownKind extends Resource {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * A Kubernetes cluster, as far as devctl uses one. Every method throws a ClusterError, and ends
 * soon after its signal is aborted (with the signal's reason).
 */
export interface Cluster {
  /** Name of the context, by which the user knows the cluster. */
  readonly name: string
  /** The namespace of the context. */
  readonly namespace: string
  /** Undefined for a kind that the cluster does not know. */
  resource(apiVersion: string, kind: string, options?: CallOptions): Promise<Resource | undefined>
  /** Every kind whose objects people can make, list and delete. */
  kinds(options?: CallOptions): Promise<readonly KnownKind[]>
  /** Undefined when there is none. */
  get(ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined>
  /** All objects, fetched in pages. */
  list(query: ObjectQuery, options?: CallOptions): Promise<readonly KubeObject[]>
  /**
   * Yields the objects page by page, for callers that need not have all of them at once. Fails midway if the server no
   * longer has the state that the list began with.
   */
  pages(query: ObjectQuery, options?: PageOptions): AsyncIterable<readonly KubeObject[]>
  /**
   * Applies an object with server-side apply and strict field validation. Returns the object in its new state, or with
   * `dryRun` in the state that it would have.
   */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>
  /** Throws `exists`. */
  create(object: KubeObject, options?: CallOptions): Promise<KubeObject>
  /** Replaces the object; throws `conflict` when its `resourceVersion` is an old one. */
  replace(object: KubeObject, options?: CallOptions): Promise<KubeObject>
  /**
   * Merges a patch into the object (RFC 7396: null removes a field, lists are replaced), with strict field validation.
   * Returns the object in its new state, or with `dryRun` in the state that it would have. Throws `not-found`, and
   * `conflict` if the patch has an outdated `resourceVersion`.
   */
  patch(ref: ObjectRef, patch: Readonly<Record<string, unknown>>, options: PatchOptions): Promise<KubeObject>
  /**
   * Sends an object to a subresource that is only written, such as `token` of a ServiceAccount, and
   * gives the answer.
   */
  createIn(
    ref: ObjectRef,
    subresource: string,
    object: SubresourceObject,
    options?: CallOptions,
  ): Promise<SubresourceObject>
  /** Gives false when there was none; throws `conflict` when a precondition does not hold. */
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<boolean>
  /**
   * The objects there are, then their changes, until the signal is aborted. Connections that end
   * are taken up again. The size of pages is for a server that has to list them.
   */
  watch(query: ObjectQuery, options: PageOptions): AsyncIterable<Change>
  /** Lines of a Pod's container, without line ends. */
  logs(pod: { readonly name: string; readonly namespace: string }, options: LogOptions): AsyncIterable<string>
}

/** The reason why a call to a cluster failed. */
export type ClusterFailure =
  /** No answer, or a connection that cannot be made (name, port, certificate, proxy, time). */
  | 'unreachable'
  /** The credentials are refused (401), or cannot be had. */
  | 'unauthorized'
  /** The user may not do this (403). */
  | 'forbidden'
  /** The kind, the namespace or the object does not exist (404). */
  | 'not-found'
  /** The fields belong to another manager, or a precondition does not hold (409). */
  | 'conflict'
  /** There is one already (409, AlreadyExists). */
  | 'exists'
  /** The object is not valid, or a field of it cannot change (422, 400). */
  | 'invalid'
  /** The server cannot do it now (429, 5xx), also after several tries. */
  | 'unavailable'

export class ClusterError extends Error {
  readonly failure: ClusterFailure
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined
  /** The server's reason: `Forbidden`, `Invalid`, `Conflict`. */
  readonly reason: string | undefined
  /** The error for each invalid field, or the manager that owns a field. */
  readonly causes: readonly { readonly field?: string; readonly message: string; readonly reason?: string }[]

  constructor(
    failure: ClusterFailure,
    message: string,
    details: {
      readonly status?: number
      readonly reason?: string
      readonly causes?: ClusterError['causes']
      readonly cause?: unknown
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.failure = failure
    this.status = details.status
    this.reason = details.reason
    this.causes = details.causes ?? []
  }
}

/** An admission webhook that a request failed for, in the server's words. */
export interface WebhookFailure {
  readonly name: string
  /** True if the webhook answered and denied the request; false if it cannot be reached, or did not answer in time. */
  readonly refuses: boolean
  /** The reason; empty if the webhook gave none. */
  readonly said: string
}

/**
 * The webhook that a message of the API server names; undefined when it is about something else.
 */
export function webhookIn(message: string): WebhookFailure | undefined {
  const denied = /admission webhook "([^"]+)" denied the request(?: without explanation|: )?([\s\S]*)/.exec(message)
  if (denied) return { name: denied[1]!, refuses: true, said: denied[2]!.trim() }
  const failed = /failed calling webhook "([^"]+)": ([\s\S]*)/.exec(message)
  return failed ? { name: failed[1]!, refuses: false, said: failed[2]!.trim() } : undefined
}
