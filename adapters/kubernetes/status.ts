import { ClusterError, type ClusterFailure } from './cluster.ts'

/** Converts an unsuccessful response to an error with its reason; `what` names the call: `GET /api/v1/pods`. */
export function toClusterError(status: number, body: string, what: string): ClusterError {
  const answer = readStatus(body)
  const reason = answer?.reason
  const message = answer?.message || `the server answered ${status} to ${what}`
  return new ClusterError(failureOf(status, reason, message), message, {
    status,
    ...(reason !== undefined && { reason }),
    causes: answer?.causes ?? [],
  })
}

/**
 * Returns true if a refusal comes from a proxy or another web server, not from a Kubernetes API server. The API sends a
 * Status object if a resource is missing, forbidden or invalid, except for an unknown group, where it sends plain text.
 */
export function isForeign(status: number, body: string): boolean {
  return [403, 404, 409, 422].includes(status) && !readStatus(body) && body.trim() !== '404 page not found'
}

/** Returns the error for an object of kind Status, which a watch sends in its stream. */
export function fromStatusObject(object: unknown): ClusterError {
  const { code } = (object ?? {}) as { code?: unknown }
  return toClusterError(typeof code === 'number' ? code : 500, JSON.stringify(object), 'the watch')
}

function failureOf(status: number, reason: string | undefined, message: string): ClusterFailure {
  if (reason === 'AlreadyExists') return 'exists'
  // Server-side apply answers 500 for a field with a wrong type, or one that is missing from a custom resource's
  // schema.
  if (message.includes('failed to create typed patch object')) return 'invalid'
  switch (status) {
    case 401:
      return 'unauthorized'
    case 403:
      return 'forbidden'
    case 404:
      return 'not-found'
    case 409:
      return 'conflict'
    default:
      // 410 comes from watches and pages, which handle it.
      return status === 410 || status === 429 || status >= 500 ? 'unavailable' : 'invalid'
  }
}

interface Status {
  readonly reason: string | undefined
  readonly message: string | undefined
  readonly causes: ClusterError['causes']
}

/**
 * Returns the parts of the `Status` object in a body; undefined if the body is something else, such as a load
 * balancer's page.
 */
function readStatus(body: string): Status | undefined {
  const value = parse(body)
  return value?.kind === 'Status' ? partsOf(value) : undefined
}

/**
 * Returns the outcome of a command in a container, from the last message of the `exec` subresource: a Status without
 * its kind.
 */
export function readCommandStatus(body: string): Status & { readonly hasSucceeded: boolean } {
  const value = parse(body) ?? {}
  return { ...partsOf(value), hasSucceeded: value.status === 'Success' }
}

function partsOf(value: Record<string, unknown>): Status {
  const details = isRecord(value.details) ? value.details : {}
  const causes = Array.isArray(details.causes) ? details.causes.filter(isRecord) : []
  return {
    reason: text(value.reason) || undefined,
    message: text(value.message),
    causes: causes.map(cause => {
      const [field, reason] = [text(cause.field), text(cause.reason)]
      return { message: text(cause.message) ?? '', ...(field && { field }), ...(reason && { reason }) }
    }),
  }
}

function parse(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
