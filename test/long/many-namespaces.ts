import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fromMember } from '../../platform/records/member.ts'
import { rfc3339 } from '../../platform/records/names.ts'
import { fromNamespace } from '../../platform/records/namespace.ts'
import { namespaceDefaults } from '../../platform/server/namespaces/namespace-defaults.ts'
import { eventually } from '../support/cluster/cluster.ts'
import type { TestPlatform } from '../support/platform/open-platform.ts'
import { RUN } from '../support/platform/run-name.ts'
import { askServer, makeServer, startServer } from '../support/platform/server-process.ts'

/** Measurements of a server that manages many namespaces. */
export interface Loaded {
  /** Number of namespaces listed for an administrator, and for a user who owns every second one. */
  readonly shown: { readonly all: number; readonly own: number }
  /** Median milliseconds to list the namespaces for the administrator. */
  readonly took: number
  /** Resident memory in MiB. */
  readonly resident: number
}

/**
 * Creates `count` namespaces, starts a server in an empty folder, and measures it. The namespaces are deleted with the
 * platform; the test does not wait for that.
 */
export async function measureNamespaces(platform: TestPlatform, folder: string, count: number): Promise<Loaded> {
  await makeServer(folder, platform)
  const [ann, bob] = [await platform.person('ann', 'admin'), await platform.person('bob')]
  const names = Array.from({ length: count }, (_, at) => `many-${at}-${RUN}`)
  await inTurn(names, (name, at) => makeNamespace(platform, name, at % 2 ? ann.id : bob.id))
  const server = await startServer(folder)
  try {
    await eventually('it leads', async () => server.isLeader || undefined)
    const listed = async (token: string) => {
      const began = performance.now()
      const { items } = (await (await askServer(server, '/namespaces', { token })).json()) as {
        readonly items: object[]
      }
      return { count: items.length, took: performance.now() - began }
    }
    const times: number[] = []
    let shown = { all: 0, own: 0 }
    for (let round = 0; round < 10; round++) {
      const [all, own] = [await listed(ann.token), await listed(bob.token)]
      shown = { all: all.count, own: own.count }
      times.push(all.took)
    }
    // The tasks of the leader process all namespaces, too.
    await sleep(20_000)
    const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))!
    return { shown, took: times.sort((a, b) => a - b)[5]!, resident: Number(kibibytes) / 1024 }
  } finally {
    server.process.kill('SIGKILL')
  }
}

async function makeNamespace(platform: TestPlatform, name: string, owner: string): Promise<void> {
  const time = rfc3339(Date.now())
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
  for (const object of [...namespaceDefaults(name, {}), fromMember({ namespace: name, user: owner, role: 'owner' })])
    await eventually(`${object.kind} of ${name}`, () =>
      platform.cluster.apply(object, { manager: 'test', force: true }).catch(() => undefined),
    )
}

/** Calls `work` for all items, at most eight at a time. */
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
