import { isMap, isSeq, type Tree } from './tree.ts'

/** Returns the values at a path. A step `*` stands for every value of a mapping and every item of a list. */
export function valuesAt(tree: Tree | undefined, [step, ...rest]: readonly string[]): readonly Tree[] {
  if (!tree) return []
  if (step === undefined) return [tree]
  if (step === '*') return childrenOf(tree).flatMap(child => valuesAt(child, rest))
  return isMap(tree) ? valuesAt(tree.entries.get(step)?.value, rest) : []
}

const childrenOf = (tree: Tree): readonly Tree[] =>
  isMap(tree) ? [...tree.entries.values()].map(({ value }) => value) : isSeq(tree) ? tree.items : []
