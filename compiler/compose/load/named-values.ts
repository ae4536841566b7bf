import type { Span } from '../../text/source.ts'
import { isScalar, type ScalarTree, scalarTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import type { VariableScope } from './variables.ts'

/**
 * Returns the value of a variable that a file names without a value (`environment: [NAME]`). Returns undefined if the
 * variable is not set. Records the position of a secret value.
 */
export function valueOfName(name: string, span: Span, variables: VariableScope): ScalarTree | undefined {
  const variable = variables.lookup(name)
  if (!variable) return undefined
  const { value, ...from } = variable
  if (from.isSecret) variables.secrets.add({ span, origin: `\`${name}\``, value })
  return { ...scalarTree(span, value), variables: [{ name, ...from, span }] }
}

/**
 * True if an entry of a mapping names a variable without a value. A null with `missing` has no value because another
 * variable is not set (`checks/values-from-secrets.ts`).
 */
export const isNameOnly = (value: Tree): boolean => isScalar(value) && value.type === 'null' && !value.missing

/**
 * Returns `NAME=value` for the item `NAME` of a list. Returns undefined for other items, and if the variable is not
 * set.
 */
export function pairOfName(item: ScalarTree, variables: VariableScope): ScalarTree | undefined {
  const name = scalarText(item)
  const { span } = item
  const found = name.includes('=') || item.missing ? undefined : valueOfName(name, span, variables)
  if (!found) return undefined
  const value = scalarText(found)
  // The file contains only the name, so the name and the value both have its span.
  const pieces = [
    { at: 0, length: name.length, span, verbatim: false },
    { at: name.length + 1, length: value.length, span, verbatim: false },
  ]
  return { ...item, value: `${name}=${value}`, pieces, variables: found.variables ?? [] }
}
