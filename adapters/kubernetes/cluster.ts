import type { Slots } from '../http/slots.ts'

/** A Kubernetes object as sent by the API server: plain JSON, with all of its fields. */
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

/** Identifies one object. `namespace` is absent for cluster-scoped objects. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

/**
 * Selects objects of one kind. Without a namespace, the kind is cluster-scoped, or the selection covers all namespaces.
 */
export interface ObjectQuery {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  /** Label selector: `a=b,c`. */
  readonly labels?: string | undefined
  /** Field selector, for the few fields that the kind supports: `type=Warning`. */
  readonly fields?: string | undefined
}

/** An object that a subresource accepts or returns: it has a kind, but not necessarily a name. */
export interface SubresourceObject {
  readonly apiVersion: string
  readonly kind: string
  readonly [field: string]: unknown
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface PageOptions extends CallOptions {
  /**
   * Number of objects per page. Use a small number for objects that other programs create: each of them can be 1.5 MiB
   * large.
   */
  readonly size?: number
  /** Slots that limit how many pages are in memory: each page holds a slot until the next one is requested. */
  readonly slots?: Slots
  /** True to fetch only the metadata of objects. */
  readonly metadataOnly?: boolean
}

export interface ApplyOptions extends CallOptions {
  /** Name of the field manager. */
  readonly manager: string
  /**
   * True to compute the result without writing anything. The response then contains the `resourceVersion` of the
   * existing object.
   */
  readonly dryRun?: boolean
  /** True to take over fields from other managers. */
  readonly force?: boolean
}

export interface PatchOptions extends CallOptions {
  /** Name of the field manager. */
  readonly manager: string
  /** True to compute the result without writing anything. */
  readonly dryRun?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: delete only the object with this uid. */
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly propagation?: 'Foreground' | 'Background' | 'Orphan'
}

/** An event of a watch. Between `Restarted` and `Listed`, all existing objects are reported as `Changed`. */
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
  /** Start time in RFC 3339, which the server evaluates in whole seconds. Cannot be combined with `sinceSeconds`. */
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly follow?: boolean
  /** Maximum line length in characters; longer lines are split. */
  readonly longestLine?: number
}

/** A kind of objects, as discovery reports it. */
export interface Resource {
  /** Plural name, as in API paths: `deployments`. */
  readonly name: string
  readonly namespaced: boolean
}

/** A kind of objects with the cluster's preferred version. */
export interface KnownKind extends Resource {
  readonly apiVersion: string
  readonly kind: string
}

/** The kinds of a cluster. */
export interface KnownKinds {
  readonly kinds: readonly KnownKind[]
  /** Groups, with their versions, whose kinds are unknown because their server is down: `metrics.k8s.io/v1beta1`. */
  readonly unavailable: readonly string[]
}

/**
 * A Kubernetes cluster, with the operations that devctl uses. Every method throws a ClusterError, and ends soon after
 * its signal is aborted (with the signal's abort reason).
 */
