import { expect, test } from 'vitest'
import type { FileEntry } from '../../../../sync/core/entry.ts'
import { TreeNode } from '../../../../sync/core/tree-node.ts'
import { loadBase, saveBase } from '../../../../sync/stage/base-file.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'

const KEY = { volume: 'one', root: '/home/project' }
const FILE = '/state/base.json.gz'

const entry = (size: number): FileEntry => ({
  kind: 'file',
  size,
  mtime: 1_700_000_000_000.25,
  ctime: 1_700_000_000_001,
  inode: 7_000_000_000 + size,
  executable: false,
  hash: `hash-${size}`,
})

/** A tree with so many files in folders. */
function treeOf(count: number): TreeNode {
  const tree = new TreeNode('')
  for (let n = 0; n < count; n++) {
    const both = entry(n)
    tree.at(`folder-${n % 10}/file ä\n${n}`).base = { local: both, remote: both }
  }
  return tree
}

const basesOf = (tree: TreeNode) => [...tree.walk()].flatMap(({ path, base }) => (base ? [[path, base]] : []))

const newDisk = () =>
  new MemoryDisk(
    () => 0,
    call => setImmediate(call),
  )

// A small base is compressed at once, a large one in parts.
test.each([0, 3, 5_000])('the base of %i files is read as it was written', async count => {
  const disk = newDisk()
  const tree = treeOf(count)
  await saveBase(disk, FILE, KEY, { tree, own: ['node_modules'], journal: 7 })
  const read = new TreeNode('')
  expect(loadBase(disk, FILE, KEY, read)).toEqual({ own: ['node_modules'], journal: 7 })
  expect(basesOf(read)).toEqual(basesOf(tree))
})

test('a base of another volume, or a damaged one, is not used', async () => {
  const disk = newDisk()
  await saveBase(disk, FILE, KEY, { tree: treeOf(5_000), own: [], journal: 0 })
  const read = new TreeNode('')
  expect(loadBase(disk, FILE, { ...KEY, volume: 'other' }, read)).toBeUndefined()
  const bytes = disk.bytes(FILE)!
  disk.putBytes(FILE, bytes.subarray(0, bytes.length / 2))
  expect(loadBase(disk, FILE, KEY, read)).toBeUndefined()
  expect(basesOf(read)).toEqual([])
})
