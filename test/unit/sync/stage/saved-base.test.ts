import { expect, test } from 'vitest'
import type { FileEntry } from '../../../../sync/core/entry.ts'
import { TreeNode } from '../../../../sync/core/tree-node.ts'
import { SavedBase } from '../../../../sync/stage/saved-base.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'

const FILE = '/state/base.json.gz'
const FIRST = `${FILE}.journal-1`

const entry = (size: number): FileEntry => ({
  kind: 'file',
  size,
  mtime: 1_700_000_000_000.25,
  ctime: 1,
  inode: 7,
  executable: false,
  hash: `hash-${size}`,
})

const newDisk = () =>
  new MemoryDisk(
    () => 0,
    call => setImmediate(call),
  )

/** A session that has agreed on a file of that size at each of the paths. */
function session(disk: MemoryDisk, sizes: Readonly<Record<string, number>>, volume = 'one') {
  const tree = new TreeNode('')
  const saved = new SavedBase(disk, FILE, '/project')
  const found = saved.load(volume, tree)
  const agree = (path: string, size: number) => {
    const node = tree.at(path)
    node.base = size < 0 ? undefined : { local: entry(size), remote: entry(size) }
    saved.agreed(node)
  }
  for (const [path, size] of Object.entries(sizes)) agree(path, size)
  saved.flush()
  return { tree, saved, found, agree, save: () => saved.save(tree, ['own'], []) }
}

const sizesOf = (tree: TreeNode) =>
  Object.fromEntries([...tree.walk()].flatMap(({ path, base }) => (base ? [[path, base.local?.size]] : [])))
const journals = (disk: MemoryDisk) => disk.list('/state').filter(name => name.includes('journal'))

test('agreements since the last save are known to the next session', async () => {
  const disk = newDisk()
  expect(session(disk, { a: 1, 'd/b': 2 }).found).toBeUndefined()
  const second = session(disk, { a: 3, c: 4 })
  expect(second.found?.own).toEqual([])
  await second.save()
  expect(journals(disk)).toEqual([])
  second.agree('d/b', -1)
  second.saved.flush()
  const third = session(disk, {})
  expect(third.found?.own).toEqual(['own'])
  expect(sizesOf(third.tree)).toEqual({ a: 3, c: 4 })
  expect(third.tree.find('d')).toBeUndefined()
})

test('the journal of an earlier session counts with its bytes', () => {
  const disk = newDisk()
  session(disk, { a: 1, b: 2 }).saved.close()
  expect(session(disk, {}).saved.size).toBe(disk.bytes(FIRST).length)
})

test('a torn line and a journal of another volume are ignored', async () => {
  const disk = newDisk()
  session(disk, { a: 1, b: 2 }).saved.close()
  disk.putBytes(FIRST, disk.bytes(FIRST).subarray(0, -3))
  expect(sizesOf(session(disk, { c: 3 }).tree)).toEqual({ a: 1, c: 3 })
  expect(sizesOf(session(disk, {}).tree)).toEqual({ a: 1, c: 3 })
  expect(journals(disk)).toHaveLength(2)
  const other = session(disk, { x: 1 }, 'other')
  expect(other.found).toBeUndefined()
  expect(sizesOf(session(disk, {}, 'other').tree)).toEqual({ x: 1 })
  await other.save()
  expect(sizesOf(session(disk, {}).tree)).toEqual({})
})

test('a journal without its base is not used', async () => {
  const disk = newDisk()
  const first = session(disk, { a: 1 })
  await first.save()
  first.agree('b', 2)
  first.saved.close()
  expect(sizesOf(session(disk, {}).tree)).toEqual({ a: 1, b: 2 })
  disk.removeAll(FILE)
  expect(session(disk, {}).found).toBeUndefined()
  expect(journals(disk)).toEqual([])
})

test('changes during a save are known, and a failed write does no harm', async () => {
  const disk = newDisk()
  const first = session(disk, Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, n])))
  const saving = first.save()
  first.agree('f0', 70)
  await saving
  first.agree('f1', 71)
  first.saved.flush()
  disk.room = 10
  first.agree('f2', 72)
  first.saved.flush()
  disk.room = Infinity
  first.agree('f3', 73)
  first.saved.flush()
  const { tree } = session(disk, {})
  expect(['f0', 'f1', 'f2', 'f3', 'f4'].map(path => tree.find(path)?.base?.local?.size)).toEqual([70, 71, 2, 3, 4])
})
