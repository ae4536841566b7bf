import { expect, test } from 'vitest'
import { TwoSides } from '../../support/sync/two-sides.ts'
import { few } from '../../support/takes-all.ts'

// These connections break while the agent slowly reads a tree.

/** Returns two sides whose agent needs a moment for each part of its tree. */
function slow(moment = 5): TwoSides {
  const sides: TwoSides = new TwoSides(
    {},
    {
      clock: {
        now: () => sides.clock.now(),
        after: (milliseconds, call) => sides.clock.after(Math.max(milliseconds, moment), call),
      },
    },
  )
  return sides
}

const files = (many: number) =>
  Object.fromEntries(Array.from({ length: many }, (_, n) => [`d${n % 50}/file-${n}`, `${n}`]))

/** Connects and cuts the connection after some milliseconds, several times. */
async function flicker(sides: TwoSides, milliseconds: number): Promise<void> {
  for (let n = 0; n < 6; n++) {
    sides.connect()
    await sides.clock.run(milliseconds + n)
    sides.pair!.cut()
    await sides.clock.run(2)
  }
}

test.each(few([13, 34, 8, 21]))('files of the image stay in the container (cut after %d ms)', async milliseconds => {
  const sides = slow()
  sides.laptop.put('/home/project/mine', 'mine')
  sides.fill(files(3_000))
  sides.start()
  await flicker(sides, milliseconds)
  await sides.settle()
  expect(Object.keys(sides.files('local'))).toHaveLength(1)
  await sides.close()
})

test('files that the agent has not read yet do not count as deleted', async () => {
  const sides = slow(3_000)
  for (const [path, text] of Object.entries(files(3_000))) {
    sides.laptop.folders(`/home/project/${path.slice(0, path.indexOf('/'))}`)
    sides.laptop.put(`/home/project/${path}`, text)
  }
  sides.start()
  await sides.settle()
  const { length } = Object.keys(sides.files('local'))
  sides.pair!.cut()
  sides.startAgent()
  // The second one begins to read again; the third one comes when that has read two thirds.
  for (const milliseconds of [3_100, 13_000]) {
    sides.connect()
    await sides.clock.run(milliseconds)
    sides.pair!.cut()
    await sides.clock.run(2)
  }
  sides.connect()
  await sides.clock.run(30_000)
  await sides.settle()
  expect(Object.keys(sides.files('local'))).toHaveLength(length)
  // Nor was it deleted for a moment.
  expect(Object.keys(sides.laptop.files('/home/state/deleted'))).toEqual([])
  expect(sides.events.filter(({ kind }) => kind === 'stopped')).toEqual([])
  await sides.close()
})
