import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { applyAll, untilReady } from '../support/cluster/application.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { documentsOf } from '../support/documents.ts'
import { run } from '../support/run.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

// The service `full` has a volume over a large folder of its image; `image` shows the expected content of the folder.
const COMPOSE = `
services:
  full:
    image: postgres:16-alpine
    entrypoint: ["sleep", "infinity"]
    volumes: [data:/usr]
  image:
    image: postgres:16-alpine
    entrypoint: ["sleep", "infinity"]
volumes:
  data:
`

// Prints names, owners, modes and content of everything below the folder.
const SUM = `cd /usr && { find . -printf '%p %u %g %m\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum; } | sha256sum`

describe.skipIf(cluster === undefined)('a volume that is filled from an image', () => {
  const namespace = `killed-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'devctl-killed-'))
  afterAll(async () => {
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
    rmSync(folder, { recursive: true })
  })

  test('a volume is complete although its Pod was killed repeatedly while it was filled', async () => {
    writeFileSync(join(folder, 'compose.yaml'), COMPOSE)
    const { status, stdout, stderr } = await run(['render', '--name', 'killed', '--namespace', namespace], {
      cwd: folder,
    })
    expect(status, stderr).toBe(0)
    const objects = documentsOf(stdout).map(document => document.object)
    await cluster!.createNamespace(namespace)
    await applyAll(cluster!, namespace, objects)

    let killed = 0
    for (const delay of [0, 60, 120, 250, 400, 600]) {
      const filling = await eventually('the Pod fills its volume, or has done so', () => pod(), { pause: 30 })
      if (filling === 'started') break
      await new Promise(resolve => setTimeout(resolve, delay))
      // Only kills while the init container still runs count.
      if ((await pod()) !== 'filling') continue
      await cluster!.kubectl('--namespace', namespace, 'delete', 'pod', 'full-0', '--grace-period=0', '--force')
      killed++
    }
    expect(killed, 'kills in the middle of filling').toBeGreaterThan(0)

    await untilReady(cluster!, namespace, objects, 120)
    const sum = (workload: string) =>
      cluster!.kubectl('--namespace', namespace, 'exec', workload, '--', 'bash', '-c', SUM)
    expect(await sum('statefulset/full')).toBe(await sum('deployment/image'))
  })

  /** Returns what the Pod is doing; undefined if it does not exist yet, is being deleted, or has not got that far. */
  async function pod(): Promise<'filling' | 'started' | undefined> {
    const { status, body } = await cluster!.send('GET', `/api/v1/namespaces/${namespace}/pods/full-0`)
    if (status !== 200) return undefined
    const { metadata, status: now = {} } = JSON.parse(body)
    if (metadata.deletionTimestamp !== undefined) return undefined
    const states: readonly { name: string; state: object }[] = now.initContainerStatuses ?? []
    if (states.some(({ name, state }) => name.startsWith('fill-') && 'running' in state)) return 'filling'
    return now.phase === 'Running' ? 'started' : undefined
  }
})
