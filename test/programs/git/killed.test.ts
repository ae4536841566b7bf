import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { generator } from '../../support/cluster/random.ts'
import { git } from '../../support/git/git.ts'
import { waits, waitsForRemoval } from '../../support/git/hooks.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { processesWith, signal, start } from '../../support/git/processes.ts'
import { leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, installHooks } from '../../support/git/repository.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { expectCleanHistory, expectValidLocks, treeAt, withoutLocks } from './history.ts'

/** The number of runs that `npm run test:long` kills at random moments. Unset, one run is killed at each of MOMENTS. */
const RANDOM_RUNS = process.env.KILLED_RUNS

type Moment = 'when it has begun' | 'when it has a copy' | 'while the server takes its push'

const MOMENTS = few<{ readonly moment: Moment; readonly isGroup: boolean; readonly isLookedAt: boolean }>([
  { moment: 'while the server takes its push', isGroup: true, isLookedAt: true },
  { moment: 'when it has begun', isGroup: true, isLookedAt: true },
  { moment: 'when it has a copy', isGroup: false, isLookedAt: false },
])

/** Compose files between which the source alternates. */
const STATES = [
  'services: {web: {image: "nginx:1.27", ports: ["8080:80"]}, cache: {image: "redis:7"}}\n',
  'services: {web: {image: "nginx:1.28", ports: ["8080:80", "8443:443"]}, search: {image: "redis:8"}}\n',
  `services:\n${Array.from({ length: 15 }, (_, index) => `  web-${index}: {image: "nginx:1.27", ports: ["80"]}\n`).join('')}`,
]

describe('a killed publish', () => {
  test('a killed publish leaves the old or the new state for the next run', { timeout: 1_800_000 }, async () => {
    const project = await publishing()
    const { server, temporary } = project
    const seed = Number(process.env.KILLED_SEED ?? Date.now() % 1_000_000)
    const random = generator(seed)
    expect((await project.publish()).status).toBe(0)
    const begin = await git(server.repository, 'rev-parse', 'main')
    const runs = Number(RANDOM_RUNS ?? MOMENTS.length)
    let milliseconds = 1000
    let current = 0
    let [killed, halfway] = [0, 0]
    for (let run = 0; run < runs; run++) {
      current = (current + 1 + Math.floor(random() * 2)) % STATES.length
      await project.change({ 'compose.yaml': `name: shop\n${STATES[current]}` }, `run ${run}`)
      const before = await treeAt(server.repository)
      const { moment, isGroup, isLookedAt } = RANDOM_RUNS
        ? { moment: Math.round(50 + random() * milliseconds), isGroup: random() < 0.5, isLookedAt: random() < 0.7 }
        : MOMENTS[run]!
      const what = `run ${run} of seed ${seed}: ${isGroup ? 'all' : 'node'} killed ${typeof moment === 'number' ? `after ${moment} ms` : moment}`
      if (await kill(project, moment, isGroup)) killed++
      // A git that still runs on its own may succeed; the next run need not wait for it, but a check of the repository
      // must.
      if (isLookedAt) await quiet(temporary)
      const between = isLookedAt ? await treeAt(server.repository) : undefined
      if (leftIn(temporary).length > 0) halfway++

      const began = performance.now()
      const { status, stderr } = await execute(project).ended
      expect(status, `${what}\n${stderr}`).toBe(0)
      milliseconds = (milliseconds + performance.now() - began) / 2
      const now = await treeAt(server.repository)
      expectValidLocks(now)
      if (between && JSON.stringify(between) !== JSON.stringify(before)) expect(between, what).toEqual(now)
      const again = await project.publish('--verify')
      expect(again.status, `${what}\n${again.stderr}`).toBe(0)
    }
    expect(killed, 'many runs were killed before their end').toBeGreaterThan(RANDOM_RUNS ? runs / 4 : runs - 1)
    expect(halfway, 'some were killed in the middle').toBeGreaterThan(0)
    await expectCleanHistory(server.repository, begin)
    await git(server.repository, 'fsck', '--strict')
    await quiet(temporary)
    // A git that still ran on its own may have written while other runs cleaned up: its files count as abandoned after
    // ten seconds.
    const cleanUp = async () => {
      expect((await project.publish()).status).toBe(0)
      expect(leftIn(temporary)).toEqual([])
    }
    await vi.waitFor(cleanUp, { timeout: 60_000, interval: 2000 })
    const fresh = await publishing({ compose: `name: shop\n${STATES[current]}` })
    expect((await fresh.publish()).status).toBe(0)
    expect(withoutLocks(await treeAt(server.repository))).toEqual(withoutLocks(await treeAt(fresh.server.repository)))
  })
})

