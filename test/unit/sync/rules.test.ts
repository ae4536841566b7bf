import { expect, test } from 'vitest'
import { encodeEntry, FOLDER, linkEntry } from '../../../sync/core/entry.ts'
import { NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'

const conflicts = (sides: TwoSides) => sides.events.filter(({ kind }) => kind === 'conflict')
const problems = (sides: TwoSides) => sides.engine.status().problems

async function synced(files: Readonly<Record<string, string>>, image: Readonly<Record<string, string>> = {}) {
  const sides = new TwoSides()
  for (const [path, text] of Object.entries(files)) write(sides, 'local', path, text)
  sides.fill(image)
  sides.start()
  await sides.settle()
  return sides
}

function write(sides: TwoSides, side: 'local' | 'remote', path: string, text: string): void {
  const place = sides.place(side, path)
  sides.disk(side).folders(place.slice(0, place.lastIndexOf('/')))
  sides.disk(side).put(place, text)
}

test('files of the image stay in the container until either side changes them', async () => {
  const sides = await synced({ 'src/a': 'mine' }, { 'lib/x': 'image x', 'lib/y': 'image y', 'src/a': 'image a' })
  expect(sides.files('local')).toEqual({ 'src/': '', 'src/a': 'mine' })
  expect(sides.files('remote')).toMatchObject({ 'lib/x': 'image x', 'src/a': 'mine' })
  write(sides, 'remote', 'lib/x', 'changed')
  await sides.settle()
  expect(sides.files('local')).toEqual({ 'lib/': '', 'lib/x': 'changed', 'src/': '', 'src/a': 'mine' })
  write(sides, 'local', 'lib/y', 'mine')
  await sides.settle()
  expect(sides.files('remote')['lib/y']).toBe('mine')
  expect(conflicts(sides)).toEqual([])
  await sides.close()
})

test('the laptop wins a conflict, and the overwritten file is kept', async () => {
  const sides = await synced({ a: 'one' })
  sides.pair!.cut()
  write(sides, 'local', 'a', 'mine')
  write(sides, 'remote', 'a', 'theirs')
  await sides.settle()
  expect(sides.files('local')).toEqual({ a: 'mine' })
  expect(sides.files('remote')).toEqual({ a: 'mine' })
  expect(conflicts(sides)).toMatchObject([{ path: 'a' }])
  expect(sides.kept()).toContain('theirs')
  await sides.close()
})

test('a new volume deletes nothing, and gets all files again', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  sides.newVolume({})
  await sides.settle()
  expect(sides.files('local')).toEqual({ a: 'one', b: 'two' })
  expect(sides.files('remote')).toEqual({ a: 'one', b: 'two' })
  await sides.close()
})

test.each(['local', 'remote'] as const)(
  'an empty root on one side (%s) deletes nothing before an answer',
  async side => {
    const sides = await synced({ a: 'one', 'd/b': 'two' })
    const other = side === 'local' ? 'remote' : 'local'
    sides.disk(side).removeAll(sides.place(side, 'd'))
    sides.disk(side).removeAll(sides.place(side, 'a'))
    await sides.clock.run(4_000)
    expect(sides.events.filter(({ kind }) => kind === 'stopped')).toMatchObject([{ folder: '0', side }])
    expect(sides.engine.status().state).toBe('stopped')
    expect(sides.files(other)).toMatchObject({ a: 'one', 'd/b': 'two' })
    sides.engine.answer('0', 'delete')
    await sides.settle()
    expect(sides.files(other)).toEqual({})
    await sides.close()
  },
)

test('the files are restored after a stop', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  sides.pair!.cut()
  for (const path of ['a', 'b']) sides.laptop.removeAll(sides.place('local', path))
  sides.connect()
  await sides.clock.run(3_000)
  expect(sides.engine.status().state).toBe('stopped')
  sides.engine.answer('0', 'restore')
  await sides.settle()
  expect(sides.files('local')).toEqual({ a: 'one', b: 'two' })
  await sides.close()
})

