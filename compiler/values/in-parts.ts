/** Splits a list into consecutive parts of at most `most` items. An empty list results in no parts. */
export const inParts = <T>(items: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, index) => items.slice(index * most, (index + 1) * most))
