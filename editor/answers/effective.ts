import type { Span } from '../../compiler/text/source.ts'
import { isMap, type ScalarTree, type Tree } from '../../compiler/text/tree.ts'
import { childrenOf } from './known-names.ts'
import type { AskedDocument } from './question.ts'

/** Value of the merged model that a position in a file leads to. */
export interface EffectiveValue {
  readonly scalar: ScalarTree
  /** True if another file replaces the value that is written at the position. */
  readonly isReplaced: boolean
}

/**
 * Returns the value that a key, or the value at an offset, has in the end: with variables substituted, and from the
 * last file that sets it. Returns undefined if the offset is not that of a scalar, or if the document has changed since.
 */
export function effectiveAt({ project, path, document }: AskedDocument, offset: number): EffectiveValue | undefined {
  const tree = project?.compiled.loaded?.tree
  const text = document.getText()
  const isHere = ({ file, start, end }: Span) =>
    file.location === path && start <= offset && offset <= end && file.text === text
  return tree && find(tree, isHere)
}

function find(tree: Tree, isHere: (span: Span) => boolean): EffectiveValue | undefined {
  if (tree.kind === 'scalar') {
    if (isHere(tree.span)) return { scalar: tree, isReplaced: false }
    return tree.replaced?.some(isHere) ? { scalar: tree, isReplaced: true } : undefined
  }
  if (isMap(tree))
    for (const { key, value } of tree.entries.values())
      if (value.kind === 'scalar' && isHere(key)) return { scalar: value, isReplaced: false }
  for (const child of childrenOf(tree)) {
    const found = find(child, isHere)
    if (found) return found
  }
  return undefined
}
