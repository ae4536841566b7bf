import { expect, test } from 'vitest'
import { Trash } from '../../../../sync/stage/trash.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'
import { TwoSides } from '../../../support/sync/two-sides.ts'
import { VirtualClock } from '../../../support/sync/virtual-clock.ts'

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

/** The number of files on the laptop. */
const count = (sides: TwoSides) => Object.keys(sides.files('local')).filter(path => !path.endsWith('/')).length

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
  'a large deletion in the container (%s) deletes nothing on the laptop before it is confirmed',
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

test('files that exist only in the container do not hide that all others are deleted', async () => {
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

test('slow deletions stop when they reach half of the files, and deleted files are kept', async () => {
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

test('a confirmed deletion is made, and its files are kept in the folder of the session', async () => {
  const sides = await synced({ ...many('src', 20), readme: 'one' })
  remove(sides, 'src')
  await sides.clock.run(5_000)
  sides.engine.answer('0', 'delete')
  await sides.settle()
  expect(sides.files('local')).toEqual({ readme: 'one' })
  expect(Object.fromEntries(deleted(sides))).toEqual(many('src', 20))
  await sides.close()
})

test('a stop ends by itself when the files are back', async () => {
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

test('a few deletions are made at once, and their files are kept', async () => {
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

test('a folder that is built again and again is not counted each time', async () => {
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

test('a deletion of more than a thousand files needs an answer, and all of them are kept', async () => {
  const sides = await synced({ ...many('src', 1_400), ...many('docs', 1_632) })
  remove(sides, 'src')
  await sides.clock.run(10_000)
  expect(stops(sides)).toMatchObject([{ folder: '0', side: 'remote', loss: { files: 1_400, of: 3_032 } }])
  expect(count(sides)).toBe(3_032)
  sides.engine.answer('0', 'delete')
  await sides.settle()
  expect(count(sides)).toBe(1_632)
  expect(Object.fromEntries(deleted(sides))).toEqual(many('src', 1_400))
  await sides.close()
})

test('a deletion of a hundred files is made and reported', async () => {
  const sides = await synced({ ...many('src', 120), ...many('docs', 300) })
  remove(sides, 'src')
  await sides.settle()
  expect(stops(sides)).toEqual([])
  expect(sides.events.filter(({ kind }) => kind === 'deleted')).toEqual([
    { kind: 'deleted', folder: '0', files: 120, kept: '/home/state/deleted' },
  ])
  expect(count(sides)).toBe(300)
  await sides.close()
})

test('files that only the container made are no loss, even in a later session', async () => {
  const sides = await synced(many('src', 20))
  sides.fill(many('dist', 100))
  sides.container.makeLink('0', sides.place('remote', 'dist/link'))
  await sides.settle()
  expect(count(sides)).toBe(121)
  await sides.engine.close()
  sides.startLaptop()
  await sides.settle()
  remove(sides, 'dist')
  await sides.clock.run(20_000)
  expect(stops(sides)).toEqual([])
  expect(count(sides)).toBe(20)
  expect(deleted(sides)).toHaveLength(101)
  await sides.close()
})

test.each([
  ['that the laptop has changed', (sides: TwoSides) => sides.laptop.put(sides.place('local', 'dist/0'), 'mine')],
  ['that the laptop had before', () => {}],
])('files of the container are no loss, but those %s are', async (_, change) => {
  const sides = await synced({ 'src/a': 'one', 'src/b': 'two', readme: 'three' })
  sides.fill(many('dist', 20))
  await sides.settle()
  change(sides)
  sides.fill({ 'src/a': 'theirs' })
  await sides.settle()
  const before = count(sides)
  remove(sides, 'src', 'readme', 'dist')
  await sides.clock.run(10_000)
  expect(stops(sides)).toMatchObject([{ side: 'remote' }])
  expect(count(sides)).toBe(before)
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

test('a laptop that loses the only folder of a project deletes nothing in the container before an answer', async () => {
  const files = many('src', 5)
  const sides = await synced(files)
  sides.laptop.removeAll('/home/project/src')
  await sides.clock.run(4_000)
  expect(stops(sides)).toMatchObject([{ folder: '0', side: 'local' }])
  expect(sides.files('remote')).toMatchObject(files)
  sides.engine.answer('0', 'delete')
  await sides.settle()
  expect(sides.files('remote')).toEqual({})
  await sides.close()
})

test('a laptop that loses its only file deletes it in the container', async () => {
  const sides = await synced({ a: 'one' })
  sides.laptop.removeAll('/home/project/a')
  await sides.settle()
  expect(sides.files('remote')).toEqual({})
  await sides.close()
})

test('work during a scan of a folder that is just emptied deletes nothing in the container', async () => {
  const files = { ...many('a', 1_500), 'b/0': 'b', 'c/0': 'c' }
  const sides = new TwoSides({ rescanInterval: 30 })
  for (const [path, text] of Object.entries(files)) {
    sides.laptop.folders(sides.place('local', path.slice(0, 1)))
    sides.laptop.put(sides.place('local', path), text)
  }
  const start = sides.clock.now()
  sides.start()
  await sides.settle()
  await sides.clock.run(start + 29_980 - sides.clock.now())
  // A disk that is unmounted while it is read causes no events.
  const entry = sides.laptop.entry.bind(sides.laptop)
  sides.laptop.entry = place => {
    if (place.endsWith('/a/300')) {
      sides.laptop.removeAll('/home/project')
      sides.laptop.folders('/home/project')
    }
    return entry(place)
  }
  for (let n = 0; n < 40; n++) {
    void sides.attached!.settled().catch(() => {})
    await sides.clock.run(1)
  }
  await sides.clock.run(4_000)
  expect(stops(sides)).toMatchObject([{ folder: '0', side: 'local' }])
  expect(Object.keys(sides.files('remote'))).toHaveLength(1_505)
  await sides.close()
})

test('files that a scan does not find are deleted in the container after the scan', async () => {
  const sides = new TwoSides({ rescanInterval: 5 })
  for (const name of ['a', 'b', 'c']) sides.laptop.put(sides.place('local', name), name)
  sides.laptop.watch = () => () => true
  sides.start()
  sides.connect()
  await sides.clock.run(2_000)
  sides.laptop.removeAll(sides.place('local', 'b'))
  await sides.clock.run(6_000)
  expect(sides.files('remote')).toEqual({ a: 'a', c: 'c' })
  expect(sides.engine.status()).toMatchObject({ state: 'synced', filesLeft: 0 })
  await sides.close()
})

/** A folder of deleted files, and a function that deletes a file of the laptop. A file has 20 MB for each letter. */
function keeping() {
  const clock = new VirtualClock()
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/project')
  const entry = disk.entry.bind(disk)
  disk.entry = place => {
    const found = entry(place)
    return found && { ...found, size: found.size * 20e6 }
  }
  const open = () => new Trash(disk, clock, '/state/deleted')
  const take = (folder: Trash, path: string, text: string, isTheirs = false) => {
    disk.put(`/project/${path}`, text)
    folder.take(`/project/${path}`, '0', path, isTheirs)
  }
  /** The texts that are kept. */
  const left = () =>
    Object.entries(disk.files('/state/deleted')).flatMap(([path, text]) => (path.endsWith('/') ? [] : [text]))
  return { clock, disk, open, take, left }
}

test('500 MB of deleted files are kept, and all that were deleted together', async () => {
  const { clock, open, take, left } = keeping()
  const first = open()
  for (let n = 0; n < 4; n++) take(first, `a${n}`, `old-${n}`)
  await clock.run(20_000)
  // Another session deletes other files slowly.
  const second = open()
  for (let n = 0; n < 7; n++) {
    take(second, `b${n}`, `new-${n}`)
    await clock.run(9_000)
  }
  expect(left().sort()).toEqual(Array.from({ length: 7 }, (_, n) => `new-${n}`))
  await clock.run(20_000)
  take(second, 'c', 'last1')
  expect(left().sort()).toEqual(['last1', 'new-3', 'new-4', 'new-5', 'new-6'])
})

test('files of builds make room for others, however often they are built', async () => {
  const { clock, open, take, left } = keeping()
  const folder = open()
  take(folder, 'src', 'mine1')
  for (let n = 0; n < 20; n++) {
    take(folder, 'dist', 'dist1', true)
    await clock.run(2_000)
  }
  expect(left().sort()).toEqual(['dist1', 'dist1', 'dist1', 'dist1', 'mine1'])
})

test('deleted files are kept for 30 days', async () => {
  const { clock, open, take, left } = keeping()
  take(open(), 'a', 'old')
  await clock.run(29 * 24 * 3_600_000)
  take(open(), 'b', 'new')
  expect(left().sort()).toEqual(['new', 'old'])
  await clock.run(2 * 24 * 3_600_000)
  take(open(), 'c', 'last')
  expect(left().sort()).toEqual(['last', 'new'])
})

test('files of other programs among the deleted files stay, and keep no others', async () => {
  const { clock, disk, open, take, left } = keeping()
  disk.folders('/state/deleted/Other')
  disk.put('/state/deleted/.DS_Store', 'x')
  disk.put('/state/deleted/Other/a', 'y')
  take(open(), 'a', 'old')
  await clock.run(31 * 24 * 3_600_000)
  take(open(), 'b', 'new')
  expect(left().sort()).toEqual(['new', 'x', 'y'])
})

test('a deleted file is copied to another file system', () => {
  const clock = new VirtualClock()
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/project')
  disk.put('/project/a', 'x'.repeat(3_000_000))
  const rename = disk.rename.bind(disk)
  disk.rename = (from, to) => {
    if (to.startsWith('/state')) throw Object.assign(new Error('cross-device'), { code: 'EXDEV' })
    rename(from, to)
  }
  new Trash(disk, clock, '/state/deleted').take('/project/a', '0', 'a')
  expect(Object.keys(disk.files('/project'))).toEqual([])
  expect(Object.values(disk.files('/state/deleted')).map(text => text.length)).toContain(3_000_000)
  expect(disk.openFiles).toBe(0)
})