test('a full disk is a problem of one file only, and the file is tried again', async () => {
  const sides = await synced({ a: 'one' })
  sides.container.room = 5
  write(sides, 'local', 'large', 'x'.repeat(100))
  write(sides, 'local', 'b', 'two')
  await sides.clock.run(3_000)
  expect(problems(sides)).toMatchObject([{ path: 'large', side: 'remote', message: 'the disk is full' }])
  expect(sides.engine.status()).toMatchObject({ state: 'synced', filesLeft: 1, bytesLeft: 100, percent: 5 })
  expect(sides.files('remote')).toEqual({ a: 'one', b: 'two' })
  sides.container.room = Infinity
  await sides.settle()
  expect(sides.files('remote')['large']).toHaveLength(100)
  expect(problems(sides)).toEqual([])
  await sides.clock.run(1_000)
  expect(sides.events.filter(({ kind }) => ['full', 'room', 'problem', 'solved'].includes(kind))).toEqual([
    { kind: 'full', folder: '0', side: 'remote', files: 1, bytes: 100 },
    { kind: 'room', folder: '0', side: 'remote' },
  ])
  await sides.close()
})

test('a full disk is reported once for all files that have no room', async () => {
  const sides = await synced({ a: 'one' })
  const full = () => sides.events.filter(({ kind }) => kind === 'full')
  sides.container.room = 0
  for (let at = 0; at < 60; at++) write(sides, 'local', `file-${at}`, 'x'.repeat(10))
  await sides.clock.run(40_000)
  expect(full()).toEqual([{ kind: 'full', folder: '0', side: 'remote', files: 60, bytes: 600 }])
  for (let at = 60; at < 120; at++) write(sides, 'local', `file-${at}`, 'x'.repeat(10))
  await sides.clock.run(40_000)
  expect(full()[1]).toEqual({ kind: 'full', folder: '0', side: 'remote', files: 120, bytes: 1200 })
  expect(problems(sides)).toHaveLength(120)
  sides.container.room = Infinity
  await sides.settle()
  await sides.clock.run(1_000)
  expect(sides.events.filter(({ kind }) => kind === 'room')).toHaveLength(1)
  await sides.close()
})

test('a file that no longer fits in its place keeps its old contents', async () => {
  const sides = await synced({ a: 'one' })
  sides.container.room = 2
  write(sides, 'local', 'a', 'x'.repeat(100))
  await sides.clock.run(500)
  expect(sides.files('remote')).toEqual({ a: 'one' })
  sides.container.room = Infinity
  await sides.settle()
  expect(conflicts(sides)).toEqual([])
  await sides.close()
})

test('only changes are sent after a cut connection', async () => {
  const sides = await synced(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`file-${n}`, 'x'.repeat(200)])))
  const before = sides.engine.status().sentBytes
  sides.pair!.cut()
  write(sides, 'local', 'file-7', 'changed')
  write(sides, 'remote', 'file-9', 'changed, too')
  await sides.settle()
  expect(sides.files('remote')['file-7']).toBe('changed')
  expect(sides.files('local')['file-9']).toBe('changed, too')
  expect(sides.engine.status().sentBytes - before).toBeLessThan(2_000)
  await sides.close()
})

test('a second session without changes sends no file', async () => {
  const sides = await synced(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`file-${n}`, 'x'.repeat(200)])))
  await sides.clock.run(5_000)
  await sides.engine.close()
  sides.startAgent()
  sides.startLaptop()
  await sides.settle()
  expect(sides.engine.status()).toMatchObject({ files: 500, percent: 100 })
  expect(sides.engine.status().sentBytes).toBeLessThan(2_000)
  await sides.close()
})

test('a file that is written all the time arrives nevertheless', async () => {
  const sides = await synced({ log: 'start' })
  for (let n = 0; n < 40; n++) {
    sides.laptop.put('/home/project/log', `line ${n}`)
    await sides.clock.run(100)
  }
  await sides.settle()
  expect(sides.files('remote')).toEqual({ log: 'line 39' })
  await sides.close()
})

test('a damaged base is not used', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  await sides.clock.run(5_000)
  await sides.engine.close()
  for (const name of sides.laptop.list('/home/state').filter(one => one.startsWith('base-')))
    sides.laptop.put(`/home/state/${name}`, 'damaged')
  sides.laptop.removeAll('/home/project/b')
  sides.startLaptop()
  await sides.settle()
  // The deletion cannot be detected without a base.
  expect(sides.files('local')).toEqual({ a: 'one', b: 'two' })
  await sides.close()
})

test('a folder with ignored files is not deleted', async () => {
  const ignores = { ...NO_IGNORES, text: 'cache\n' }
  const sides = new TwoSides({ folders: [{ name: '0', local: '/home/project', ignores }] })
  write(sides, 'local', 'src/a', 'one')
  write(sides, 'local', 'b', 'two')
  sides.start()
  await sides.settle()
  write(sides, 'remote', 'src/cache/x', 'made there')
  sides.laptop.removeAll('/home/project/src')
  await sides.settle()
  expect(sides.files('remote')).toEqual({ b: 'two', 'src/': '', 'src/cache/': '', 'src/cache/x': 'made there' })
  expect(sides.files('local')).toEqual({ b: 'two' })
  await sides.close()
})

