import { promisify } from 'node:util'
import { gunzipSync, gzip, gzipSync } from 'node:zlib'
import type { Disk } from './disk.ts'
import { makeFolders, readOwn, writeOwn } from './disk-files.ts'
import { decodeEntry, encodeEntry } from './entry.ts'
import * as fields from './fields.ts'
import { outsideProblem } from './paths.ts'
import type { TreeNode } from './tree-node.ts'

/** What both sides last agreed on, for one volume and one folder of this machine. */
export interface BaseKey {
  readonly volume: string
  readonly root: string
}

const VERSION = 1
const OPTIONS = { level: 1 }
/** So little is compressed sooner than it is given to a thread. */
const SMALL = 64 << 10

/** Writes the base of a tree, and the folders that are the container's own. */
export async function saveBase(
  disk: Disk,
  file: string,
  { volume, root }: BaseKey,
  tree: TreeNode,
  own: Iterable<string>,
): Promise<void> {
  const entries: unknown[] = []
  for (const node of tree.walk()) {
    if (!node.base) continue
    const { local, remote } = node.base
    entries.push([node.path, encodeEntry(local), encodeEntry(remote), local?.hash ?? remote?.hash ?? null])
  }
  const text = JSON.stringify({ version: VERSION, volume, root, own: [...own], entries })
  const bytes = text.length < SMALL ? gzipSync(text, OPTIONS) : await promisify(gzip)(text, OPTIONS)
  makeFolders(disk, file.slice(0, file.lastIndexOf('/')))
  writeOwn(disk, file, bytes)
}

/**
 * Reads the base into a tree; gives the container's own folders. Undefined, and the tree as it was, if the file is not
 * there, damaged, or of another volume or folder.
 */
export function loadBase(
  disk: Disk,
  file: string,
  { volume, root }: BaseKey,
  tree: TreeNode,
): readonly string[] | undefined {
  const bytes = readOwn(disk, file)
  if (!bytes) return undefined
  try {
    const saved = fields.object(JSON.parse(gunzipSync(bytes).toString()))
    if (saved['version'] !== VERSION || saved['volume'] !== volume || saved['root'] !== root) return undefined
    // All of it, or nothing: with a part of the base, the rest would be taken for new.
    const entries = fields.list(saved, 'entries').map(decodeAgreed)
    for (const [path, base] of entries) tree.at(path).base = base
    return fields.list(saved, 'own').map(String)
  } catch {
    return undefined
  }
}

function decodeAgreed(value: unknown) {
  const [path, one, other, hash] = value as readonly unknown[]
  if (typeof path !== 'string' || outsideProblem(path)) throw new Error('a path in the base is not valid')
  const known = typeof hash === 'string' ? { hash } : {}
  const [local, remote] = [decodeEntry(one), decodeEntry(other)].map(entry => entry && { ...entry, ...known })
  return [path, { local, remote }] as const
}
