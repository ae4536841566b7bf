import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isMap, isScalar, type Tree } from '../../compiler/text/tree.ts'

/** Placeholder for a private value. */
const MASK = '***'

/** Keys of a manifest below which every value is masked, regardless of its content. */
const MASKED_KEYS = new Set(['environment', 'env', 'variables', 'secrets', 'annotations', 'args'])

/**
 * Returns a manifest as data, without comments, and with the values of variables, secrets, annotations and build
 * arguments masked. Their names are kept.
 */
export function maskedManifest(tree: Tree, isMasked = false): unknown {
  if (isScalar(tree)) return isMasked ? maskedText(tree.value) : tree.value
  if (!isMap(tree)) return tree.items.map(item => maskedManifest(item, isMasked))
  return Object.fromEntries(
    [...tree.entries].map(([key, { value }]) => [key, maskedManifest(value, isMasked || MASKED_KEYS.has(key))]),
  )
}

/** Masks a value; `NAME=value` keeps its name. */
function maskedText(value: unknown): unknown {
  if (typeof value !== 'string') return value === null ? null : MASK
  const [name, ...rest] = value.split('=')
  return rest.length > 0 && /^[\w.-]+$/.test(name!) ? `${name}=${MASK}` : MASK
}

/**
 * Returns a cluster object with the values of variables, annotations and Secrets masked, and without the list of field
 * managers.
 */
export function maskedObject({ apiVersion, kind, metadata, ...rest }: KubeObject): unknown {
  const { managedFields: _, annotations, ...meta } = metadata
  return {
    apiVersion,
    kind,
    metadata: { ...meta, ...(annotations && { annotations: masksOf(annotations) }) },
    ...maskedFields(rest, kind === 'Secret'),
  }
}

function maskedFields(fields: object, isSecret: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      const isHidden = key === 'annotations' || (isSecret && (key === 'data' || key === 'stringData'))
      return [key, isHidden ? masksOf(value) : key === 'env' ? maskedVariables(value) : masked(value, isSecret)]
    }),
  )
}

function masked(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map(one => masked(one, isSecret))
  return typeof value === 'object' && value !== null ? maskedFields(value, isSecret) : value
}

/** Masks the values of variables. References to ConfigMaps and Secrets are kept, because they only contain names. */
const maskedVariables = (variables: unknown): unknown =>
  Array.isArray(variables)
    ? variables.map((one: Record<string, unknown>) => ('value' in one ? { ...one, value: MASK } : one))
    : MASK

const masksOf = (values: unknown): unknown =>
  typeof values === 'object' && values !== null ? Object.fromEntries(Object.keys(values).map(key => [key, MASK])) : MASK

/** Returns the variables that an object sets, whose values must be masked in logs. */
export function variablesOf(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const visit = (one: unknown) => {
    if (typeof one !== 'object' || one === null) return
    const { name, value: text } = one as { name?: unknown; value?: unknown }
    if (typeof name === 'string' && typeof text === 'string') found[name] = text
    for (const below of Object.values(one)) visit(below)
  }
  visit(value)
  return found
}
