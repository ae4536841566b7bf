import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'

// The node of a development container is drained, or evicts its Pod. Other tests use the node, too: only this Pod
// needs its label.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const LABEL = `devctl-test-drained-${process.pid}`
const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    user: "1000:1000"
    working_dir: /app
    command: ["sleep", "3600"]
    stop_grace_period: 1s
`
const MANIFEST = `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sh", "-c", "cat said.txt; sleep 300"]
    workdir: /app
    sync: ["./files:/app"]
    nodeSelector: {${LABEL}: "yes"}
    resources: {limits: {ephemeral-storage: 100Mi}}
`

describe.skipIf(cluster === undefined)('a development container whose Pod is evicted', () => {
  let place: DevelopmentPlace
  let node = ''

  const kubectl = (...words: readonly string[]) => cluster!.kubectl('--namespace', place.namespace, ...words)
  const podName = async () =>
    (await kubectl('get', 'pod', '-l', 'dev.platform/mirror', '--field-selector=status.phase=Running', '-o', 'name'))
      .trim()
      .replace('pod/', '')

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'drained')
    node = (await kubectl('get', 'node', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
    write(place.folder, { 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST, 'files/said.txt': 'the first\n' })
  })
  beforeEach(() => kubectl('label', '--overwrite', 'node', node, `${LABEL}=yes`))
  afterAll(async () => {
    await cluster?.kubectl('label', 'node', node, `${LABEL}-`)
    await place?.close()
  })

  test('up waits while no node accepts the evicted Pod, and continues then', async () => {
    const up = place.devctl('up')
    await up.until(/^the first$/, 180)
    await kubectl('label', 'node', node, `${LABEL}-`)
    const name = await podName()
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: place.namespace } }
    const path = `/api/v1/namespaces/${place.namespace}/pods/${name}/eviction`
    expect((await cluster!.send('POST', path, eviction)).status).toBe(201)
    await eventually(
      'it says that it waits',
      async () => /waits for a node: .*available/.test(up.stderr) || undefined,
      { explain: async () => up.stderr, seconds: 120 },
    )
    expect(up.stderr).toContain('its Pod was evicted, as `kubectl drain` does')
    writeFileSync(join(place.folder, 'files/said.txt'), 'written meanwhile\n')
    // Other waits end after a Pod has been without a node for 15 s.
    await sleep(20_000)
    expect(up.process.exitCode, up.stderr).toBe(null)
    await kubectl('label', 'node', node, `${LABEL}=yes`)
    await up.until(/^written meanwhile$/, 180)
    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
  })

  test('up reports why a Pod that has written too much was evicted, and continues', async () => {
    const up = place.devctl('up', '--', 'sh', '-c', 'echo began; sleep 300')
    await up.until(/^began$/, 180)
    place.devctl('exec', '--', 'sh', '-c', 'head -c 200000000 /dev/zero > /tmp/large; sleep 100')
    await up.until(/^began$/, 180, 2)
    expect(up.stderr).toMatch(/its Pod was evicted: .*ephemeral.*storage/i)
  })
})
