import { isDeepStrictEqual } from 'node:util'
import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import { at, isMap, listAt } from '../agents/json-values.ts'

/** Reason why an existing object cannot be changed in place. */
export interface Obstacle {
  /** Remedy: `replace` if the object can be deleted and created again, `refuse` if that would lose data. */
  readonly way: 'replace' | 'refuse'
  /** Reason as text, such as `a Service cannot become headless or stop being headless`. */
  readonly reason: string
  /** Entry of the volume's `driver_opts` that sets the changed field of a claim, such as `size`. */
  readonly option?: string
}

type Rule = (before: KubernetesObject, after: KubernetesObject) => Obstacle | undefined

const replace = (reason: string): Obstacle => ({ way: 'replace', reason })
const refuse = (reason: string, option?: string): Obstacle => ({
  way: 'refuse',
  reason,
  ...(option !== undefined && { option }),
})

/**
 * Returns the reason why the API server would reject the change of an existing object; undefined if it would accept the
 * change. Finds the same obstacles for which `devctl deploy` replaces or rejects an object, but only by comparing the
 * two versions.
 */
export function obstacleTo(before: KubernetesObject, after: KubernetesObject): Obstacle | undefined {
  return RULES[after.kind]?.(before, after)
}

const RULES: Readonly<Record<string, Rule>> = {
  Service: (before, after) =>
    [before, after].every(hasAddress) && isHeadless(before) !== isHeadless(after)
      ? replace('a Service cannot become headless or stop being headless')
      : undefined,
  Deployment: lasting('spec', ['selector']),
  DaemonSet: lasting('spec', ['selector']),
  StatefulSet: lasting('spec', ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates']),
  Job: lasting('spec', ['selector', 'template', 'completions', 'completionMode']),
  RoleBinding: lasting(undefined, ['roleRef']),
  Secret: (before, after) => lasting(undefined, ['type'])(before, after) ?? whenImmutable(before, after),
  ConfigMap: whenImmutable,
  PersistentVolumeClaim: claimObstacle,
}

/**
 * Returns a rule for fields that cannot change during an object's lifetime. The fields in `keys` are below the key
 * `below`, or at the top level if `below` is undefined.
 */
function lasting(below: string | undefined, keys: readonly string[]): Rule {
  const path = (key: string) => (below === undefined ? [key] : [below, key])
  return (before, after) => {
    const changed = keys.filter(key => !isSame(at(before, ...path(key)), at(after, ...path(key))))
    if (changed.length === 0) return undefined
    return replace(`the \`${changed.join('` and `')}\` of a ${after.kind} cannot change`)
  }
}

const hasAddress = (service: KubernetesObject) => at(service, 'spec', 'type') !== 'ExternalName'
const isHeadless = (service: KubernetesObject) => at(service, 'spec', 'clusterIP') === 'None'

function whenImmutable(before: KubernetesObject, after: KubernetesObject): Obstacle | undefined {
  if (at(before, 'immutable') !== true) return undefined
  const keys = ['immutable', 'data', 'binaryData', 'stringData']
  return keys.every(key => isSame(at(before, key), at(after, key)))
    ? undefined
    : replace(`an immutable ${after.kind} cannot change`)
}

const LASTING_OF_CLAIMS = [
  ['storageClassName', 'storage class', 'class'],
  ['accessModes', 'access mode', 'access'],
  ['volumeMode', 'volume mode', undefined],
] as const

/** Returns the obstacle for a claim. A claim may only grow, and creating it again would delete its data. */
function claimObstacle(before: KubernetesObject, after: KubernetesObject): Obstacle | undefined {
  for (const [key, word, option] of LASTING_OF_CLAIMS) {
    const [old, fresh] = [before, after].map(claim => withDefaultMode(claim, key))
    if (!isSame(old, fresh)) return refuse(`a claim keeps its ${word}: ${shown(old)} → ${shown(fresh)}`, option)
  }
  const [old, fresh] = [before, after].map(claim => at(claim, 'spec', 'resources', 'requests', 'storage'))
  return isLess(fresh, old) ? refuse(`a claim cannot shrink: ${shown(old)} → ${shown(fresh)}`, 'size') : undefined
}

function withDefaultMode(claim: KubernetesObject, key: string): unknown {
  return at(claim, 'spec', key) ?? (key === 'volumeMode' ? 'Filesystem' : undefined)
}

function shown(value: unknown): string {
  if (value === undefined) return "the cluster's default"
  return Array.isArray(value) ? value.join(', ') : String(value)
}

function isLess(fresh: unknown, old: unknown): boolean {
  const [a, b] = [fresh, old].map(size => (typeof size === 'string' ? parseQuantity(size) : undefined))
  return a?.ok === true && b?.ok === true && a.value.milli < b.value.milli
}

/**
 * True if the API server treats two values as equal: fields that the API server itself fills in do not count as a
 * difference.
 */
function isSame(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(filled(before), filled(after))
}

function filled(value: unknown): unknown {
  return Array.isArray(value) ? value.map(item => (isClaimTemplate(item) ? filledTemplate(item) : item)) : value
}

const isClaimTemplate = (item: unknown) => listAt(item, 'spec', 'accessModes').length > 0

function filledTemplate(item: unknown): unknown {
  if (!isMap(item) || !isMap(item['spec'])) return item
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...item,
    spec: { volumeMode: 'Filesystem', ...item['spec'] },
  }
}
