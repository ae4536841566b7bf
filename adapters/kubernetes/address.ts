import { ClusterError, type Resource } from './cluster.ts'

/** Returns the root path of a group and version in the API: `/api/v1`, `/apis/apps/v1`. */
export function rootOf(apiVersion: string): string {
  const parts = apiVersion.split('/').map(encodeURIComponent).join('/')
  return apiVersion.includes('/') ? `/apis/${parts}` : `/api/${parts}`
}

/**
 * Returns the API path of a resource, or of its object with the given name, with the query. Without a namespace, the
 * path is for a cluster-scoped kind, or covers all namespaces.
 */
export function pathOf(
  apiVersion: string,
  resource: Resource,
  namespace: string | undefined,
  name?: string,
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  for (const part of [namespace, name]) if (part !== undefined) refuseTricky(part)
  const within = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`
  const words = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
  return `${rootOf(apiVersion)}${within}/${resource.name}${one}${words.length === 0 ? '' : `?${words.join('&')}`}`
}

/**
 * Throws a ClusterError for a name such as `..` or an empty name, which would change the path to another resource:
 * deleting one object must never turn into deleting a namespace.
 */
function refuseTricky(name: string): void {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('%'))
    throw new ClusterError('invalid', `\`${name}\` is not a name`)
}
