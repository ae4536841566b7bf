import { expect, test } from 'vitest'
import { deploy } from '../../../../operations/deploy/deploy.ts'
import type { DeployInput } from '../../../../operations/deploy/input.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { newCluster, object, ref } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

async function deployed(cluster: MemoryCluster, files: Readonly<Record<string, string>>, input: DeployInput = {}) {
  const { world, project, events } = await operationOn(cluster, { files })
  // Each deploy has its own folder.
  return { outcome: await deploy(world, { takeOver: true, ...input }, project), events }
}

test('`--force-recreate` restarts the services and leaves the jobs alone', async () => {
  const cluster = newCluster()
  const files = {
    'compose.yaml': `name: shop
services:
  web: {image: nginx}
jobs:
  backup: {image: busybox, command: date, triggers: {schedule: [{cron: "0 3 * * *"}]}}
`,
  }
  await deployed(cluster, files)
  const { outcome, events } = await deployed(cluster, files, { forceRecreate: true })
  expect(outcome.kind).toBe('deployed')
  expect(events).toContainEqual({ type: 'note', text: 'web is restarted' })
  const web = await cluster.get(ref(object('Deployment', 'web')))
  expect(JSON.stringify(web!['spec'])).toContain('restartedAt')
})
