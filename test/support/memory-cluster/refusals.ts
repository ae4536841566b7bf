import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { isRecord, textOf } from './fields.ts'
import type { Kind } from './kinds.ts'

/** Refusals in the words of the API server. */
export const notFound = (kind: Kind, name: string): ClusterError =>
  new ClusterError('not-found', `${fullName(kind)} "${name}" not found`, { status: 404, reason: 'NotFound' })

export const exists = (kind: Kind, name: string): ClusterError =>
  new ClusterError('exists', `${fullName(kind)} "${name}" already exists`, { status: 409, reason: 'AlreadyExists' })

export const outdated = (kind: Kind, name: string, why: string): ClusterError =>
  new ClusterError('conflict', `Operation cannot be fulfilled on ${fullName(kind)} "${name}": ${why}`, {
    status: 409,
    reason: 'Conflict',
  })

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** Throws `conflict` when a version is asked for that is not the live one. */
export function requireVersion(kind: Kind, live: KubeObject, asked: string | undefined): void {
  if (asked !== undefined && asked !== live.metadata.resourceVersion) throw outdated(kind, live.metadata.name, MODIFIED)
}

/** Throws `invalid` when a patch has the UID of another object, such as an earlier one of the same name. */
export function requireUid(kind: Kind, live: KubeObject, asked: string | undefined): void {
  if (asked !== undefined && asked !== live.metadata.uid)
    throw invalid(kind, live.metadata.name, [
      { field: 'metadata.uid', message: `Invalid value: "${asked}": field is immutable` },
    ])
}

export function forbidden(kind: Kind, verb: string, name: string): ClusterError {
  const group = kind.apiVersion.includes('/') ? kind.apiVersion.split('/')[0] : ''
  const what = `cannot ${verb} resource "${kind.name}" in API group "${group}"`
  return new ClusterError('forbidden', `${fullName(kind)}${name && ` "${name}"`} is forbidden: User "nobody" ${what}`, {
    status: 403,
    reason: 'Forbidden',
  })
}

/** Throws `invalid` for fields that the kind does not have, and for a name that is none. */
export function validate(kind: Kind, object: KubeObject): void {
  const known = kind.fields && new Set(['apiVersion', 'kind', 'metadata', ...kind.fields])
  const unknown = known && Object.keys(object).find(field => !known.has(field))
  if (unknown !== undefined)
    throw new ClusterError(
      'invalid',
      `failed to create typed patch object: .${unknown}: field not declared in schema`,
      {
        status: 500,
      },
    )
  const { name } = object.metadata
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 253)
    throw invalid(kind, name, [
      { field: 'metadata.name', message: `Invalid value: "${name}": a lowercase RFC 1123 subdomain` },
    ])
  for (const [key, value] of Object.entries(object.metadata.labels ?? {}))
    if (!/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(value) || value.length > 63)
      throw invalid(kind, name, [{ field: 'metadata.labels', message: `Invalid value: "${value}" of ${key}` }])
}

/** Throws `invalid` for changes that the kind does not take. */
export function validateChange(kind: Kind, before: KubeObject, after: KubeObject): void {
  const fixed = typeof kind.fixed === 'function' ? kind.fixed(before, after) : (kind.fixed ?? [])
  const wrong = fixed.filter(path => textOf(at(before, path) ?? null) !== textOf(at(after, path) ?? null))
  if (wrong.length > 0)
    throw invalid(
      kind,
      after.metadata.name,
      wrong.map(field => ({ field, message: 'Invalid value: field is immutable' })),
    )
}

function invalid(kind: Kind, name: string, wrong: readonly { field: string; message: string }[]): ClusterError {
  const causes = wrong.map(one => ({ ...one, reason: 'FieldValueInvalid' }))
  const text = causes.map(({ field, message }) => `${field}: ${message}`).join(', ')
  return new ClusterError('invalid', `${kind.kind} "${name}" is invalid: ${text}`, {
    status: 422,
    reason: 'Invalid',
    causes,
  })
}

/** `deployments.apps`. */
function fullName({ apiVersion, name }: Kind): string {
  return apiVersion.includes('/') ? `${name}.${apiVersion.split('/')[0]}` : name
}

function at(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), object)
}
