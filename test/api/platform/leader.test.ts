import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lead } from '../../../platform/server/leader/leader.ts'
import { makeTasks } from '../../../platform/server/leader/make-tasks.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few } from '../../support/takes-all.ts'

// One replica leads: tests kill replicas one after the other, and check the work of the leader with the rights of the
// server.

/** Signals that end the leaders in turn; `npm run test:long` sends more. */
const SIGNALS = few(['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGTERM'] as const)

/** A replica in a separate process, and the times at which it worked. */
interface Replica {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  readonly times: number[]
  readonly log: string[]
}

describe.skipIf(!process.env.KUBECONFIG)('the leader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-leader-'))
  const replicas: Replica[] = []
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
    await build({
      entryPoints: [join(import.meta.dirname, 'leader-process.ts')],
      outfile: join(folder, 'replica.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      logLevel: 'error',
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    })
  })
  afterAll(async () => {
    for (const { process } of replicas) process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
    await platform?.close()
  })

  function start(): Replica {
    const process_ = spawn(process.execPath, [join(folder, 'replica.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] })
    const replica: Replica = { process: process_, times: [], log: [] }
    createInterface(process_.stdout).on('line', line => replica.times.push(Number(line)))
    createInterface(process_.stderr).on('line', line => replica.log.push(line))
    replicas.push(replica)
    return replica
  }
  const working = (since: number) => replicas.find(({ times }) => (times.at(-1) ?? 0) > since)
  const works = (seconds: number, since = Date.now()) =>
    eventually('a replica works', async () => working(since), {
      explain: async () => replicas.flatMap(({ log }) => log).join('\n'),
      seconds,
    })

  test('one replica leads: another one takes over after its end, and never do two work at once', async () => {
    for (let number = 0; number < 3; number++) start()
    let leader = await works(45)
    for (const signal of SIGNALS) {
      const enough = leader.times.length + Math.random() * 200
      await eventually('it has worked for a while', async () => leader.times.length > enough || undefined)
      leader.process.kill(signal)
      await once(leader.process, 'exit')
      const at = Date.now()
      start()
      leader = await works(45)
      // The next leader takes a released Lease at its next poll, and any other one once the holder counts as dead.
      expect(leader.times.find(time => time > at)! - at).toBeLessThan(signal === 'SIGTERM' ? 15_000 : 30_000)
    }
    const worked = replicas.filter(({ times }) => times.length > 0)
    expect(worked).toHaveLength(SIGNALS.length + 1)
    const spans = worked.map(({ times }) => [times[0]!, times.at(-1)!] as const).sort(([a], [b]) => a - b)
    for (const [at, [, end]] of spans.slice(0, -1).entries()) expect(spans[at + 1]![0]).toBeGreaterThan(end)
    // A task that fails repeatedly is tried less and less often, and blocks no other.
    const failures = () => leader.log.filter(line => line.startsWith('failing: it never works')).length
    await eventually('it has failed three times', async () => failures() >= 3 || undefined)
    expect(failures()).toBeLessThan(leader.times.length / 5)
    // The Lease is released when all replicas have ended.
    const living = replicas.map(one => one.process).filter(one => one.exitCode === null && one.signalCode === null)
    await Promise.all(
      living.map(async one => {
        one.kill('SIGTERM')
        await once(one, 'exit')
      }),
    )
  })

  test('the leader deletes expired tokens and logins, and nothing else', async () => {
    const { parts } = platform
    const ann = await platform.person('ann')
    const issue = (lifetime: number) => parts.tokens.issue({ kind: 'api', label: 'one', user: ann.id, lifetime })
    const [old, young] = [await issue(-120_000), await issue(600_000)]
    // The contract of clusters tests lists of several pages, which would be slow here.
    const { device } = await parts.logins.ask(`laptop-${RUN}`)
    const left = async () => {
      const secrets = { apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-users' }
      const names = (await platform.cluster.list(secrets)).map(({ metadata }) => metadata.name)
      const wanted = [`t-${old.record.id}`, `t-${young.record.id}`, `x-${device.split('.')[0]}`]
      return wanted.map(name => names.includes(name))
    }
    const once_ = async (until: () => Promise<true | undefined>) => {
      const end = new AbortController()
      const leading = lead(platform.world, makeTasks(platform.world, platform.parts), end.signal)
      await eventually('it is done', until)
      end.abort()
      await leading
    }
    expect(await left()).toEqual([true, true, true])
    await once_(async () => ((await left())[0] ? undefined : true))
    expect(await left()).toEqual([false, true, true])
    platform.later = 680_000
    await once_(async () => ((await left()).includes(true) ? undefined : true))
    expect(await platform.call('GET /me', { token: ann.token })).toMatchObject({ status: 200 })
  })
})
