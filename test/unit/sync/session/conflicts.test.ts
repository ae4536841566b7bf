import { expect, test } from 'vitest'
import { ConflictFolder } from '../../../../sync/session/conflicts.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'
import { TwoSides } from '../../../support/sync/two-sides.ts'
import { VirtualClock } from '../../../support/sync/virtual-clock.ts'

const LARGE = 2 << 20

test('a loser that cannot be kept at once is kept later, and displaces no other one', async () => {
  const sides = new TwoSides()
  for (const name of ['large', 'small']) sides.laptop.put(`/home/project/${name}`, 'first')
  sides.start()
  await sides.settle()
  sides.pair!.cut()
  for (const [name, size] of [
    ['large', LARGE],
    ['small', 10],
  ] as const) {
    sides.laptop.put(`/home/project/${name}`, 'm'.repeat(size))
    sides.container.put(`/volume/src/0/${name}`, 't'.repeat(size))
  }
  let failures = 4
  sides.laptop.fault = (call, path) => {
    if (call === 'create' && path.includes('/conflicts/') && failures-- > 0)
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }
  await sides.settle()
  expect(failures).toBeLessThan(0)
  expect(sides.laptop.list('/home/state/conflicts')).toHaveLength(2)
  expect(
    [...sides.kept()]
      .filter(text => text !== '')
      .map(text => text.length)
      .sort(),
  ).toEqual([10, LARGE])
  expect(sides.files('remote')).toEqual(sides.files('local'))
  await sides.close()
})

test('a loser that is still being written is kept once it rests, in one place', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/large', 'first')
  sides.start()
  await sides.settle()
  sides.pair!.cut()
  sides.laptop.put('/home/project/large', 'm'.repeat(LARGE))
  for (let n = 1; n <= 20; n++) {
    sides.container.put('/volume/src/0/large', String.fromCharCode(64 + n).repeat(LARGE))
    if (sides.engine.status().state === 'disconnected') sides.connect()
    await sides.clock.run(40)
  }
  await sides.settle()
  const kept = sides.kept().filter(text => text !== '')
  expect(kept.every(text => text.length === LARGE)).toBe(true)
  expect(sides.laptop.list('/home/state/conflicts')).toHaveLength(kept.length)
  await sides.close()
})

test('all losers of more than 200 conflicts at once are kept', async () => {
  const sides = new TwoSides()
  const names = Array.from({ length: 230 }, (_, n) => `f${n}`)
  for (const name of names) sides.laptop.put(`/home/project/${name}`, 'first')
  sides.start()
  await sides.settle()
  sides.pair!.cut()
  for (const name of names) {
    sides.laptop.put(`/home/project/${name}`, `mine ${name}`)
    sides.container.put(`/volume/src/0/${name}`, `theirs ${name}`)
  }
  await sides.settle()
  expect(new Set(sides.kept())).toEqual(new Set(['', ...names.map(name => `theirs ${name}`)]))
  for (const event of sides.events)
    if (event.kind === 'conflict') expect(sides.laptop.text(event.kept)).toBe(`theirs ${event.path}`)
  await sides.close()
})

test('losers of more than 200 conflicts are kept for a day, and the last 200 for longer', () => {
  const clock = new VirtualClock()
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/conflicts')
  disk.put('/conflicts/.DS_Store', 'x')
  const day = 24 * 3_600_000
  const keep = (count: number, now: number) => {
    const folder = new ConflictFolder(disk, '/conflicts')
    for (let n = 0; n < count; n++) folder.keep(folder.placeFor('0', 'a', now), Buffer.from('theirs'))
    return disk.list('/conflicts').length - 1
  }
  expect(keep(250, clock.now())).toBe(250)
  expect(keep(1, clock.now() + day - 1_000)).toBe(251)
  expect(keep(1, clock.now() + day + 1_000)).toBe(200)
  expect(disk.text('/conflicts/.DS_Store')).toBe('x')
})

test('a loser that would fill the disk of this machine is not kept, and not overwritten', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/a', 'first')
  sides.start()
  await sides.settle()
  sides.pair!.cut()
  sides.laptop.put('/home/project/a', 'mine')
  sides.container.put('/volume/src/0/a', 'theirs')
  let free = 1_000
  sides.laptop.space = () => ({ size: 1e9, free })
  sides.connect()
  await sides.clock.run(3_000)
  expect(sides.files('remote')).toEqual({ a: 'theirs' })
  expect(sides.engine.status().problems).toMatchObject([{ path: 'a', side: 'local' }])
  free = 9e8
  await sides.settle()
  expect(sides.kept()).toContain('theirs')
  expect(sides.files('remote')).toEqual({ a: 'mine' })
  await sides.close()
})