test('packages that the container has installed itself are not synchronized', async () => {
  const ignores = NO_IGNORES
  const sides = new TwoSides({ folders: [{ name: '0', local: '/home/project', ignores }] })
  sides.fill({ 'node_modules/a/index.js': 'image a' })
  write(sides, 'local', 'node_modules/a/index.js', 'for this machine')
  write(sides, 'local', 'index.js', 'one')
  sides.start()
  await sides.settle()
  expect(sides.files('remote')['node_modules/a/index.js']).toBe('image a')
  expect(sides.files('local')['node_modules/a/index.js']).toBe('for this machine')
  write(sides, 'remote', 'lib/node_modules/b/index.js', 'installed')
  write(sides, 'remote', 'lib/c.js', 'written')
  await sides.settle()
  expect(sides.files('local')).not.toHaveProperty('lib/node_modules/b/index.js')
  expect(sides.files('local')['lib/c.js']).toBe('written')
  await sides.close()
})

test('names that a file system does not distinguish are reported, not written', async () => {
  const sides = new TwoSides({ platform: 'darwin' })
  write(sides, 'local', 'Readme', 'mine')
  sides.start()
  sides.connect()
  await sides.clock.run(1_000)
  write(sides, 'remote', 'README', 'theirs')
  await sides.clock.run(3_000)
  expect(problems(sides)).toMatchObject([{ path: 'README' }])
  expect(sides.files('local')).toEqual({ Readme: 'mine' })
  await sides.close()
})

test('paths, links and writes through links from the container are checked', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  sides.laptop.folders('/home/outside')
  sides.laptop.makeLink('../outside', '/home/project/out')
  await sides.settle()
  const evil = [
    ['../outside/x', encodeEntry(linkEntry('y'))],
    ['/home/outside/x', encodeEntry(linkEntry('y'))],
    ['.git/hooks', encodeEntry(FOLDER)],
    ['n\0ul', encodeEntry(FOLDER)],
    ['out/x', encodeEntry(linkEntry('y'))],
    ['passwd', encodeEntry(linkEntry('/etc/passwd'))],
  ]
  hostile(sides, { seq: 1, folder: '0', entries: evil })
  await sides.clock.run(1_000)
  expect(sides.laptop.files('/home/outside')).toEqual({})
  expect(Object.keys(sides.files('local'))).toEqual(['a', 'b', 'out'])
  const messages = sides.events.flatMap(event => (event.kind === 'problem' ? [event.problem.message] : []))
  for (const words of ['leads out', 'absolute', '`.git`', 'NUL', 'leads out of the folder, to `/etc/passwd`'])
    expect(messages.join('\n')).toContain(words)
  await sides.close()
})

/** Sends a message that no agent of devctl would send. */
function hostile(sides: TwoSides, header: object): void {
  const text = Buffer.from(JSON.stringify(header))
  const start = Buffer.alloc(9)
  start.writeUInt32BE(5 + text.length, 0)
  start.writeUInt8(6, 4)
  start.writeUInt32BE(text.length, 5)
  sides.pair!.other.write(Buffer.concat([start, text]))
}

test.each([
  ['no object', { seq: 1, folder: '0', entries: 7 }],
  ['an unknown folder', { seq: 1, folder: '../x', entries: [] }],
  ['an entry of no kind', { seq: 1, folder: '0', entries: [['a', ['z']]] }],
  ['a negative size', { seq: 1, folder: '0', entries: [['a', ['f', -1, 0, 0, 0, 0]]] }],
])('an agent that sends invalid messages is disconnected: %s', async (_name, header) => {
  const sides = await synced({ a: 'one' })
  const { attached } = sides
  hostile(sides, header)
  await sides.clock.run(100)
  expect((await attached!.ended).message).toBeTruthy()
  expect(sides.files('local')).toEqual({ a: 'one' })
  await sides.close()
})

test('a silent connection is closed', async () => {
  const sides = await synced({ a: 'one' })
  const { attached } = sides
  // The container has disappeared, and the connection drops everything.
  sides.pair!.freeze()
  await sides.clock.run(25_001)
  expect((await attached!.ended).message).toBe('nothing has come from the other side for 25 s')
  await sides.close()
})

