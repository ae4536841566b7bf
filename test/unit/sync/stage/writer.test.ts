import { expect, test } from 'vitest'
import type { FileEntry } from '../../../../sync/core/entry.ts'
import { TEMPORARY, Writer } from '../../../../sync/stage/writer.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'

// Another process writes to a file between our check of it and our own change.

const PLACE = '/files/a.txt'

function diskWith(files: Readonly<Record<string, string>>): MemoryDisk {
  const disk = new MemoryDisk(
    () => 1000,
    call => call(),
  )
  disk.folders('/files')
  for (const [name, text] of Object.entries(files)) disk.put(name, text)
  return disk
}

/** Writes theirs at the first change that the test is about. */
function meanwhile(disk: MemoryDisk, applies: (call: string, path: string) => boolean): void {
  disk.fault = (call, path) => {
    if (!applies(call, path)) return
    disk.fault = () => {}
    disk.put(PLACE, 'theirs')
  }
}

const change = { kind: 'file', bytes: Buffer.from('ours'), mtime: 5000 } as const

test('a new file that is created during a write is not replaced', () => {
  const disk = diskWith({})
  const writer = new Writer({ disk, root: '/files', write: 'auto' })
  meanwhile(disk, (_, path) => path.includes(TEMPORARY))
  expect(writer.write({ path: 'a.txt', expect: undefined, change })).toMatchObject({ kind: 'changed' })
  expect(disk.text(PLACE)).toBe('theirs')
  expect(disk.list('/files')).toEqual(['a.txt'])
})

test.each([
  ['auto', (call: string) => call === 'update'],
  ['rename', (_: string, path: string) => path.includes(TEMPORARY)],
] as const)('a file that changes during a write is not overwritten: %s', (write, applies) => {
  const disk = diskWith({ [PLACE]: 'before' })
  const writer = new Writer({ disk, root: '/files', write })
  meanwhile(disk, applies)
  const before = disk.entry(PLACE) as FileEntry
  expect(writer.write({ path: 'a.txt', expect: before, change })).toMatchObject({ kind: 'changed' })
  expect(disk.text(PLACE)).toBe('theirs')
  expect(disk.list('/files')).toEqual(['a.txt'])
})
