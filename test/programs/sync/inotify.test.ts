import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import type { SyncEvent } from '../../../sync/session/sync.ts'
import type { SyncStatus } from '../../../sync/session/sync-status.ts'
import { type Bench, bundle, startBench, until } from '../../support/sync/agent-process.ts'
import { filesOf } from '../../support/sync/files-of.ts'
import { few } from '../../support/takes-all.ts'
import { lacksNamespaces, limited } from './own-limits.ts'

// The system watches fewer folders than exist, or drops events, on the laptop or on the side of the agent.

const SIDES = ['laptop', 'agent'] as const
type End = (typeof SIDES)[number]

/** Folders are read every 5 s, and other tests run at the same time. */
const SECONDS = 40

/** The tests run at the same time, since they mostly wait. */
type AtEnd = TestContext['onTestFinished']

async function open(atEnd: AtEnd): Promise<Bench> {
  const bench = await startBench()
  atEnd(() => bench.close())
  return bench
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

interface Laptop {
  readonly process: ChildProcess
  readonly events: SyncEvent[]
  status: SyncStatus | undefined
}

async function startLaptop({ folder, local, config }: Bench, under: readonly string[], atEnd: AtEnd): Promise<Laptop> {
  const main = await bundle('test/programs/sync/laptop.ts')
  const [program, ...words] = [...under, process.execPath, main, local, join(folder, 'state')]
  const process_ = spawn(program!, [...words, String(config.syncPort), config.key], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(() => void process_.kill('SIGKILL'))
  const laptop: Laptop = { process: process_, events: [], status: undefined }
  let rest = ''
  process_.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const { event, status } = JSON.parse(line) as { event?: SyncEvent; status?: SyncStatus }
      if (event) laptop.events.push(event)
      if (status) laptop.status = status
    }
  })
  return laptop
}

/** Starts both ends, one of them under another program, and waits until they are in sync. */
async function startBoth(one: Bench, atEnd: AtEnd, end: End, under: readonly string[] = []) {
  const agent = await one.startAgent(end === 'agent' ? under : [])
  const laptop = await startLaptop(one, end === 'laptop' ? under : [], atEnd)
  await until(() => laptop.status?.state === 'synced', SECONDS)
  return { agent, laptop }
}

/** Returns whether both sides are equal. A file may disappear while its folder is read. */
function isEqual({ local, remote }: Bench): boolean {
  try {
    return JSON.stringify(filesOf(local)) === JSON.stringify(filesOf(remote))
  } catch {
    return false
  }
}

describe.skipIf(lacksNamespaces).each(few(SIDES))('inotify limits of the %s', end => {
  const limits = [
    ['watches', 5],
    ['instances', 0],
  ] as const
  test.concurrent.for(few(end === 'laptop' ? limits : limits.toReversed()))(
    'too few %s are reported with their limit, and changes are found by reading',
    async ([what, to], { onTestFinished }) => {
      const bench = await open(onTestFinished)
      const { local, remote } = bench
      for (let n = 0; n < 20; n++) write(local, `d${n}/sub/file`, `${n}`)
      const { laptop, agent } = await startBoth(bench, onTestFinished, end, limited(what, to))
      const setting = what === 'watches' ? 'fs.inotify.max_user_watches' : 'fs.inotify.max_user_instances'
      const told = () => laptop.events.flatMap(event => (event.kind === 'problem' ? [event.problem] : []))
      await until(() => told().length > 0, SECONDS)
      expect(told()).toEqual([
        {
          folder: '0',
          path: expect.stringMatching(/^d\d+|^\.$/),
          side: end === 'laptop' ? 'local' : 'remote',
          message: expect.stringContaining(`\`${setting}\``),
        },
      ])
      await until(() => (laptop.status?.unwatched.length ?? 0) > (what === 'watches' ? 30 : 40), SECONDS)
      const root = end === 'laptop' ? local : remote
      for (let n = 0; n < 20; n++) {
        if (n % 4 === 0) rmSync(join(root, `d${n}/sub/file`))
        else if (n % 4 === 1) appendFileSync(join(root, `d${n}/sub/file`), ' changed')
        else if (n % 4 === 2) write(root, `d${n}/sub/new`, 'new')
        else write(root, `d${n}/other/deep/new`, 'new')
      }
      await until(() => isEqual(bench) && existsSync(join(local, 'd19/other/deep/new')), SECONDS)
      expect(readFileSync(join(local, 'd1/sub/file'), 'utf8')).toBe('1 changed')
      expect(existsSync(join(local, 'd0/sub/file'))).toBe(false)
      expect(told()).toHaveLength(1)
      expect(agent.exitCode).toBeNull()
    },
  )
})

test.concurrent.for(few(SIDES))(
  'an overflow of the event queue while the %s is stopped loses no changes',
  async (end, { onTestFinished }) => {
    const bench = await open(onTestFinished)
    const { local, remote } = bench
    for (const name of ['a', 'b', 'old/gone', 'later/x']) write(local, name, '')
    const { laptop, agent } = await startBoth(bench, onTestFinished, end)
    const [root, other] = end === 'laptop' ? [local, remote] : [remote, local]
    const stopped = end === 'laptop' ? laptop.process : agent
    stopped.kill('SIGSTOP')
    // The files alternate, since the system merges successive events of one file.
    for (let n = 0; n < 10_000; n++) for (const name of ['a', 'b']) appendFileSync(join(root, name), '.')
    // The queue has no room for these events.
    write(root, 'later/last', 'last')
    appendFileSync(join(root, 'later/x'), 'changed')
    rmSync(join(root, 'old/gone'))
    write(root, 'made/deep/file', 'new')
    stopped.kill('SIGCONT')
    await until(() => isEqual(bench) && existsSync(join(other, 'made/deep/file')), SECONDS)
    expect(readFileSync(join(other, 'later/x'), 'utf8')).toBe('changed')
    expect(readFileSync(join(other, 'a'), 'utf8')).toHaveLength(10_000)
    expect(existsSync(join(other, 'old/gone'))).toBe(false)
  },
)
