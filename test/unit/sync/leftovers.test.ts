import { expect, test } from 'vitest'
import { removeLeftover } from '../../../sync/stage/writer.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'

const LEFT = '.devctl-part-0123456789ab'

test('half-written files of a killed process are removed by the next one, on both sides', async () => {
  const sides = new TwoSides()
  for (const side of ['local', 'remote'] as const) {
    sides.disk(side).folders(sides.place(side, `d/${LEFT.slice(0, -1)}c`))
    for (const path of [LEFT, `d/${LEFT}`, '.devctl-part-of-mine', `${LEFT}-2`])
      sides.disk(side).put(sides.place(side, path), 'half')
  }
  sides.start()
  await sides.settle()
  for (const side of ['local', 'remote'] as const)
    expect(Object.keys(sides.files(side))).toEqual([
      `${LEFT}-2`,
      '.devctl-part-of-mine',
      'd/',
      `d/${LEFT.slice(0, -1)}c/`,
    ])
  await sides.close()
})

test('a file that another session is writing stays', async () => {
  const sides = new TwoSides()
  sides.start()
  await sides.settle()
  const place = sides.place('local', LEFT)
  // The file appears after the first scan.
  sides.laptop.put(place, 'half')
  await sides.settle()
  expect(sides.files('local')).toEqual({ [LEFT]: 'half' })
  const { ctime } = sides.laptop.entry(place)!
  removeLeftover(sides.laptop, place, ctime)
  expect(sides.files('local')).toEqual({ [LEFT]: 'half' })
  removeLeftover(sides.laptop, place, ctime + 1)
  expect(sides.files('local')).toEqual({})
  await sides.close()
})
