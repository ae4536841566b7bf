import { expect, test } from 'vitest'
import { TwoSides } from '../../../support/sync/two-sides.ts'

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
