import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { filesOf } from '../../support/sync/files-of.ts'

let bench: Bench | undefined
afterEach(() => bench?.close())

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

test('200 files reach the container, and the gate opens', async () => {
  bench = await startBench()
  const { local, remote, ready, config } = bench
  for (let n = 0; n < 200; n++) write(local, `src/folder-${n % 7}/file-${n}.js`, `console.log(${n})\n`.repeat(n))
  await bench.startAgent()
  expect(existsSync(ready)).toBe(false)
  const engine = bench.engine()
  const attached = engine.attach(await bench.connect(), Buffer.from(config.key, 'hex'))
  await attached.synced
  expect(filesOf(remote)).toEqual(filesOf(local))
  expect(existsSync(ready)).toBe(true)
  expect(engine.status()).toMatchObject({ state: 'synced', percent: 100, files: 200, filesLeft: 0, problems: [] })
})

test('changes are synchronized both ways', async () => {
  bench = await startBench()
  const { local, remote, config } = bench
  write(local, 'a.txt', 'one')
  await bench.startAgent()
  const engine = bench.engine()
  const attached = engine.attach(await bench.connect(), Buffer.from(config.key, 'hex'))
  await attached.synced
  appendFileSync(join(local, 'a.txt'), ' two')
  await attached.settled()
  expect(readFileSync(join(remote, 'a.txt'), 'utf8')).toBe('one two')
  write(remote, 'made/in/container.txt', 'here')
  await until(() => existsSync(join(local, 'made/in/container.txt')))
  appendFileSync(join(remote, 'a.txt'), ' three')
  await until(() => readFileSync(join(local, 'a.txt'), 'utf8') === 'one two three')
  rmSync(join(remote, 'made'), { recursive: true })
  await until(() => !existsSync(join(local, 'made')))
  rmSync(join(local, 'a.txt'))
  write(local, 'b.txt', 'other')
  await attached.settled()
  expect(filesOf(remote)).toEqual(filesOf(local))
  expect(bench.events.filter(({ kind }) => kind === 'problem' || kind === 'conflict')).toEqual([])
})

test('a client without the key gets no answer', async () => {
  bench = await startBench()
  write(bench.local, 'a.txt', 'one')
  await bench.startAgent()
  const engine = bench.engine()
  const attached = engine.attach(await bench.connect(), Buffer.alloc(32))
  expect((await attached.ended).message).toContain('closed')
  await expect(attached.synced).rejects.toThrow()
  const socket = await bench.connect()
  socket.write(Buffer.from('ffffffffff0000ffff', 'hex'))
  await new Promise(resolve => socket.resume().on('close', resolve))
  expect(filesOf(bench.remote)).toEqual({})
})
