import { pathOf } from './address.ts'
import { isDeleted, isObject } from './answers.ts'
import {
  type ApplyOptions,
  type CallOptions,
  type Change,
  type Cluster,
  ClusterError,
  type DeleteOptions,
  type KnownKinds,
  type KubeObject,
  type LogOptions,
  type ObjectQuery,
  type ObjectRef,
  type PageOptions,
  type PatchOptions,
  type Resource,
  type SubresourceObject,
} from './cluster.ts'
import { type KubeconfigAccess, kubeconfigAccess } from './connection.ts'
import { contains } from './contains.ts'
import { Discovery } from './discovery.ts'
import type { Env } from './kubeconfig.ts'
import { listAll, pagesOf } from './list.ts'
import { readLog, readLogBytes } from './log.ts'
import { Client, type EndedRequest, type GivenUp } from './request.ts'
import { watchObjects } from './watch.ts'

export interface ConnectOptions extends CallOptions {
  /** Name of a context of the kubeconfig; if absent, its current context. */
  readonly context?: string | undefined
  readonly env: Env
  /** Signal of the full command, not of a single call: aborting it ends a credential plugin that waits for the user. */
  readonly signal?: AbortSignal | undefined
  /** Called at the end of each request. */
  readonly trace?: ((exchange: EndedRequest) => void) | undefined
}

/**
 * Returns the cluster of a context of the user's kubeconfig. Throws a UserError if the context or the kubeconfig does
 * not exist. Sends no request, so an unreachable server is only noticed at the first call.
 */
export async function connect({ context, env, signal, trace }: ConnectOptions): Promise<Cluster> {
  const access = await kubeconfigAccess(context, env, signal)
  signal?.throwIfAborted()
  return toCluster(access, trace)
}

/** Returns the cluster that an access connects to. */
export function toCluster(
  access: KubeconfigAccess,
  trace?: ConnectOptions['trace'],
  giveUp?: (call: GivenUp) => void,
): Cluster {
  return new KubeCluster(access.context, access.namespace, new Client(access, {}, trace, giveUp))
}

/**
 * A cluster behind an API server. Sends and receives objects as plain JSON, because the client library would drop
 * fields that it does not know.
 */
export class KubeCluster implements Cluster {
  readonly name: string
  readonly namespace: string
  readonly #client: Client
  readonly #discovery: Discovery

  constructor(name: string, namespace: string, client: Client) {
    this.name = name
    this.namespace = namespace
    this.#client = client
    this.#discovery = new Discovery(client)
  }

  resource(apiVersion: string, kind: string, options: CallOptions = {}): Promise<Resource | undefined> {
    return this.#discovery.resource(apiVersion, kind, options)
  }

  kinds(options: CallOptions = {}): Promise<KnownKinds> {
    return this.#discovery.kinds(options)
  }

  async get(ref: ObjectRef, { signal }: CallOptions = {}): Promise<KubeObject | undefined> {
    const path = await this.#path(ref, signal)
    return path === undefined ? undefined : unlessNotFound(this.#client.json({ method: 'GET', path, signal }, isObject))
  }

  async list(query: ObjectQuery, { signal }: CallOptions = {}): Promise<readonly KubeObject[]> {
    const resource = await this.resource(query.apiVersion, query.kind, { signal })
    return resource === undefined ? [] : listAll(this.#client, query, resource, signal)
  }

  async *pages(query: ObjectQuery, options: PageOptions = {}): AsyncGenerator<readonly KubeObject[], void> {
    const resource = await this.resource(query.apiVersion, query.kind, options)
    if (resource === undefined) return
    for await (const { objects } of pagesOf(this.#client, query, resource, options)) yield objects
  }

  async apply(object: KubeObject, { manager, dryRun, force, signal }: ApplyOptions): Promise<KubeObject> {
    const path = await this.#pathTo(object, signal, object.metadata.name, {
      fieldManager: manager,
      fieldValidation: 'Strict',
      dryRun: dryRun && 'All',
      force,
    })
    // JSON is valid YAML.
    const contentType = 'application/apply-patch+yaml'
    return this.#client.json({ method: 'PATCH', path, body: object, contentType, signal }, isObject)
  }

  async create(object: KubeObject, { signal }: CallOptions = {}): Promise<KubeObject> {
    const path = await this.#pathTo(object, signal, undefined, { fieldManager: 'devctl', fieldValidation: 'Strict' })
    return this.#write('POST', path, object, signal)
  }

  async replace(object: KubeObject, { signal }: CallOptions = {}): Promise<KubeObject> {
    const { name } = object.metadata
    const path = await this.#pathTo(object, signal, name, { fieldManager: 'devctl', fieldValidation: 'Strict' })
    return this.#write('PUT', path, object, signal)
  }

  async patch(
    ref: ObjectRef,
    patch: Readonly<Record<string, unknown>>,
    { manager, dryRun, signal }: PatchOptions,
  ): Promise<KubeObject> {
    const { apiVersion, kind, name, namespace } = ref
    const metadata = { name, ...(namespace !== undefined && { namespace }) }
    const path = await this.#pathTo({ apiVersion, kind, metadata }, signal, name, {
      fieldManager: manager,
      fieldValidation: 'Strict',
      dryRun: dryRun && 'All',
    })
    const contentType = 'application/merge-patch+json'
    return this.#client.json({ method: 'PATCH', path, body: patch, contentType, signal }, isObject)
  }

