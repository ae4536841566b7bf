import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Throughput } from '../../../sync/protocol/frame-stream.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'

const MIB = 1 << 20
const RANDOM = randomBytes(2 * MIB)

/** A program writes a file piece by piece, for that long. */
async function writeSlowly(sides: TwoSides, side: 'local' | 'remote', milliseconds: number): Promise<Buffer> {
  let bytes = RANDOM.subarray(0, MIB)
  for (let time = 0; time < milliseconds; time += 10) {
    bytes = RANDOM.subarray(0, bytes.length + 500)
    sides.disk(side).putBytes(sides.place(side, 'large'), bytes)
    await sides.clock.run(10)
  }
  return bytes
}

async function synced(): Promise<TwoSides> {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/a', 'one')
  sides.start()
  await sides.settle()
  return sides
}

test('a large file is sent once it is complete, not repeatedly while it is written', async () => {
  const sides = await synced()
  const before = sides.engine.status().sentBytes
  const bytes = await writeSlowly(sides, 'local', 3_000)
  await sides.settle()
  expect(sides.container.bytes('/volume/src/0/large').equals(bytes)).toBe(true)
  const sent = sides.engine.status().sentBytes - before
  expect(sent / bytes.length).toBeGreaterThan(0.99)
  expect(sent / bytes.length).toBeLessThan(1.5)
  await sides.close()
})

test('a large file that never rests is sent as it is', async () => {
  const sides = await synced()
  await writeSlowly(sides, 'local', 8_000)
  expect(sides.files('remote')).toHaveProperty('large')
  const bytes = await writeSlowly(sides, 'local', 10)
  await sides.settle()
  expect(sides.container.bytes('/volume/src/0/large').equals(bytes)).toBe(true)
  await sides.close()
})

test('a large file that the container writes slowly arrives complete', async () => {
  const sides = await synced()
  const bytes = await writeSlowly(sides, 'remote', 2_000)
  await sides.settle()
  expect(sides.laptop.bytes('/home/project/large').equals(bytes)).toBe(true)
  await sides.close()
})

test('a file that the container writes before the application may start is found', async () => {
  const sides = new TwoSides()
  for (const name of ['a', 'b', 'c']) sides.laptop.put(`/home/project/${name}`, 'x'.repeat(2 * MIB))
  sides.start()
  sides.connect()
  await sides.clock.run(20)
  expect(sides.container.entry('/run/ready')).toBeUndefined()
  sides.container.put('/volume/src/0/early', 'by a program beside')
  await sides.settle()
  expect(sides.files('local')['early']).toBe('by a program beside')
  sides.container.put('/volume/src/0/early', 'again')
  await sides.settle()
  expect(sides.files('local')['early']).toBe('again')
  await sides.close()
})

test('a stream is fast if it takes more than deflate produces, but not at first', () => {
  const slow = new Throughput()
  const fast = new Throughput()
  expect(fast.isFast).toBe(false)
  for (let time = 0; time < 100; time += 10) {
    slow.gave(100_000, time)
    fast.gave(1_000_000, time)
    slow.took(100_000, time + 10)
    fast.took(1_000_000, time + 10)
  }
  expect(fast.isFast).toBe(true)
  expect(slow.isFast).toBe(false)
  // Time in which there was nothing to take does not count.
  fast.gave(1_000_000, 10_000)
  fast.took(1_000_000, 10_010)
  expect(fast.isFast).toBe(true)
})