describe.each(['SIGINT', 'SIGTERM'] as const)('%s during a publish', name => {
  // Both signals are handled alike: one of them is sent at each moment.
  if (TAKES_ALL || name === 'SIGINT')
    test('the signal ends a publish within seconds while the server delays its push', async () => {
      const root = makeFolder()
      const bare = await bareRepository(root, { hooks: waits(60) })
      const server = await httpServer(bare.repository)
      onTestFinished(() => server.close())
      const project = await publishing({ server })
      await interrupt(project, name, () =>
        processesWith(`TMPDIR=${project.temporary}`).some(line => / push /.test(line)),
      )
      installHooks(bare.repository, {})
      expect((await project.publish()).status).toBe(0)
    })

  if (TAKES_ALL || name === 'SIGTERM')
    test('the signal ends a publish within seconds while the server does not answer', async () => {
      const bare = await bareRepository(makeFolder())
      const server = await httpServer(bare.repository, { faults: () => ({ kind: 'hang' }) })
      onTestFinished(() => server.close())
      const project = await publishing({ server })
      await interrupt(project, name, () => server.requests.length > 0)
    })

  longTest('the signal ends a publish within seconds while a hook of the user runs', async () => {
    const project = await publishing()
    const hooks = makeFolder()
    write(hooks, { 'pre-commit': '#!/bin/sh\n: >"$TMPDIR/waiting"\nexec sleep 20\n' })
    await git(hooks, 'init', '--quiet')
    chmodSync(`${hooks}/pre-commit`, 0o755)
    const env = {
      ...project.env,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: hooks,
    }
    await interrupt({ ...project, env }, name, () => existsSync(`${project.temporary}/waiting`))
    expect((await project.publish()).status).toBe(0)
  })
})

const execute = ({ source, env }: Publishing) => start(['publish', '--environment', 'staging'], { cwd: source, env })

/** Kills a run at a moment, or after so many milliseconds. Returns whether that was before its end. */
async function kill(project: Publishing, moment: Moment | number, isGroup: boolean): Promise<boolean> {
  const { repository } = project.server
  // The server does not accept the push before the run is killed.
  if (moment === 'while the server takes its push') installHooks(repository, waitsForRemoval())
  const hasCome = {
    'when it has begun': () => processesWith(`TMPDIR=${project.temporary}`).length > 0,
    'when it has a copy': () => leftIn(project.temporary).length > 0,
    'while the server takes its push': () => existsSync(join(repository, 'waiting')),
  }
  const { pid, ended } = execute(project)
  let isOver = false
  const killing =
    typeof moment === 'number'
      ? sleep(moment)
      : vi.waitFor(() => expect(isOver || hasCome[moment]()).toBe(true), 60_000)
  const end = () => killing.finally(() => signal(isGroup ? -pid : pid, 'SIGKILL'))
  const [{ status }] = await Promise.all([ended.finally(() => (isOver = true)), end()])
  rmSync(join(repository, 'waiting'), { force: true })
  installHooks(repository, {})
  return status === undefined
}

/** Waits until no process runs that was started with this TMPDIR. */
async function quiet(temporary: string): Promise<void> {
  await vi.waitFor(() => expect(processesWith(`TMPDIR=${temporary}`)).toEqual([]), 60_000)
}

/** Starts a run, waits until a condition is true, and sends a signal to node alone. */
async function interrupt(project: Publishing, name: 'SIGINT' | 'SIGTERM', hasCome: () => boolean): Promise<void> {
  const { pid, ended } = execute(project)
  await vi.waitFor(() => expect(hasCome()).toBe(true), 60_000)
  const began = performance.now()
  signal(pid, name)
  const { status, stderr } = await ended
  expect({ status, stderr }).toEqual({ status: 130, stderr: expect.stringMatching(/interrupted\n$/) })
  // Waiting to the end would take longer.
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(leftIn(project.temporary)).toEqual([])
  await vi.waitFor(() => {
    const left = processesWith(`TMPDIR=${project.temporary}`).filter(line => /git|ssh|curl/.test(line))
    expect(left).toEqual([])
  })
}
