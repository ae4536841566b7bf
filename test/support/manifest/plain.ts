import type { DevctlManifest } from '../../../compiler/manifest/manifest.ts'
import type { Span } from '../../../compiler/text/source.ts'
import { SourceFile } from '../../../compiler/text/source.ts'
import type { Tree } from '../../../compiler/text/tree.ts'

/** A manifest as readable JSON: values with their positions, without empty ones. */
export function plainManifest(manifest: DevctlManifest): unknown {
  const { path: _, shown: __, folder: ___, ...rest } = manifest
  return plain(rest)
}

function plain(value: unknown): unknown {
  if (value instanceof Map) return object([...value])
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if (isSpan(value)) return place(value)
  if (isTree(value)) return plainTree(value)
  const keys = Object.keys(value).sort().join()
  if (keys === 'span,value') {
    // The keys show it.
    const at = value as { readonly value: unknown; readonly span: Span }
    return `${at.value} @${place(at.span)}`
  }
  return object(Object.entries(value))
}

function object(entries: readonly (readonly [string, unknown])[]): unknown {
  const kept = entries.map(([key, value]) => [key, plain(value)] as const).filter(([, value]) => value !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

const isSpan = (value: object): value is Span => 'file' in value && value.file instanceof SourceFile

const isTree = (value: object): value is Tree =>
  'kind' in value && 'span' in value && ['map', 'seq', 'scalar'].includes(String(value.kind))

/** The value of a tree as JSON. */
export function plainTree(tree: Tree): unknown {
  if (tree.kind === 'scalar') return typeof tree.value === 'bigint' ? Number(tree.value) : tree.value
  if (tree.kind === 'seq') return tree.items.map(plainTree)
  return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, plainTree(value)]))
}

function place({ file, start }: Span): string {
  const { line, column } = file.position(start)
  return `${line}:${column}`
}
