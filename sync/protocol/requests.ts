import { decodeEntry, encodeEntry, type FileEntry, type WireEntry } from '../core/entry.ts'
import { object } from '../core/fields.ts'
import type { PathChange, WriteResult } from '../stage/writer.ts'
import type { Frame } from './frames.ts'

/** Changes that the laptop requests from the agent, and their results. One frame contains several changes. */

/** Rename of a file on the laptop. */
export interface Move {
  readonly kind: 'move'
  readonly from: string
  /** Expected entry at `from`. */
  readonly moved: FileEntry | undefined
  readonly mtime: number
  readonly executable?: boolean
}

/** Change that the laptop requests from the agent. */
export interface RequestedChange extends Omit<PathChange, 'change'> {
  readonly change: PathChange['change'] | Move
}

/**
 * Item of a frame: a requested change without the contents of its file. All contents follow one another in the body of
 * the frame.
 */
export type WireItem =
  | readonly ['file', string, WireEntry, number, number, 0 | 1 | 2]
  | readonly ['folder' | 'remove', string, WireEntry]
  | readonly ['link', string, WireEntry, string]
  | readonly ['meta', string, WireEntry, number | null, 0 | 1 | 2]
  | readonly ['move', string, WireEntry, string, WireEntry, number, 0 | 1 | 2]

export function encodeWrite({ path, expect, change }: RequestedChange): WireItem {
  const before = encodeEntry(expect)
  switch (change.kind) {
    case 'file':
      return ['file', path, before, change.bytes.length, change.mtime, encodeBit(change.executable)]
    case 'link':
      return ['link', path, before, change.target]
    case 'meta':
      return ['meta', path, before, change.mtime ?? null, encodeBit(change.executable)]
    case 'move': {
      const { from, moved, mtime, executable } = change
      return ['move', path, before, from, encodeEntry(moved), mtime, encodeBit(executable)]
    }
    case 'staged':
      throw new Error('a staged file stays where it is')
    default:
      return [change.kind, path, before]
  }
}

export const encodeBit = (executable: boolean | undefined): 0 | 1 | 2 =>
  executable === undefined ? 2 : executable ? 1 : 0
export const decodeBit = (value: unknown): { readonly executable?: boolean } =>
  value === 0 || value === 1 ? { executable: value === 1 } : {}

/** Decodes the items of a frame with their contents. Throws an Error if they are not valid. */
export function decodeWrites(items: readonly unknown[], body: Buffer): readonly RequestedChange[] {
  let at = 0
  const writes = items.map((item): RequestedChange => {
    if (!Array.isArray(item)) throw new Error('a change is not a list')
    const [kind, path, before, first, second, third, fourth] = item as readonly unknown[]
    if (typeof path !== 'string') throw new Error('a change has no path')
    const expect = decodeEntry(before)
    if (kind === 'folder' || kind === 'remove') return { path, expect, change: { kind } }
    if (kind === 'link' && typeof first === 'string') return { path, expect, change: { kind, target: first } }
    if (kind === 'meta') {
      const mtime = first === null ? {} : { mtime: time(first) }
      return { path, expect, change: { kind, ...mtime, ...decodeBit(second) } }
    }
    if (kind === 'move' && typeof first === 'string') {
      const meta = { mtime: time(third), ...decodeBit(fourth) }
      return { path, expect, change: { kind, from: first, moved: decodeEntry(second), ...meta } }
    }
    if (kind !== 'file' || !Number.isSafeInteger(first)) throw new Error('a change is of no known kind')
    const end = at + (first as number)
    if (end < at || end > body.length) throw new Error('the contents of a file are not all there')
    const bytes = body.subarray(at, end)
    at = end
    return { path, expect, change: { kind, bytes, mtime: time(second), ...decodeBit(third) } }
  })
  if (at !== body.length) throw new Error('a message is longer than it says')
  return writes
}

function time(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error('a time is not a number')
  return value
}

/** Result of a change. If `kind` is `problem`, `message` contains the reason why the change failed. */
export type ItemResult =
  | WriteResult
  | { readonly kind: 'problem'; readonly entry: FileEntry | undefined; readonly message: string }

export function encodeResult(result: ItemResult): object {
  switch (result.kind) {
    case 'done':
    case 'changed':
      return { k: result.kind, e: encodeEntry(result.entry) }
    case 'problem':
      return { k: result.kind, e: encodeEntry(result.entry), m: result.message }
    case 'not-empty':
      return { k: result.kind }
  }
}

export function decodeResult(value: unknown): ItemResult {
  const { k, e, m } = object(value) as Frame['header']
  if (k === 'not-empty') return { kind: k }
  const entry = decodeEntry(e ?? null)
  if (k === 'done' || k === 'changed') return { kind: k, entry }
  if (k !== 'problem' || typeof m !== 'string') throw new Error('a result is of no known kind')
  return { kind: k, entry, message: m.slice(0, 500) }
}
