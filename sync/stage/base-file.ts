import { once } from 'node:events'
import { createGzip, gunzipSync, gzipSync } from 'node:zlib'
import { type Agreed, copyEntry, decodeEntry, encodeEntry } from '../core/entry.ts'
import * as fields from '../core/fields.ts'
import { outsideProblem } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { Disk } from './disk.ts'
import { makeFolders, readOwn, writeOwn } from './disk-files.ts'

/** Owner of an agreed state: one volume and one local folder. */
export interface BaseKey {
  readonly volume: string
  readonly root: string
}

const VERSION = 2
const OPTIONS = { level: 1 }
/**
 * Number of characters that are compressed at a time. A base up to this size is compressed synchronously, which is
 * faster than handing it to a thread.
 */
const PART = 64 << 10

/**
 * Tree to save, with the folders that the container itself has created. The tree includes the changes of all journal
 * files up to the number `journal`.
 */
interface SavedTree {
  readonly tree: TreeNode
  readonly own: Iterable<string>
  readonly journal: number
}

/**
 * Writes the base of a tree: a header line with the container's own folders and the number of the last journal file
 * that the base includes, and one line per path. A large base is never fully in memory. Changes made during the write
 * may or may not be included.
 */
export async function saveBase(
  disk: Disk,
  file: string,
  { volume, root }: BaseKey,
  { tree, own, journal }: SavedTree,
): Promise<void> {
  const header = { version: VERSION, volume, root, own: [...own], journal }
  const bytes = await compressed(parts(header, tree))
  makeFolders(disk, file.slice(0, file.lastIndexOf('/')))
  writeOwn(disk, file, bytes)
}

function* parts(header: object, tree: TreeNode): Generator<string> {
  let text = `${JSON.stringify(header)}\n`
  for (const { base, path } of tree.walk()) {
    if (!base) continue
    text += `${JSON.stringify(encodeAgreed(path, base))}\n`
    if (text.length < PART) continue
    yield text
    text = ''
  }
  yield text
}

async function compressed(texts: Generator<string>): Promise<Uint8Array> {
  const first = texts.next().value as string // there is always one
  const second = texts.next()
  if (second.done) return gzipSync(first, OPTIONS)
  const stream = createGzip(OPTIONS)
  const done: Buffer[] = []
  stream.on('data', (bytes: Buffer) => done.push(bytes))
  const ended = once(stream, 'end')
  for (const text of [first, second.value]) stream.write(text)
  for (const text of texts) if (!stream.write(text)) await once(stream, 'drain')
  stream.end()
  await ended
  return Buffer.concat(done)
}

/** Returns the line of a path in a base. Without a base, the line means that the sides no longer agree on the path. */
export function encodeAgreed(path: string, base: Agreed | undefined): readonly unknown[] {
  const { local, remote, isTheirs } = base ?? {}
  const theirs = isTheirs ? ([1] as const) : ([] as const)
  return [path, encodeEntry(local), encodeEntry(remote), local?.hash ?? remote?.hash ?? null, ...theirs]
}

/** Fields of a base in addition to the entries of the tree. */
export interface LoadedBase {
  readonly own: readonly string[]
  /** Number of the last journal file that the base includes; undefined if the base was saved without a journal. */
  readonly journal: number | undefined
}

/**
 * Reads the base into a tree. Returns undefined and leaves the tree unchanged if the file is missing or damaged, or
 * belongs to another volume or folder.
 */
export function loadBase(disk: Disk, file: string, { volume, root }: BaseKey, tree: TreeNode): LoadedBase | undefined {
  const bytes = readOwn(disk, file)
  if (!bytes) return undefined
  try {
    // Load all entries or none: with a partial base, the other paths would count as new.
    const entries: (readonly [string, Agreed])[] = []
    let loaded: LoadedBase | undefined
    for (const line of lines(gunzipSync(bytes))) {
      const value: unknown = JSON.parse(line)
      if (loaded) entries.push(decodeAgreed(value))
      else {
        const header = fields.object(value)
        if (header['version'] !== VERSION || header['volume'] !== volume || header['root'] !== root) return undefined
        const own = fields.list(header, 'own').map(String)
        loaded = { own, journal: header['journal'] === undefined ? undefined : fields.count(header, 'journal') }
      }
    }
    for (const [path, base] of entries) tree.at(path).base = base
    return loaded
  } catch {
    return undefined
  }
}

function* lines(text: Buffer): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    yield text.toString('utf8', at, end < 0 ? text.length : end)
    at = end < 0 ? text.length : end + 1
  }
}

/** Decodes a line of a base. Throws an Error if the value is not valid. */
export function decodeAgreed(value: unknown): readonly [string, Agreed] {
  const [path, one, other, hash, theirs] = value as readonly unknown[]
  if (typeof path !== 'string' || outsideProblem(path)) throw new Error('a path in the base is not valid')
  const known = typeof hash === 'string' ? hash : undefined
  const decode = (value: unknown) => {
    const entry = decodeEntry(value)
    return entry && known !== undefined ? copyEntry(entry, { hash: known }) : entry
  }
  const [local, remote] = [decode(one), decode(other)]
  return [path, theirs === 1 ? { local, remote, isTheirs: true } : { local, remote }]
}
