import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromMember } from '../../platform/records/member.ts'
import { rfc3339 } from '../../platform/records/names.ts'
import { fromNamespace } from '../../platform/records/namespace.ts'
import { surroundings } from '../../platform/server/namespace-objects.ts'
import { eventually } from '../cluster/cluster.ts'
import { openPlatform, RUN, type TestPlatform } from '../platform-server/open-platform.ts'
import { askServer, makeServer, type ServerProcess, startServer } from '../platform-server/server-process.ts'

// A platform with many namespaces, best on a cluster that has nothing else to do.

const COUNT = Number(process.env.NAMESPACES ?? 1000)
const MIB = 1024 * 1024

describe.skipIf(!process.env.KUBECONFIG)(`${COUNT} namespaces`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-many-'))
  const names = Array.from({ length: COUNT }, (_, at) => `many-${at}-${RUN}`)
  let platform: TestPlatform
  let server: ServerProcess | undefined
  beforeAll(async () => {
    platform = await openPlatform()
    await makeServer(folder, platform)
  })
  afterAll(async () => {
    server?.process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
    // Its namespaces are deleted, too; nobody waits until they are gone.
    await platform?.close()
  })

  test('are listed, watched and looked after in little memory', async () => {
    const [ann, bob] = [await platform.person('ann', 'admin'), await platform.person('bob')]
    await inTurn(names, async (name, at) => {
      const time = rfc3339(Date.now())
      const owner = at % 2 ? ann.id : bob.id
      const one = {
        name,
        kind: 'namespace',
        status: 'Active',
        owner,
        created: time,
        lastActive: time,
        longerNames: [],
      } as const
      await platform.cluster.create(fromNamespace(one))
      for (const object of [...surroundings(name, []), fromMember({ namespace: name, user: owner, role: 'owner' })])
        await eventually(`${object.kind} of ${name}`, 60, () =>
          platform.cluster.apply(object, { manager: 'test', force: true }).catch(() => undefined),
        )
    })
    server = await startServer(folder)
    await eventually('it leads', 60, async () => server!.isLeader || undefined)
    const listed = async (token: string) => {
      const began = performance.now()
      const { items } = (await (await askServer(server!, '/namespaces', { token })).json()) as {
        readonly items: object[]
      }
      return { count: items.length, took: performance.now() - began }
    }
    const took: number[] = []
    for (let round = 0; round < 10; round++) {
      const [all, own] = [await listed(ann.token), await listed(bob.token)]
      expect(all.count).toBeGreaterThanOrEqual(COUNT)
      expect(own.count).toBe(Math.ceil(COUNT / 2) + 1)
      took.push(all.took)
    }
    // The tasks of the leader look at all of them, too.
    await sleep(20_000)
    const resident =
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))![1]) * 1024
    const median = took.sort((a, b) => a - b)[5]!
    console.log(`${COUNT} namespaces: listed in ${median.toFixed(0)} ms, ${(resident / MIB).toFixed(0)} MiB resident`)
    expect(resident / MIB).toBeLessThanOrEqual(120)
  })
})

/** Some at a time. */
async function inTurn<T>(all: readonly T[], work: (one: T, at: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < all.length) {
      const at = next++
      await work(all[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
