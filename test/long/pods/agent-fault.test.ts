import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_CONTAINER, VOLUME_PATH } from '../../../constructs/mirror/names.ts'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const MANIFEST = `dev:
  api:
    autocreate: true
    image: busybox:1.37
    command: ["sh", "-c", "echo it runs; sleep 300"]
    workdir: /app
    sync: ["./files:/app"]
    persistentVolume: {enabled: false}
`

describe.skipIf(cluster === undefined)('an agent that cannot use its volume', () => {
  let place: DevelopmentPlace
  let up: Program

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'agent-fault')
    write(place.folder, { 'devctl.yml': MANIFEST, 'files/a.txt': 'one\n' })
    up = place.devctl('up')
    await up.until(/it runs/, 180)
  })
  afterAll(() => place?.close())

  const inAgent = (script: string) => {
    const target = ['exec', 'deploy/api-dev', '--container', AGENT_CONTAINER, '--', 'sh', '-c', script]
    return cluster!.kubectl('--namespace', place.namespace, ...target)
  }
  /** Returns the number of times the agent was restarted. */
  const restarts = async () => {
    type Statuses = readonly { readonly name: string; readonly restartCount: number }[]
    const { items } = await cluster!.get<{
      items: { status: { initContainerStatuses?: Statuses; containerStatuses?: Statuses } }[]
    }>(`/api/v1/namespaces/${place.namespace}/pods?labelSelector=dev.platform/mirror`)
    const { initContainerStatuses = [], containerStatuses = [] } = items[0]!.status
    return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === AGENT_CONTAINER)?.restartCount
  }
  const statusSays = (words: RegExp) =>
    eventually(
      `the status says ${words}`,
      async () => {
        const status = place.devctl('status')
        await status.status
        return words.test(status.stdout) || undefined
      },
      { explain: async () => up.stderr },
    )

  test('status reports a fault of the agent, which recovers without a restart of the program', async () => {
    const own = `${VOLUME_PATH}/.devctl`
    await inAgent(`mv ${own} ${VOLUME_PATH}/kept && touch ${own} && kill 1`)
    await statusSays(/reconnecting, .*cannot go on: .*\/devctl\/volume\/\.devctl/)
    await inAgent(`rm ${own} && mv ${VOLUME_PATH}/kept ${own}`)
    await statusSays(/100\.00%[\s\S]*: ready/)
    writeFileSync(join(place.folder, 'files/a.txt'), 'two\n')
    await eventually('the container has what is saved', async () => {
      const cat = place.devctl('exec', '--', 'cat', 'a.txt')
      return ((await cat.status) === 0 && cat.stdout === 'two\n') || undefined
    })
    expect(up.process.exitCode).toBeNull()
    // Only the test has restarted the agent, once.
    expect(await restarts()).toBe(1)
  })
})
