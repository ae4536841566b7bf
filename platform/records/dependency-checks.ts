import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { CI_KINDS } from '../rules/accounts/ci-trust.ts'
import {
  type CheckedDependency,
  DEPENDENCY_KINDS,
  DETAILED_FAILURES,
  type DependencyChecks,
  PLAIN_FAILURES,
  type ReachFailure,
} from '../rules/dependencies.ts'
import { RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

export const checksRef = { apiVersion: 'v1', kind: 'Secret', name: 'dependencies', namespace: USERS_NAMESPACE } as const

/**
 * Returns the record of the last checks. Like all records in this namespace, it is a Secret, but it contains nothing
 * secret.
 */
export const fromChecks = (checks: DependencyChecks): KubeObject => ({
  apiVersion: checksRef.apiVersion,
  kind: checksRef.kind,
  metadata: { name: checksRef.name, namespace: checksRef.namespace, labels: { [RECORD_LABEL]: 'dependencies' } },
  data: { checks: Buffer.from(JSON.stringify(checks)).toString('base64') },
})

/** Parses the record. Returns undefined if it is missing or invalid. */
export function toChecks(live: KubeObject | undefined): DependencyChecks | undefined {
  const text = (live?.['data'] as Readonly<Record<string, unknown>> | undefined)?.['checks']
  if (typeof text !== 'string') return undefined
  let found: unknown
  try {
    found = JSON.parse(Buffer.from(text, 'base64').toString())
  } catch {
    return undefined
  }
  const { checked, settings, all } = fieldsOf(found)
  if (!isText(checked) || Number.isNaN(Date.parse(checked)) || !Array.isArray(all)) return undefined
  return { checked, ...(isText(settings) && { settings }), all: all.flatMap(one => toDependency(one) ?? []) }
}

function toDependency(found: unknown): CheckedDependency | undefined {
  const one = fieldsOf(found)
  const { name, address, api } = one
  const kind = DEPENDENCY_KINDS.find(known => known === one['kind'])
  const forge = CI_KINDS.find(known => known === one['forge'])
  const failure = one['failure'] === undefined ? undefined : toFailure(fieldsOf(one['failure']))
  if (!kind || !isText(name) || !isAddress(address) || (api !== undefined && !isAddress(api))) return undefined
  if (one['failure'] !== undefined && !failure) return undefined
  return {
    kind,
    name,
    address,
    ...(forge && { forge }),
    ...(api !== undefined && { api }),
    ...(failure && { failure }),
  }
}

function toFailure({ kind, detail, seconds, url, status, found }: Fields): ReachFailure | undefined {
  const plain = PLAIN_FAILURES.find(known => known === kind)
  if (plain) return { kind: plain }
  const detailed = DETAILED_FAILURES.find(known => known === kind)
  if (detailed && isText(detail)) return { kind: detailed, detail }
  if (kind === 'timeout' && typeof seconds === 'number') return { kind, seconds }
  if (kind === 'status' && isText(url) && typeof status === 'number') return { kind, url, status }
  if (kind === 'no-document' && isText(url)) return { kind, url }
  return kind === 'issuer' && isText(found) ? { kind, found } : undefined
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (found: unknown): Fields => (typeof found === 'object' && found !== null ? (found as Fields) : {}) // an object
const isText = (value: unknown): value is string => typeof value === 'string'
const isAddress = (value: unknown): value is string => isText(value) && URL.canParse(value)
