import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { filesOf } from '../../support/sync/files-of.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'
import { longTest } from '../../support/takes-all.ts'

let bench: Bench | undefined
afterEach(() => bench?.close())

const FILES = 150
/** Bytes on the line for each file: its old name, its new name and its metadata. */
const HEADERS = 500

/** Syncs a folder with small files and a large one to both sides. */
async function withFolder() {
  bench = await startBench()
  const { local, config } = bench
  mkdirSync(join(local, 'old/deep'), { recursive: true })
  for (let n = 0; n < FILES; n++) writeFileSync(join(local, `old/deep/${n}.bin`), randomBytes(5_000))
  writeFileSync(join(local, 'old/large.bin'), randomBytes(8 << 20))
  writeFileSync(join(local, 'stays.txt'), 'stays')
  await bench.startAgent()
  const engine = bench.engine()
  const socket = await bench.connect()
  const attached = engine.attach(socket, Buffer.from(config.key, 'hex'))
  await attached.synced
  return { ...bench, engine, attached, socket }
}

const onLine = ({ bytesRead, bytesWritten }: Socket) => bytesRead + bytesWritten

test('a folder that is renamed here is renamed in the container without a transfer', async () => {
  const { local, remote, attached, socket, engine } = await withFolder()
  const before = onLine(socket)
  renameSync(join(local, 'old'), join(local, 'new'))
  await attached.settled()
  await until(() => !existsSync(join(remote, 'old')) && engine.status().state === 'synced')
  expect(filesOf(remote)).toEqual(filesOf(local))
  expect(onLine(socket) - before).toBeLessThan(FILES * HEADERS)
})

longTest('a folder that is renamed in the container is renamed here without a transfer', async () => {
  const { local, remote, socket, engine } = await withFolder()
  const before = onLine(socket)
  renameSync(join(remote, 'old'), join(remote, 'new'))
  await until(() => !existsSync(join(local, 'old')) && engine.status().state === 'synced')
  expect(filesOf(local)).toEqual(filesOf(remote))
  expect(onLine(socket) - before).toBeLessThan(FILES * HEADERS)
})

longTest('a large file is copied from an equal file in the container, or else transferred', async () => {
  const { local, remote, attached, socket } = await withFolder()
  let before = onLine(socket)
  const bytes = readFileSync(join(local, 'old/large.bin'))
  writeFileSync(join(local, 'copy.bin'), bytes)
  await attached.settled()
  expect(readFileSync(join(remote, 'copy.bin')).equals(bytes)).toBe(true)
  expect(onLine(socket) - before).toBeLessThan(100_000)

  before = onLine(socket)
  const other = randomBytes(bytes.length)
  writeFileSync(join(local, 'other.bin'), other)
  await attached.settled()
  expect(readFileSync(join(remote, 'other.bin')).equals(other)).toBe(true)
  expect(onLine(socket) - before).toBeGreaterThan(bytes.length)
})

test('a file that the container has changed is not moved by a rename here', async () => {
  const sides = new TwoSides()
  sides.laptop.put(sides.place('local', 'a'), 'contents')
  sides.laptop.put(sides.place('local', 'stays'), 'stays')
  sides.start()
  await sides.settle()
  sides.laptop.rename(sides.place('local', 'a'), sides.place('local', 'b'))
  sides.container.put(sides.place('remote', 'a'), 'another!')
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'another!', b: 'contents', stays: 'stays' })
  expect(sides.files('local')).toEqual(sides.files('remote'))
  await sides.close()
})