export interface Cluster {
  /** Name of the context, which identifies the cluster to the user. */
  readonly name: string
  /** Namespace of the context. */
  readonly namespace: string
  /** Returns the resource of a kind; undefined if the cluster does not have the kind. */
  resource(apiVersion: string, kind: string, options?: CallOptions): Promise<Resource | undefined>
  /** Returns every kind whose objects users can create, list and delete, except kinds of unavailable groups. */
  kinds(options?: CallOptions): Promise<KnownKinds>
  /** Returns an object; undefined if it does not exist. */
  get(ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined>
  /** Returns all objects, fetched in pages. */
  list(query: ObjectQuery, options?: CallOptions): Promise<readonly KubeObject[]>
  /**
   * Yields the objects page by page, for callers that do not need all of them at once. Fails midway if the server no
   * longer has the state that the list started with.
   */
  pages(query: ObjectQuery, options?: PageOptions): AsyncIterable<readonly KubeObject[]>
  /**
   * Applies an object with server-side apply and strict field validation. Returns the object in its new state, or with
   * `dryRun` in the state that it would have.
   */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>
  /** Creates an object. Throws a ClusterError with the failure `exists` if it already exists. */
  create(object: KubeObject, options?: CallOptions): Promise<KubeObject>
  /** Replaces an object. Throws a ClusterError with the failure `conflict` if its `resourceVersion` is outdated. */
  replace(object: KubeObject, options?: CallOptions): Promise<KubeObject>
  /**
   * Merges a patch into the object (RFC 7396: null removes a field, lists are replaced), with strict field validation.
   * Returns the object in its new state, or with `dryRun` in the state that it would have. Throws a ClusterError with
   * the failure `not-found` if there is no such object, or `conflict` if the patch has an outdated `resourceVersion`.
   */
  patch(ref: ObjectRef, patch: Readonly<Record<string, unknown>>, options: PatchOptions): Promise<KubeObject>
  /** Sends an object to a write-only subresource, such as `token` of a ServiceAccount, and returns the response. */
  createIn(
    ref: ObjectRef,
    subresource: string,
    object: SubresourceObject,
    options?: CallOptions,
  ): Promise<SubresourceObject>
  /**
   * Deletes an object. Returns false if it did not exist. Throws a ClusterError with the failure `conflict` if a
   * precondition does not hold.
   */
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<boolean>
  /**
   * Yields the existing objects, then their changes, until the signal is aborted. Reconnects when a connection ends.
   * The page size is only used if the existing objects have to be listed with a separate request.
   */
  watch(query: ObjectQuery, options: PageOptions): AsyncIterable<Change>
  /** Yields the lines of a container's log, without line ends. */
  logs(pod: { readonly name: string; readonly namespace: string }, options: LogOptions): AsyncIterable<string>
  /** Yields the bytes of a container's log, in parts of any length. */
  logBytes(
    pod: { readonly name: string; readonly namespace: string },
    options: Omit<LogOptions, 'longestLine'>,
  ): AsyncIterable<Uint8Array>
}

/** Reason why a call to a cluster failed. */
export type ClusterFailure =
  /** No response, or no connection (name, port, certificate, proxy, timeout). */
  | 'unreachable'
  /** The server rejected the credentials (401), or none could be obtained. */
  | 'unauthorized'
  /** The user has no permission (403). */
  | 'forbidden'
  /** The kind, the namespace or the object does not exist (404). */
  | 'not-found'
  /** The fields belong to another manager, or a precondition does not hold (409). */
  | 'conflict'
  /** The object already exists (409, AlreadyExists). */
  | 'exists'
  /** The object is invalid, or one of its fields is immutable (422, 400). */
  | 'invalid'
  /** The server is temporarily unavailable (429, 5xx), even after several attempts. */
  | 'unavailable'

export class ClusterError extends Error {
  readonly failure: ClusterFailure
  /** HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Reason in the server's Status: `Forbidden`, `Invalid`, `Conflict`. */
  readonly reason: string | undefined
  /** Invalid fields with their errors, or conflicting fields with the managers that own them. */
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

/** The admission webhook that made a request fail, parsed from the server's message. */
export interface WebhookFailure {
  readonly name: string
  /** True if the webhook denied the request; false if it could not be reached, or did not respond in time. */
  readonly refuses: boolean
  /**
   * Reason in the server's message: the reason of the webhook, or the reason why the call to the webhook failed. Empty
   * if the message contains none.
   */
  readonly said: string
}

/** Returns the webhook named in a message of the API server; undefined if the message is not about a webhook. */
export function webhookIn(message: string): WebhookFailure | undefined {
  const denied = /admission webhook "([^"]+)" denied the request(?: without explanation|: )?([\s\S]*)/.exec(message)
  if (denied) return { name: denied[1]!, refuses: true, said: denied[2]!.trim() }
  const failed = /failed calling webhook "([^"]+)": ([\s\S]*)/.exec(message)
  return failed ? { name: failed[1]!, refuses: false, said: failed[2]!.trim() } : undefined
}
