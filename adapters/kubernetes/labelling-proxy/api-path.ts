/** Target of a request to a Kubernetes API server, parsed from its path. */
export interface ApiPath {
  readonly apiVersion: string
  /** Plural name, such as `deployments`. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** Subresource, such as `status`, `exec` or `scale`; undefined for the object itself. */
  readonly subresource: string | undefined
}

/**
 * Parses the path of a request, without its query. Returns undefined for paths that are not resources: discovery,
 * health, OpenAPI.
 */
export function parseApiPath(path: string): ApiPath | undefined {
  const parts = path.split('/').slice(1)
  if (parts.at(-1) === '') parts.pop()
  let decoded: string[]
  try {
    decoded = parts.map(decodeURIComponent)
  } catch {
    return undefined
  }
  const [root, ...rest] = decoded
  if (root !== 'api' && root !== 'apis') return undefined
  const apiVersion = rest.splice(0, root === 'api' ? 1 : 2).join('/')
  // The deprecated watch path: /api/v1/watch/pods.
  if (rest[0] === 'watch') rest.shift()
  if (rest.length === 0) return undefined
  // `/namespaces/NAME/status` is a subresource of the namespace; `/namespaces/NAME/pods` is a resource within it.
  const isWithin = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!)
  const namespace = isWithin ? rest[1] : undefined
  const [resource, name, ...more] = isWithin ? rest.slice(2) : rest
  return { apiVersion, resource: resource!, namespace, name, subresource: more.length > 0 ? more.join('/') : undefined }
}

/**
 * API groups of short-lived objects and of reviews. They are not part of an environment, so destroy does not need to
 * find them.
 */
const PASSING_GROUPS = new Set([
  'authentication.k8s.io',
  'authorization.k8s.io',
  'events.k8s.io',
  'coordination.k8s.io',
])
const PASSING_CORE = new Set(['events', 'bindings', 'componentstatuses'])

/** Returns true if objects of this path get labels, because they are neither short-lived nor reviews. */
export function isLasting({ apiVersion, resource }: ApiPath): boolean {
  return apiVersion.includes('/') ? !PASSING_GROUPS.has(apiVersion.split('/')[0]!) : !PASSING_CORE.has(resource)
}