test.each(['.devctl', 'keys/of/devctl'])(
  'files of this machine (%s) are never synchronized, whatever `.stignore` says',
  async own => {
    const ignores = { ...NO_IGNORES, text: `!/${own}\n!.stignore` }
    const sides = new TwoSides({ folders: [{ name: '0', local: '/home/project', ignores, own: [own] }] })
    write(sides, 'local', `${own}/ssh/config`, 'mine')
    write(sides, 'local', 'a', 'one')
    write(sides, 'local', '.stignore', 'mine')
    sides.start()
    await sides.settle()
    expect(Object.keys(sides.files('remote'))).not.toContain(`${own}/ssh/config`)
    for (const path of [own, own.toUpperCase(), own.replace('v', 'v\u200c')])
      write(sides, 'remote', `${path}/ssh/config`, 'ProxyCommand bad')
    write(sides, 'remote', '.STIGNORE', '!*')
    write(sides, 'remote', 'b', 'two')
    const before = sides.laptop.files('/home/project')
    await sides.settle()
    expect(sides.files('local')).toEqual({
      ...before,
      b: 'two',
      ...(own.includes('/') && { 'KEYS/': '', 'KEYS/OF/': '' }),
    })
    await sides.close()
  },
)

test('archives of `devctl doctor` stay on this machine, whatever `.stignore` says', async () => {
  const ignores = { ...NO_IGNORES, text: '!devctl-doctor-*.zip' }
  const sides = new TwoSides({ folders: [{ name: '0', local: '/home/project', ignores }] })
  for (const path of ['devctl-doctor-20261123005900.zip', 'a/devctl-doctor-2.zip', 'a/my-devctl-doctor-2.zip', 'b'])
    write(sides, 'local', path, 'logs')
  sides.start()
  await sides.settle()
  expect(Object.keys(sides.files('remote'))).toEqual(['a/', 'a/my-devctl-doctor-2.zip', 'b'])
  await sides.close()
})

test('a large file from the container is reported once, before it comes', async () => {
  const sides = await synced({ a: 'one' })
  const entry = (size: number) => ['f', size, 0, 0, 1, 0]
  for (const [index, size] of [200_000_000, 300_000_000, 20_000_000].entries()) {
    const name = size < 100_000_000 ? 'small.bin' : 'data.bin'
    hostile(sides, { seq: 100 + index, folder: '0', entries: [[name, entry(size)]] })
    await sides.clock.run(100)
  }
  const told = sides.events.filter(({ kind }) => kind === 'large')
  expect(told).toEqual([{ kind: 'large', folder: '0', path: 'data.bin', size: 200_000_000 }])
  await sides.close()
})

test('a change of an included pattern file in the container is a conflict, and is undone', async () => {
  const ignores = { ...NO_IGNORES, text: '#include d/more', includes: { 'd/more': '*.log' } }
  const sides = new TwoSides({ folders: [{ name: '0', local: '/home/project', ignores }] })
  write(sides, 'local', 'd/more', '*.log')
  for (const name of ['a', 'b', 'c', 'e']) write(sides, 'local', name, name)
  sides.start()
  await sides.settle()
  const before = sides.files('local')
  write(sides, 'remote', 'd/more', '!.env')
  await sides.settle()
  expect(sides.files('local')).toEqual(before)
  expect(sides.files('remote')).toEqual(before)
  expect(conflicts(sides)).toMatchObject([{ path: 'd/more' }])
  expect(sides.kept()).toContain('!.env')
  sides.container.removeAll('/volume/src/0/d/more')
  await sides.settle()
  expect(sides.files('remote')).toEqual(before)
  sides.container.removeAll('/volume/src/0/d')
  sides.container.makeLink('a', '/volume/src/0/d')
  await sides.settle()
  expect(sides.files('local')).toEqual(before)
  expect(sides.files('remote')).toEqual(before)
  await sides.close()
})

test('a container does not fill the disk of this machine', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  const size = 1_000_000
  let free = 60_000
  sides.laptop.space = () => ({ size, free })
  write(sides, 'remote', 'small', 'x'.repeat(20_000))
  write(sides, 'remote', 'large', 'x'.repeat(2_000_000))
  write(sides, 'remote', 'fits', 'x')
  await sides.clock.run(3_000)
  expect(
    problems(sides)
      .map(({ path, message }) => `${path}: ${message}`)
      .sort(),
  ).toEqual([
    'large: the disk of this machine has too little room for 2 MB',
    'small: the disk of this machine has too little room for 1 MB',
  ])
  expect(Object.keys(sides.files('local'))).toEqual(['a', 'b', 'fits'])
  free = 1e9
  await sides.settle()
  expect(sides.files('local')).toEqual(sides.files('remote'))
  await sides.close()
})
