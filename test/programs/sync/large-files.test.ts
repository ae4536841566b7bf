import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { longTest } from '../../support/takes-all.ts'

let bench: Bench | undefined
afterEach(() => bench?.close())

const MIB = 1 << 20

function isEqual(bench: Bench, name: string): boolean {
  try {
    return readFileSync(join(bench.local, name)).equals(readFileSync(join(bench.remote, name)))
  } catch {
    return false
  }
}

test('large files are synced by their changed parts, and the loser of a conflict is kept', async () => {
  bench = await startBench()
  const { local, remote, config, folder } = bench
  const key = Buffer.from(config.key, 'hex')
  writeFileSync(join(local, 'a.bin'), randomBytes(6 * MIB + 123))
  await bench.startAgent()
  const engine = bench.engine()
  const attached = engine.attach(await bench.connect(), key)
  await attached.synced
  expect(isEqual(bench, 'a.bin')).toBe(true)

  const sent = engine.status().sentBytes
  const file = openSync(join(local, 'a.bin'), 'r+')
  writeSync(file, 'changed', 3 * MIB)
  closeSync(file)
  await attached.settled()
  expect(isEqual(bench, 'a.bin')).toBe(true)
  expect(engine.status().sentBytes - sent).toBeLessThan(MIB)

  const other = openSync(join(remote, 'a.bin'), 'r+')
  writeSync(other, 'there', 5 * MIB)
  closeSync(other)
  writeFileSync(join(remote, 'b.bin'), randomBytes(3 * MIB))
  await until(() => isEqual(bench!, 'a.bin') && isEqual(bench!, 'b.bin'))

  attached.close()
  const [mine, theirs] = [randomBytes(2 * MIB), randomBytes(2 * MIB)]
  writeFileSync(join(local, 'b.bin'), mine)
  writeFileSync(join(remote, 'b.bin'), theirs)
  await engine.attach(await bench.connect(), key).synced
  await until(() => isEqual(bench!, 'b.bin'))
  expect(readFileSync(join(local, 'b.bin')).equals(mine)).toBe(true)
  const conflicts = join(folder, 'state/conflicts')
  const [time] = readdirSync(conflicts)
  expect(readFileSync(join(conflicts, time!, '0/b.bin')).equals(theirs)).toBe(true)
  // No temporary files are left.
  expect(readdirSync(local).sort()).toEqual(['a.bin', 'b.bin'])
  expect(readdirSync(join(config.volume, '.devctl/stage'))).toEqual([])
})

longTest('a large file arrives although its connection was cut', async () => {
  bench = await startBench()
  const { local, config } = bench
  const key = Buffer.from(config.key, 'hex')
  writeFileSync(join(local, 'a.bin'), randomBytes(24 * MIB))
  await bench.startAgent()
  const engine = bench.engine()
  const socket = await bench.connect()
  const attached = engine.attach(socket, key)
  await until(() => socket.bytesWritten > 2 * MIB)
  socket.destroy()
  await attached.ended
  await engine.attach(await bench.connect(), key).synced
  expect(isEqual(bench, 'a.bin')).toBe(true)
  expect(engine.status()).toMatchObject({ percent: 100, problems: [] })
  expect(readdirSync(join(config.volume, '.devctl/stage'))).toEqual([])
})
