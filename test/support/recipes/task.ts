import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Tasks of the leader": a record of the number of namespaces, counted once a day. */
export const task: Recipe = {
  added: {
    'platform/records/census.ts': `import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

/** Number of namespaces of the platform, and the RFC 3339 time at which they were counted. */
export interface Census {
  readonly counted: string
  readonly namespaces: number
}

export const censusRef = { apiVersion: 'v1', kind: 'Secret', name: 'census', namespace: USERS_NAMESPACE } as const

/** Returns the record of a census. Like all records in this namespace, it is a Secret. */
export const fromCensus = (census: Census): KubeObject => ({
  apiVersion: censusRef.apiVersion,
  kind: censusRef.kind,
  metadata: { name: censusRef.name, namespace: censusRef.namespace, labels: { [RECORD_LABEL]: 'census' } },
  data: { census: Buffer.from(JSON.stringify(census)).toString('base64') },
})

/** Parses the record. Returns undefined if it is missing or invalid. */
export function toCensus(live: KubeObject | undefined): Census | undefined {
  try {
    const text = String((live?.['data'] as Readonly<Record<string, unknown>> | undefined)?.['census'])
    const found = JSON.parse(Buffer.from(text, 'base64').toString()) as Readonly<Record<string, unknown>> | null
    const { counted, namespaces } = found ?? {}
    if (typeof counted !== 'string' || Number.isNaN(Date.parse(counted)) || typeof namespaces !== 'number')
      return undefined
    return { counted, namespaces }
  } catch {
    return undefined
  }
}
`,
    'platform/server/namespaces/census.ts': `import { censusRef, fromCensus, toCensus } from '../../records/census.ts'
import { MANAGED_LABEL, MANAGER, rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Returns the task that counts the namespaces once a day, whichever replica leads. */
export const censusTask = ({ cluster, now }: ServerContext): LeaderTask => ({
  name: 'census of namespaces',
  everyMs: HOUR,
  async run(signal) {
    const last = toCensus(await cluster.get(censusRef, { signal }))
    if (last && now() - Date.parse(last.counted) < DAY) return
    let namespaces = 0
    const query = { apiVersion: 'v1', kind: 'Namespace', labels: \`\${MANAGED_LABEL}=true\` }
    for await (const page of cluster.pages(query, { signal })) namespaces += page.length
    const census = fromCensus({ counted: rfc3339(now()), namespaces })
    await cluster.apply(census, { manager: MANAGER, force: true, signal })
  },
})
`,
    'test/unit/platform/server/namespaces/census.test.ts': `import { expect, test } from 'vitest'
import type { Cluster } from '../../../../../adapters/kubernetes/cluster.ts'
import { censusRef, toCensus } from '../../../../../platform/records/census.ts'
import { fromNamespace } from '../../../../../platform/records/namespace.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { censusTask } from '../../../../../platform/server/namespaces/census.ts'
import { interrupted } from '../../../../support/memory-cluster/interrupted.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

/** A platform with the namespaces \`ann\` and \`shop\`, and its task with a client of the cluster. */
async function open() {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const more = { kind: 'namespace', status: 'Active', created: '', lastActive: '', longerNames: [] } as const
  for (const name of ['ann', 'shop']) await cluster.create(fromNamespace({ ...more, name, owner: 'a'.repeat(16) }))
  let now = Date.UTC(2026, 0, 1)
  return {
    cluster,
    run: (own: Cluster) => censusTask({ cluster: own, now: () => now } as ServerContext).run(AbortSignal.timeout(5000)),
    later: (hours: number) => {
      now += hours * 3_600_000
    },
    census: async () => toCensus(await cluster.get(censusRef)),
  }
}

test('the leader counts the namespaces once a day', async () => {
  const { cluster, run, later, census } = await open()
  await run(cluster)
  expect(await census()).toEqual({ counted: '2026-01-01T00:00:00Z', namespaces: 2 })
  later(23)
  await run(cluster)
  expect((await census())?.counted).toBe('2026-01-01T00:00:00Z')
  later(1)
  await run(cluster)
  expect((await census())?.counted).toBe('2026-01-02T00:00:00Z')
})

test('a leader that takes over before any request of the task leaves the right record', async () => {
  for (let at = 1; ; at++) {
    const { cluster, run, census } = await open()
    const { client, isOver } = interrupted(cluster, at, () => run(cluster))
    await run(client)
    expect(await census(), \`step \${at}\`).toEqual({ counted: '2026-01-01T00:00:00Z', namespaces: 2 })
    if (isOver()) return expect(at).toBeGreaterThan(2)
  }
})
`,
  },
  edits: [
    [
      'platform/server/leader/make-tasks.ts',
      'import { expiredTask }',
      "import { censusTask } from '../namespaces/census.ts'\n",
    ],
    ['platform/server/leader/make-tasks.ts', '  usageTask(', '  censusTask(world),\n'],
    [
      'test/unit/platform/records.test.ts',
      'import { fromEmptied, ',
      "import { toCensus } from '../../../platform/records/census.ts'\n",
    ],
    ['test/unit/platform/records.test.ts', 'toUser, toEmptied, toToken, ', 'toCensus, '],
  ],
}
