import type { Span } from '../../compiler/text/source.ts'
import type { ScalarTree, Tree } from '../../compiler/text/tree.ts'

/** Origin of one value of the model. */
export interface Provenance {
  /** Path in the model, such as `services.web.ports[0].target`. */
  readonly path: string
  /** Scalar value, or an empty mapping or list. */
  readonly value: string | number | boolean | null | readonly [] | Readonly<Record<string, never>>
  readonly place: FilePlace
  /** Positions of the values that this value replaced, newest first. */
  readonly replaced: readonly FilePlace[]
  /** Variables used in the value, and the origins of their values: `the shell`, `.env:3`, `its default`. */
  readonly variables: readonly { readonly name: string; readonly origin: string }[]
}

export interface FilePlace {
  readonly file: string
  /** Line and column, starting at 1. */
  readonly line: number
  readonly column: number
}

/** Returns the values of a tree with their positions, in the order of the tree. */
export function provenanceOf(tree: Tree): readonly Provenance[] {
  const found: Provenance[] = []
  collect(tree, '', found)
  return found
}

function collect(tree: Tree, path: string, found: Provenance[]): void {
  const before = found.length
  if (tree.kind === 'map') for (const [key, { value }] of tree.entries) collect(value, join(path, key), found)
  else if (tree.kind === 'seq') tree.items.forEach((item, index) => void collect(item, `${path}[${index}]`, found))
  if (found.length > before) return
  found.push({
    path,
    value: tree.kind === 'scalar' ? plainValue(tree) : tree.kind === 'seq' ? [] : {},
    place: toPlace(tree.span),
    replaced: (tree.replaced ?? []).map(toPlace),
    variables: tree.kind === 'scalar' ? (tree.variables ?? []).map(({ name, origin }) => ({ name, origin })) : [],
  })
}

function join(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function plainValue({ value }: ScalarTree): string | number | boolean | null {
  // JSON numbers are exact only up to 2^53, so larger integers become strings.
  return typeof value === 'bigint' ? String(value) : value
}

function toPlace(span: Span): FilePlace {
  return { file: span.file.path, ...span.file.position(span.start) }
}
