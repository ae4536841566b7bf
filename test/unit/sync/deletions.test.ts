import { expect, test } from 'vitest'
import { DeletedFiles } from '../../../sync/deleted-files.ts'
import { MemoryDisk } from '../../support/sync/memory-disk.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'
import { VirtualClock } from '../../support/sync/virtual-clock.ts'

async function synced(files: Readonly<Record<string, string>>, image: Readonly<Record<string, string>> = {}) {
  const sides = new TwoSides()
  for (const [path, text] of Object.entries(files)) {
    const place = sides.place('local', path)
    sides.laptop.folders(place.slice(0, place.lastIndexOf('/')))
    sides.laptop.put(place, text)
  }
  sides.fill(image)
  sides.start()
  await sides.settle()
  return sides
}

const many = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/${n}`, `${folder} ${n}`]))

const stops = (sides: TwoSides) => sides.events.filter(({ kind }) => kind === 'stopped')

const remove = (sides: TwoSides, ...paths: readonly string[]) => {
  for (const path of paths) sides.container.removeAll(sides.place('remote', path))
}

/** Contents that were deleted on the laptop, by path. */
const deleted = (sides: TwoSides) =>
  Object.entries(sides.laptop.files('/home/state/deleted'))
    .filter(([path]) => !path.endsWith('/'))
    .map(([path, text]) => [path.replace(/^[^/]*\/0\//, ''), text] as const)

test.each([
  ['a hidden file is left', { '.env': 'secret', 'src/a': 'one', 'src/b': 'two', readme: 'three' }, ['src', 'readme']],
  ['only one folder is gone', { '.env': 'secret', 'src/a': 'one', 'src/b': 'two' }, ['src']],
  ['empty folders are left', { 'src/a': 'one', 'src/b': 'two' }, ['src/a', 'src/b']],
  ['more than half', { ...many('src', 20), ...many('docs', 10), readme: 'one' }, ['src']],
])(
  'what the container deletes is much (%s): nothing is deleted here before somebody says so',
  async (_, files, gone) => {
    const sides = await synced(files, { 'lib/x': 'image' })
    const before = sides.files('local')
    remove(sides, ...gone)
    await sides.clock.run(5_000)
    expect(stops(sides)).toMatchObject([{ folder: '0', side: 'remote', loss: { of: Object.keys(files).length } }])
    expect(sides.files('local')).toEqual(before)
    sides.engine.answer('0', 'restore')
    await sides.settle()
    expect(sides.files('local')).toEqual(before)
    expect(sides.files('remote')).toMatchObject(before)
    await sides.close()
  },
)

test('files that only the container has do not hide that all others are gone', async () => {
  const sides = await synced({ a: 'one', 'd/b': 'two' }, { 'lib/x': 'image' })
  remove(sides, 'a', 'd')
  await sides.clock.run(5_000)
  expect(stops(sides)).toHaveLength(1)
  expect(sides.files('local')).toMatchObject({ a: 'one', 'd/b': 'two' })
  await sides.close()
})

test('deletions that arrive one after the other are judged together', async () => {
  const files = many('src', 40)
  const sides = await synced({ ...files, 'docs/one': 'docs' })
  for (let n = 0; n < 40; n++) {
    remove(sides, `src/${n}`)
    await sides.clock.run(25)
  }
  await sides.clock.run(5_000)
  expect(stops(sides)).toHaveLength(1)
  expect(sides.files('local')).toMatchObject(files)
  await sides.close()
})

test('deletions a second apart stop it when they are half of the files; what has gone is kept', async () => {
  const sides = await synced({ ...many('src', 20), readme: 'one' })
  for (let n = 0; n < 20; n++) {
    remove(sides, `src/${n}`)
    await sides.clock.run(400)
  }
  await sides.clock.run(5_000)
  expect(stops(sides)).toHaveLength(1)
  const here = Object.values(sides.files('local')).filter(text => text.startsWith('src'))
  expect(here.length).toBeGreaterThan(8)
  expect(new Set([...here, ...deleted(sides).map(([, text]) => text)]).size).toBe(20)
  await sides.close()
})

test('what was meant is deleted, and is kept in the folder of the session', async () => {
  const sides = await synced({ ...many('src', 20), readme: 'one' })
  remove(sides, 'src')
  await sides.clock.run(5_000)
  sides.engine.answer('0', 'delete')
  await sides.settle()
  expect(sides.files('local')).toEqual({ readme: 'one' })
  expect(Object.fromEntries(deleted(sides))).toEqual(many('src', 20))
  await sides.close()
})

test('it goes on by itself when the files are back', async () => {
  const sides = await synced({ ...many('dist', 20), readme: 'one' })
  remove(sides, 'dist')
  await sides.clock.run(5_000)
  expect(sides.engine.status().state).toBe('stopped')
  sides.fill(many('dist', 19))
  await sides.settle()
  expect(sides.files('local')).toEqual(sides.files('remote'))
  expect(sides.files('local')['dist/19']).toBeUndefined()
  expect(deleted(sides)).toEqual([['dist/19', 'dist 19']])
  await sides.close()
})

test.each([
  ['the same files', many('dist', 100)],
  ['files with other names', Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`dist/${n}.hash`, `new ${n}`]))],
])('a folder that the container deletes and builds again is followed: %s', async (_, built) => {
  const sides = await synced({ ...many('src', 20), ...many('dist', 100) })
  remove(sides, 'dist')
  // The compiler reads its sources first.
  await sides.clock.run(2_500)
  for (const [path, text] of Object.entries(built)) {
    sides.fill({ [path]: text })
    await sides.clock.run(20)
  }
  await sides.settle()
  expect(stops(sides)).toEqual([])
  expect(sides.files('local')).toEqual(sides.files('remote'))
  expect(Object.keys(sides.files('local'))).toHaveLength(22 + Object.keys(built).length)
  await sides.close()
})

test('a few deletions are made at once, and kept', async () => {
  const sides = await synced({ ...many('src', 20), readme: 'one' })
  remove(sides, 'src/3', 'readme')
  await sides.clock.run(100)
  expect(sides.files('local')['src/3']).toBeUndefined()
  expect(stops(sides)).toEqual([])
  expect(deleted(sides)).toEqual([
    ['readme', 'one'],
    ['src/3', 'src 3'],
  ])
  await sides.close()
})

test('a folder that is made again and again is not counted again and again', async () => {
  const sides = await synced({ ...many('src', 30), ...many('dist', 20) })
  for (let n = 0; n < 5; n++) {
    remove(sides, 'dist')
    await sides.clock.run(1_000)
    sides.fill(many('dist', 20))
    await sides.clock.run(1_000)
  }
  await sides.settle()
  expect(stops(sides)).toEqual([])
  expect(Object.keys(sides.files('local'))).toHaveLength(52)
  await sides.close()
})

test('a file that becomes a folder or a link in the container is kept', async () => {
  const sides = await synced({ a: 'one', b: 'two', c: 'three', d: 'four' })
  remove(sides, 'a', 'b')
  sides.container.folders('/volume/src/0/a')
  sides.container.makeLink('c', '/volume/src/0/b')
  await sides.settle()
  expect(sides.files('local')).toMatchObject({ 'a/': '', b: '-> c' })
  expect(deleted(sides)).toEqual([
    ['a', 'one'],
    ['b', 'two'],
  ])
  await sides.close()
})

test('the newest deleted files are kept: a thousand, and 500 MB', () => {
  const clock = new VirtualClock()
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/project')
  const take = (folder: DeletedFiles, path: string) => {
    disk.put(`/project/${path}`, path)
    folder.take(`/project/${path}`, '0', path)
  }
  const first = new DeletedFiles(disk, clock, '/state/deleted')
  for (let n = 0; n < 900; n++) take(first, `a${n}`)
  take(first, 'a1')
  const second = new DeletedFiles(disk, clock, '/state/deleted')
  for (let n = 0; n < 200; n++) take(second, `b${n}`)
  const left = Object.values(disk.files('/state/deleted')).filter(text => text !== '')
  expect(left).toHaveLength(1_000)
  expect(left).toEqual(expect.arrayContaining(['a899', 'a1', 'b0', 'b199']))
  expect(Object.keys(disk.files('/project'))).toEqual([])
})

test('on another file system the deleted file is copied', () => {
  const clock = new VirtualClock()
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/project')
  disk.put('/project/a', 'x'.repeat(3_000_000))
  const rename = disk.rename.bind(disk)
  disk.rename = (from, to) => {
    if (to.startsWith('/state')) throw Object.assign(new Error('cross-device'), { code: 'EXDEV' })
    rename(from, to)
  }
  new DeletedFiles(disk, clock, '/state/deleted').take('/project/a', '0', 'a')
  expect(Object.keys(disk.files('/project'))).toEqual([])
  expect(Object.values(disk.files('/state/deleted')).map(text => text.length)).toContain(3_000_000)
  expect(disk.openFiles).toBe(0)
})
