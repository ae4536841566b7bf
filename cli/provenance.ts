import type { Span } from '../compiler/text/source.ts'
import type { ScalarTree, Tree } from '../compiler/text/tree.ts'
import { displayWidth, printable } from '../compiler/values/printable.ts'

/** Where one value of the model comes from. */
export interface Provenance {
  /** `services.web.ports[0].target`. */
  readonly path: string
  /** An empty mapping or list is a value too. */
  readonly value: string | number | boolean | null | readonly [] | Readonly<Record<string, never>>
  readonly place: FilePlace
  /** Places whose value this one replaced, the newest first. */
  readonly replaced: readonly FilePlace[]
  /** Variables that took part, and where their values came from: `the shell`, `.env:3`, `its default`. */
  readonly variables: readonly { readonly name: string; readonly origin: string }[]
}

export interface FilePlace {
  readonly file: string
  /** Line and column count from 1. */
  readonly line: number
  readonly column: number
}

/** The values of a tree with their places, in the order of the tree. */
export function provenanceOf(tree: Tree): readonly Provenance[] {
  const found: Provenance[] = []
  collect(tree, '', found)
  return found
}

/** A line for each value: path and value, then the place and what else is known. */
export function printProvenance(values: readonly Provenance[]): string {
  const rows = values.map(one => ({ left: `${printable(one.path)}: ${shorten(one.value)}`, right: originText(one) }))
  // A few very long values must not push all others away.
  const width = Math.min(60, Math.max(0, ...rows.map(({ left }) => displayWidth(left))))
  return rows
    .map(({ left, right }) => `${left}${' '.repeat(Math.max(0, width - displayWidth(left)))}  # ${right}\n`)
    .join('')
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
  // JSON has no integers beyond those of a double that are exact.
  return typeof value === 'bigint' ? String(value) : value
}

function toPlace(span: Span): FilePlace {
  return { file: span.file.path, ...span.file.position(span.start) }
}

function shorten(value: Provenance['value']): string {
  const text = JSON.stringify(value)
  return printable(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

function originText({ place, replaced, variables }: Provenance): string {
  const parts = [placeText(place)]
  if (replaced.length > 0) parts.push(`over ${replaced.map(placeText).join(', ')}`)
  for (const { name, origin } of variables) parts.push(`${name} from ${origin}`)
  return printable(parts.join('; '))
}

const placeText = ({ file, line, column }: FilePlace) => `${file}:${line}:${column}`
