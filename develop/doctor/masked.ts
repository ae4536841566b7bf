import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isMap, isScalar, type Tree } from '../../compiler/text/tree.ts'

/** Placeholder for a private value. */
const MASK = '***'

/** Keys of a manifest below which every value is masked, whatever it looks like. */
const MASKED_KEYS = new Set(['environment', 'env', 'variables', 'secrets', 'annotations', 'args'])

/**
 * A manifest as data, without comments, and without the values of variables, secrets, annotations
 * and build arguments. Their names stay.
 */
export function maskedManifest(tree: Tree, isMasked = false): unknown {
  if (isScalar(tree)) return isMasked ? maskedText(tree.value) : tree.value
  if (!isMap(tree)) return tree.items.map(item => maskedManifest(item, isMasked))
  return Object.fromEntries(
    [...tree.entries].map(([key, { value }]) => [key, maskedManifest(value, isMasked || MASKED_KEYS.has(key))]),
  )
}

/** `NAME=value` keeps its name; a text without `=` in a list is a name. */
function maskedText(value: unknown): unknown {
  if (typeof value !== 'string') return value === null ? null : MASK
  const [name, ...rest] = value.split('=')
  return rest.length > 0 && /^[\w.-]+$/.test(name!) ? `${name}=${MASK}` : MASK
}

/**
 * An object of the cluster without the values of variables, annotations and Secrets, and without
 * the list of field managers.
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

/** References to ConfigMaps and Secrets stay: they name, and say nothing. */
const maskedVariables = (variables: unknown): unknown =>
  Array.isArray(variables)
    ? variables.map((one: Record<string, unknown>) => ('value' in one ? { ...one, value: MASK } : one))
    : MASK

const masksOf = (values: unknown): unknown =>
  typeof values === 'object' && values !== null ? Object.fromEntries(Object.keys(values).map(key => [key, MASK])) : MASK

/** The variables that an object sets, for the list of what is masked in logs. */
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
