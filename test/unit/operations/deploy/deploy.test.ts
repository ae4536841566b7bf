import { describe, expect, test } from 'vitest'
import { readKept } from '../../../../environment/record/secret-marks.ts'
import { deploy } from '../../../../operations/deploy/deploy.ts'
import type { DeployInput } from '../../../../operations/deploy/input.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { ENVIRONMENT, NAMESPACE, newCluster, object, ref } from '../../../support/objects/deploying.ts'
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

describe('variables that commands pass on', () => {
  const files = (...commands: readonly string[]) => ({
    'devctl.yml': JSON.stringify({
      name: 'shop',
      deploy: { ...(commands.length > 0 && { commands }), compose: 'compose.yaml' },
    }),
    'compose.yaml': 'services: {web: {image: "nginx:${TAG:-stable}"}}\n',
  })
  const stored = async (cluster: MemoryCluster) => (await readKept(cluster, ENVIRONMENT, NAMESPACE, {}))?.variables
  const passOn = (...pairs: readonly string[]) => pairs.map(pair => `echo ${pair} >> $DEVCTL_ENV`)

  test.each([
    ['the commands pass on others', files(...passOn('OTHER=1')), { OTHER: '1' }],
    ['the commands pass on none', files('echo nothing'), {}],
    ['the manifest has no commands', files(), {}],
  ])('the variables of the last deploy are forgotten if %s', async (_, after, variables) => {
    const cluster = newCluster()
    await deployed(cluster, files(...passOn('TAG=old')))
    expect(await stored(cluster)).toEqual({ TAG: 'old' })
    const { outcome } = await deployed(cluster, after)
    expect(outcome.kind).toBe('deployed')
    expect(await stored(cluster)).toEqual(variables)
  })

  test('a failing command keeps the variables of the last deploy, and adds its own', async () => {
    const cluster = newCluster()
    await deployed(cluster, files(...passOn('TAG=old', 'OTHER=1')))
    const { outcome } = await deployed(cluster, files(...passOn('TAG=new'), 'exit 1'))
    expect(outcome.kind).toBe('command-failed')
    expect(await stored(cluster)).toEqual({ TAG: 'new', OTHER: '1' })
  })

  test('a deploy of named services keeps the variables of the last deploy', async () => {
    const cluster = newCluster()
    await deployed(cluster, files(...passOn('TAG=old')))
    await deployed(cluster, files(), { services: ['web'] })
    expect(await stored(cluster)).toEqual({ TAG: 'old' })
  })

  test.each([
    ['pass on none', files('echo nothing')],
    ['do not exist', files()],
  ])('a user who may not read Secrets can deploy if the commands %s', async (_, of) => {
    const cluster = newCluster()
    cluster.allows = ({ kind }) => kind !== 'Secret'
    expect((await deployed(cluster, of)).outcome.kind).toBe('deployed')
  })
})
