import type { Span } from '../../compiler/text/source.ts'
import { isMap, type ScalarTree, type Tree } from '../../compiler/text/tree.ts'
import { childrenOf } from './known-names.ts'
import type { AskedDocument } from './question.ts'

/** Final value, in the merged model, of the key or scalar at a position of a file. */
export interface EffectiveValue {
  readonly scalar: ScalarTree
  /** True if another file replaces the value that is written at the position. */
  readonly isReplaced: boolean
}

/**
 * Returns the final value of the key or the scalar at an offset: from the last file that sets the value, and with
 * variables substituted. Undefined if there is no scalar at the offset, or if the document has changed after the
 * compilation.
 */
export function effectiveAt({ project, path, document }: AskedDocument, offset: number): EffectiveValue | undefined {
  const tree = project?.compiled.loaded?.tree
  const text = document.getText()
  const isHere = ({ file, start, end }: Span) =>
    file.location === path && start <= offset && offset <= end && file.text === text
  // Values that a stage derives have the span of the mapping that they belong to; the value itself has a narrower one.
  let narrowest: { readonly value: EffectiveValue; readonly length: number } | undefined
  for (const { value, span } of tree ? valuesAt(tree, isHere) : []) {
    const length = span.end - span.start
    if (narrowest === undefined || length < narrowest.length) narrowest = { value, length }
  }
  return narrowest?.value
}

/**
 * Yields each scalar whose value or key is at a position, and each scalar that has replaced a value at the position.
 * `span` is the range of the value or key at the position.
 */
function* valuesAt(
  tree: Tree,
  isHere: (span: Span) => boolean,
): Generator<{ readonly value: EffectiveValue; readonly span: Span }> {
  if (tree.kind === 'scalar') {
    const before = tree.replaced?.find(isHere)
    if (tree.type !== 'null' && isHere(tree.span)) yield { value: { scalar: tree, isReplaced: false }, span: tree.span }
    else if (before) yield { value: { scalar: tree, isReplaced: true }, span: before }
    return
  }
  if (isMap(tree))
    for (const { key, value } of tree.entries.values())
      if (value.kind === 'scalar' && value.type !== 'null' && isHere(key))
        yield { value: { scalar: value, isReplaced: false }, span: key }
  for (const child of childrenOf(tree)) yield* valuesAt(child, isHere)
}
