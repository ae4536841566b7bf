import { expect, test } from 'vitest'
import { TwoSides } from '../../../support/sync/two-sides.ts'

async function synced(count: number, latency: number): Promise<TwoSides> {
  const sides = new TwoSides()
  sides.latency = latency
  for (let n = 0; n < count; n++) sides.laptop.put(`/home/project/${n}`, `${n}`)
  sides.start()
  await sides.settle()
  return sides
}

/** Returns the outcome of `settled`: undefined while it waits. */
function outcome(sides: TwoSides): { words: string | undefined } {
  const found: { words: string | undefined } = { words: undefined }
  sides.attached!.settled().then(
    () => {
      found.words = Object.keys(sides.files('local')).join(' ')
    },
    (error: Error) => {
      found.words = error.message
    },
  )
  return found
}

test.each([1, 20])('`settled` waits for the last files of the container, with a latency of %i ms', async latency => {
  const sides = await synced(1, latency)
  sides.container.put('/volume/src/0/report', 'done')
  const found = outcome(sides)
  await sides.clock.run(2_000)
  expect(found.words).toBe('0 report')
  await sides.close()
})

test('`settled` fails when the folder stops for a question, and while it is stopped', async () => {
  const sides = await synced(15, 1)
  for (let n = 0; n < 12; n++) sides.container.removeAll(`/volume/src/0/${n}`)
  const before = outcome(sides)
  await sides.clock.run(8_000)
  expect(sides.engine.status().state).toBe('stopped')
  const after = outcome(sides)
  await sides.clock.run(1_000)
  for (const { words } of [before, after]) expect(words).toContain('waits for an answer')
  await sides.close()
})
