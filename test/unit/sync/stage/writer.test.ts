import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { FileEntry } from '../../../../sync/core/entry.ts'
import { nodeDisk } from '../../../../sync/stage/disk.ts'
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

test.each([
  [0o600, undefined, 0o600],
  [0o640, false, 0o640],
  [0o444, undefined, 0o444],
  [0o700, undefined, 0o700],
  [0o600, true, 0o700],
  [0o755, false, 0o644],
] as const)(
  'a file with mode %o keeps its permissions when it is replaced: executable %s',
  (mode, executable, wanted) => {
    const root = mkdtempSync(join(tmpdir(), 'devctl-writer-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const writer = new Writer({ disk: nodeDisk, root, write: 'rename' })
    const meta = { mtime: 5000, ...(executable !== undefined && { executable }) }
    const stage = writer.stageFor(join(root, 'staged'))
    writeFileSync(stage, 'ours')
    for (const [path, one] of [
      ['small', { kind: 'file', bytes: Buffer.from('ours'), ...meta }],
      ['staged', { kind: 'staged', stage, ...meta }],
    ] as const) {
      const place = join(root, path)
      writeFileSync(place, 'before')
      chmodSync(place, mode)
      const expected = nodeDisk.entry(place) as FileEntry
      expect(writer.write({ path, expect: expected, change: one })).toMatchObject({ kind: 'done' })
      expect((statSync(place).mode & 0o777).toString(8)).toBe(wanted.toString(8))
      expect(readFileSync(place, 'utf8')).toBe('ours')
    }
  },
)
