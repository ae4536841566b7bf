import { expect, test } from 'vitest'
import { TreeNode } from '../../../../sync/core/tree-node.ts'
import { Scanner } from '../../../../sync/scan/scanner.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'
import { TwoSides } from '../../../support/sync/two-sides.ts'
import { VirtualClock } from '../../../support/sync/virtual-clock.ts'

test('a full queue of slow events leads to a scan of everything', async () => {
  const clock = new VirtualClock()
  let slow = 0
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/root')
  disk.put('/root/a', 'one')
  const tree = new TreeNode('')
  const live = new Scanner({
    disk,
    clock: { now: () => clock.now() + slow, after: (...words) => clock.after(...words) },
    root: '/root',
    tree,
    ignores: { ignores: () => false, mayHoldIncluded: () => false, deletable: () => false },
    recursive: false,
    rescanInterval: 0,
    changed: () => {},
    settled: () => {},
    problem: () => {},
  })
  const started = live.start()
  await clock.run(10)
  await started
  disk.put('/root/lost', 'its event was dropped')
  for (let n = 0; n < 10_000; n++) {
    slow += 0.3
    live.hint('a')
  }
  expect(live.isQuiet).toBe(false)
  await clock.run(500)
  expect(live.isQuiet).toBe(false)
  await clock.run(2_000)
  expect(tree.find('lost')?.local).toMatchObject({ kind: 'file' })
  expect(live.isQuiet).toBe(true)
  live.close()
})

const renames = [
  ['a file', { 'Foo.ts': 'foo', a: 'a' }, 'Foo.ts', 'foo.ts'],
  ['a folder', { 'Comp/x.ts': 'x', 'Comp/sub/y.ts': 'y', a: 'a' }, 'Comp', 'comp'],
  ['a file in a folder', { 'd/Foo.ts': 'foo', a: 'a' }, 'd/Foo.ts', 'd/foo.ts'],
] as const

test.each(renames.flatMap(one => [[...one, 'an event', 0] as const, [...one, 'a scan', 1] as const]))(
  '%s that macOS renames by case only is renamed in the container: %#',
  async (_, files, from, to, _how, rescanInterval) => {
    const sides = new TwoSides({ platform: 'darwin', rescanInterval })
    sides.laptop.foldsCase = true
    for (const [path, text] of Object.entries(files)) {
      const place = sides.place('local', path)
      sides.laptop.folders(place.slice(0, place.lastIndexOf('/')))
      sides.laptop.put(place, text)
    }
    if (rescanInterval > 0) sides.laptop.watch = () => () => true
    sides.start()
    sides.connect()
    await sides.clock.run(3_000)
    expect(sides.files('remote')).toEqual(sides.files('local'))
    sides.laptop.rename(sides.place('local', from), sides.place('local', to))
    await sides.clock.run(6_000)
    expect(Object.keys(sides.files('local')).some(path => path.startsWith(to))).toBe(true)
    expect(sides.files('remote')).toEqual(sides.files('local'))
    expect(sides.engine.status()).toMatchObject({ state: 'synced', problems: [] })
    await sides.close()
  },
)

test('`settled` waits for the scan after a burst of changes that filled the queue', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/first', 'one')
  sides.start()
  await sides.settle()
  for (let n = 0; n < 4_500; n++) sides.laptop.put('/home/project/first', `${n}`)
  sides.laptop.folders('/home/project/d')
  for (let n = 0; n < 50; n++) sides.laptop.put(`/home/project/d/${n}`, 'x')
  await sides.clock.run(100)
  expect(sides.engine.status().state).toBe('syncing')
  let files = 0
  void sides.attached!.settled().then(() => {
    files = Object.keys(sides.files('remote')).length
  })
  await sides.clock.run(10_000)
  expect(files).toBe(52)
  await sides.close()
})
