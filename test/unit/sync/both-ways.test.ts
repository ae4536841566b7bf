import { expect, test } from 'vitest'
import { TwoSides } from '../../support/sync/two-sides.ts'

test('a laptop and a container get the same files', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/a', 'one')
  sides.laptop.folders('/home/project/d/e')
  sides.laptop.put('/home/project/d/e/f', 'two')
  sides.start()
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'one', 'd/': '', 'd/e/': '', 'd/e/f': 'two' })
  sides.laptop.put('/home/project/a', 'three')
  sides.container.put('/volume/src/0/b', 'four')
  sides.laptop.removeAll('/home/project/d')
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'three', b: 'four' })
  expect(sides.files('local')).toEqual({ a: 'three', b: 'four' })
  await sides.close()
})
