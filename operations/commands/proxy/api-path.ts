/** The target of a request to a Kubernetes API server, from its path. */
export interface ApiPath {
  readonly apiVersion: string
  /** Plural: `deployments`. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** `status`, `exec`, `scale`; undefined for the object itself. */
  readonly subresource: string | undefined
}

/**
 * Reads the path of a request, without its query; undefined for what is not a resource: discovery,
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
  // The old way to watch: /api/v1/watch/pods.
  if (rest[0] === 'watch') rest.shift()
  if (rest.length === 0) return undefined
  // `/namespaces/NAME/status` is the namespace's own, `/namespaces/NAME/pods` is in it.
  const isWithin = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!)
  const namespace = isWithin ? rest[1] : undefined
  const [resource, name, ...more] = isWithin ? rest.slice(2) : rest
  return { apiVersion, resource: resource!, namespace, name, subresource: more.length > 0 ? more.join('/') : undefined }
}

/**
 * API groups of short-lived objects and of questions. They are not part of an environment: destroy
 * does not need to find them.
 */
const PASSING_GROUPS = new Set([
  'authentication.k8s.io',
  'authorization.k8s.io',
  'events.k8s.io',
  'coordination.k8s.io',
])
const PASSING_CORE = new Set(['events', 'bindings', 'componentstatuses'])

/** True if an object of this path is one that labels are for. */
export function isLasting({ apiVersion, resource }: ApiPath): boolean {
  return apiVersion.includes('/') ? !PASSING_GROUPS.has(apiVersion.split('/')[0]!) : !PASSING_CORE.has(resource)
}
