/** Returns a list in parts of at most `most` items, in order. An empty list has no part. */
export const inParts = <T>(items: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, index) => items.slice(index * most, (index + 1) * most))
