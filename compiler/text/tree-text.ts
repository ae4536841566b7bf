import { goFloat } from '../values/numbers/go-number.ts'
import { type Piece, type ScalarTree, scalarTree, type Tree } from './tree.ts'

/**
 * Returns the text that the reference loader uses for a scalar in a text position (environment, labels): numbers in
 * Go's notation, null as empty text.
 */
export function scalarText(scalar: ScalarTree): string {
  if (scalar.type === 'float') return goFloat(scalar.value as number)
  return scalar.value === null ? '' : String(scalar.value)
}

/** Returns a string that is equal for trees with equal content, regardless of the order of their keys. */
export function treeKey(tree: Tree): string {
  switch (tree.kind) {
    case 'scalar':
      return `${tree.type}:${JSON.stringify(typeof tree.value === 'bigint' ? String(tree.value) : tree.value)}`
    case 'seq':
      return `[${tree.items.map(treeKey).join(',')}]`
    case 'map':
      return `{${[...tree.entries]
        .map(([key, entry]) => `${JSON.stringify(key)}:${treeKey(entry.value)}`)
        .sort()
        .join(',')}}`
  }
}

/**
 * Returns `KEY=value` as one string that keeps the source positions of its parts. Returns only `KEY` if the value is
 * null.
 */
export function pairScalar(key: string, keySpan: ScalarTree['span'], value: ScalarTree): ScalarTree {
  if (value.type === 'null') return { ...scalarTree(keySpan, key), ...(value.missing && { missing: value.missing }) }
  const text = scalarText(value)
  const at = key.length + 1
  const pieces: Piece[] = [{ at: 0, length: key.length, span: keySpan, verbatim: false }]
  if (value.pieces) for (const piece of value.pieces) pieces.push({ ...piece, at: piece.at + at })
  else pieces.push({ at, length: text.length, span: value.span, verbatim: false })
  return {
    kind: 'scalar',
    span: value.span,
    type: 'string',
    value: `${key}=${text}`,
    pieces,
    ...(value.variables && { variables: value.variables, template: value.template ?? '' }),
    ...(value.replaced && { replaced: value.replaced }),
  }
}
