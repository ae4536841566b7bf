import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { SkippedPaths } from '../../../sync/core/skipped-paths.ts'
import { NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import type { SyncEngine, SyncOptions } from '../../../sync/session/sync.ts'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'

// Files that cannot be synchronized are reported, and stay where they are.

let bench: Bench | undefined
let server: Server | undefined
afterEach(async () => {
  server?.close()
  await bench?.close()
})

async function inSync(make: (folder: string, side: 'local' | 'remote') => void, ignores = '') {
  bench = await startBench()
  const { local, remote, config, startAgent, connect, engine } = bench
  make(local, 'local')
  make(remote, 'remote')
  await startAgent()
  const folders: SyncOptions['folders'] = [{ name: '0', local, ignores: { ...NO_IGNORES, text: ignores } }]
  const sync = engine({ folders })
  await sync.attach(await connect(), Buffer.from(config.key, 'hex')).synced
  return { ...bench, sync }
}

const shown = (sync: SyncEngine) =>
  sync
    .status()
    .leftOut.paths.map(({ side, path, message }) => `${side} ${path}: ${message}`)
    .sort()

const notUtf8 = (folder: string) =>
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), 'coffee')

test('invalid UTF-8 names, pipes and sockets are reported on both sides', async () => {
  const { sync, remote, local } = await inSync((folder, side) => {
    mkdirSync(join(folder, 'run'))
    writeFileSync(join(folder, `${side}.txt`), side)
    notUtf8(folder)
    execFileSync('mkfifo', [join(folder, 'run/pipe'), join(folder, 'ignored')])
  }, 'ignored\n')
  const both = (side: string) => [
    `${side} caf\ufffd: the name is not valid UTF-8`,
    `${side} run/pipe: pipes, sockets and devices are not synchronized`,
  ]
  expect(shown(sync)).toEqual([...both('local'), ...both('remote')])
  expect(sync.status()).toMatchObject({ state: 'synced', percent: 100, leftOut: { count: 4 } })
  // The report follows files that appear and disappear.
  server = createServer().listen(join(remote, 'run/app.sock'))
  await until(() => sync.status().leftOut.count === 5)
  server.close()
  rmSync(join(local, 'run'), { recursive: true })
  await until(() => sync.status().leftOut.count === 3)
  // The pipe keeps the folder in the container.
  expect(shown(sync)).toEqual([both('local')[0], ...both('remote')])
})

test('the report follows a renamed folder', async () => {
  const { sync, local } = await inSync((folder, side) => {
    mkdirSync(join(folder, `${side}/deep`), { recursive: true })
    if (side === 'local') notUtf8(join(folder, 'local/deep'))
  })
  execFileSync('mv', [join(local, 'local'), join(local, 'other')])
  await until(() => sync.status().leftOut.paths[0]?.path.startsWith('other'))
  expect(shown(sync)).toEqual(['local other/deep/caf\ufffd: the name is not valid UTF-8'])
})

test('a `.git` that the container creates is reported once and not copied here', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/.stignore', '/ignored\n')
  for (const [path, text] of Object.entries({
    '.git/HEAD': 'main',
    '.git/config': 'own',
    'a/b.txt': 'b',
    'c.txt': 'c',
  })) {
    sides.laptop.folders(`/home/project/${path}`.replace(/\/[^/]*$/, ''))
    sides.laptop.put(`/home/project/${path}`, text)
  }
  sides.start()
  await sides.settle()
  sides.fill({ 'a/.git/HEAD': 'other', 'a/.git/hooks/post-checkout': 'evil', '.git/index': 'made there' })
  await sides.settle()
  const before = sides.files('local')
  expect(before).not.toHaveProperty('a/.git/HEAD')
  const problems = sides.events.filter(({ kind }) => kind === 'problem')
  expect(problems.map(one => 'problem' in one && one.problem.path).sort()).toEqual(['.git', 'a/.git'])
  expect(sides.engine.status().leftOut).toMatchObject({ count: 2 })
  // The container deletes `.git`, and another session starts.
  sides.container.removeAll('/volume/src/0/.git')
  sides.container.removeAll('/volume/src/0/a/.git')
  await sides.clock.run(5_000)
  expect(sides.files('local')).toEqual(before)
  expect(sides.engine.status().leftOut).toMatchObject({ count: 0 })
  await sides.close()
  sides.start()
  await sides.settle()
  expect(sides.files('local')).toEqual(before)
  await sides.close()
})

test('the `.git` of this machine is unchanged in the next session', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/.stignore', '/ignored\n')
  sides.laptop.folders('/home/project/.git')
  for (const [path, text] of Object.entries({ '.git/HEAD': 'main', 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' }))
    sides.laptop.put(`/home/project/${path}`, text)
  sides.start()
  await sides.settle()
  const before = sides.files('local')
  for (const change of [() => {}, () => sides.fill({ '.git/HEAD': 'other' })]) {
    await sides.close()
    change()
    sides.start()
    await sides.settle()
    expect(sides.files('local')).toEqual(before)
    expect(sides.engine.status().conflicts).toEqual([])
  }
  await sides.close()
})

test('SkippedPaths remembers a limited number of paths', () => {
  const all = new SkippedPaths()
  for (let n = 0; n < 5_000; n++) all.add(`run/${n}`, 'a pipe')
  expect(all.count).toBe(1_000)
  expect(all.first()).toHaveLength(20)
  all.keep('run', new Set(['1', '2']))
  expect(all.first().map(([path]) => path)).toEqual(['run/1', 'run/2'])
  all.forgetBelow('')
  expect(all.count).toBe(0)
})
