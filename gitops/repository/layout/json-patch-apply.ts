import { isMap } from '../../agents/json-values.ts'

/** An operation of a patch file. */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace'
  /** JSON Pointer (RFC 6901). */
  readonly path: string
  readonly value?: unknown
}

/**
 * Applies operations to a value of plain JSON, in place; the root value is never replaced. Returns false if the target
 * of an operation does not exist, as RFC 6902 defines; some of the operations may then have been applied.
 */
export function applyOperations(value: object, operations: readonly PatchOperation[]): boolean {
  return operations.every(operation => apply(value, operation))
}

function apply(root: object, { op, path, value }: PatchOperation): boolean {
  const [empty, ...keys] = path.split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = keys.pop()
  if (empty !== '' || last === undefined) return false
  const parent = keys.reduce(inside, root as unknown)
  if (Array.isArray(parent)) return applyToList(parent, op, last, copyOf(value))
  if (!isMap(parent) || (op !== 'add' && !Object.hasOwn(parent, last))) return false
  if (op === 'remove') delete parent[last]
  else parent[last] = copyOf(value)
  return true
}

function applyToList(list: unknown[], op: PatchOperation['op'], key: string, value: unknown): boolean {
  const index = op === 'add' && key === '-' ? list.length : indexOf(key)
  if (index === undefined || index > (op === 'add' ? list.length : list.length - 1)) return false
  if (op === 'add') list.splice(index, 0, value)
  else if (op === 'remove') list.splice(index, 1)
  else list[index] = value
  return true
}

function inside(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[indexOf(key) ?? value.length]
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

const indexOf = (key: string): number | undefined => (/^(0|[1-9]\d*)$/.test(key) ? Number(key) : undefined)

/** Copies the value, since one patch may apply to several objects. */
const copyOf = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))