  async createIn(
    ref: ObjectRef,
    subresource: string,
    object: SubresourceObject,
    { signal }: CallOptions = {},
  ): Promise<SubresourceObject> {
    const path = await this.#path(ref, signal)
    if (path === undefined) throw unknownKind(ref)
    return this.#client.json(
      { method: 'POST', path: `${path}/${subresource}`, body: object, signal },
      isKindOf(object.kind),
    )
  }

  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    const { signal, uid, resourceVersion, propagation = 'Background' } = options
    const path = await this.#path(ref, signal)
    if (path === undefined) return false
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: propagation,
      preconditions: { uid, resourceVersion },
    }
    let isRepeated = false
    const onRepeat = () => {
      isRepeated = true
    }
    const answer = await unlessNotFound(
      this.#client.json({ method: 'DELETE', path, body, signal, onRepeat }, isDeleted),
    )
    // If the object is missing after a retry, the first attempt deleted it, but the response was lost.
    return answer !== undefined || isRepeated
  }

  async *watch(query: ObjectQuery, options: PageOptions): AsyncGenerator<Change> {
    const resource = await this.resource(query.apiVersion, query.kind, options)
    if (resource === undefined) throw unknownKind(query)
    yield* watchObjects(this.#client, query, resource, options)
  }

  logs(pod: { readonly name: string; readonly namespace: string }, options: LogOptions): AsyncIterable<string> {
    return readLog(this.#client, pod, options)
  }

  logBytes(
    pod: { readonly name: string; readonly namespace: string },
    options: Omit<LogOptions, 'longestLine'>,
  ): AsyncIterable<Uint8Array> {
    return readLogBytes(this.#client, pod, options)
  }

  /**
   * Sends a write that must not be carried out twice. If a retry after a lost connection is refused because the object
   * exists or has changed, checks whether the first attempt succeeded.
   */
  async #write(method: 'POST' | 'PUT', path: string, object: KubeObject, signal: AbortSignal | undefined) {
    let isRepeated = false
    const onRepeat = () => {
      isRepeated = true
    }
    try {
      return await this.#client.json({ method, path, body: object, signal, onRepeat }, isObject)
    } catch (error) {
      const refused = error instanceof ClusterError && (error.failure === 'exists' || error.failure === 'conflict')
      if (!isRepeated || !refused) throw error
      const live = await this.get({ ...object, ...object.metadata }, { signal })
      const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata
      if (live === undefined || !contains(live, { ...object, metadata })) throw error
      return live
    }
  }

  /** Returns the path of an object; undefined if the cluster does not have its kind. */
  async #path(ref: ObjectRef, signal: AbortSignal | undefined): Promise<string | undefined> {
    const resource = await this.resource(ref.apiVersion, ref.kind, { signal })
    return resource && pathOf(ref.apiVersion, resource, namespaceOf(ref, resource), ref.name)
  }

  async #pathTo(
    { apiVersion, kind, metadata }: KubeObject,
    signal: AbortSignal | undefined,
    name: string | undefined,
    query: Parameters<typeof pathOf>[4],
  ): Promise<string> {
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    const resource = await this.resource(apiVersion, kind, { signal })
    if (resource === undefined) throw unknownKind(ref)
    return pathOf(apiVersion, resource, namespaceOf(ref, resource), name, query)
  }
}

const isKindOf =
  (kind: string) =>
  (answer: unknown): answer is SubresourceObject =>
    (answer as { readonly kind?: unknown } | null)?.kind === kind

/**
 * Returns the namespace of an object. Never falls back to the context's namespace, so that an object whose namespace
 * was lost does not end up in the wrong namespace. Throws a ClusterError if the namespace is missing.
 */
function namespaceOf({ kind, name, namespace }: ObjectRef, resource: Resource): string | undefined {
  if (resource.namespaced && namespace === undefined)
    throw new ClusterError('invalid', `${kind} \`${name}\` has no namespace`)
  return namespace
}

function unknownKind({ apiVersion, kind }: ObjectQuery): ClusterError {
  return new ClusterError('not-found', `the cluster has no kind \`${kind}\` of \`${apiVersion}\``)
}

async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return undefined
    throw error
  }
}
