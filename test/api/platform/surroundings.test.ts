import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MANAGER } from '../../../platform/records/names.ts'
import { surroundingsTask } from '../../../platform/server/namespaces/reconcile-namespace-defaults.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests namespaces that an older version created, or that were created before the cluster got new networks.

describe.skipIf(!process.env.KUBECONFIG)('objects that each namespace has', () => {
  let platform: TestPlatform
  const namespace = `surroundings-${RUN}`
  const policies = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace }
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', name: 'devctl', namespace }
  beforeAll(async () => {
    platform = await openPlatform()
    const ann = await platform.person('ann')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: namespace } })).status).toBe(200)
  })
  afterAll(() => platform?.close())

  const bringUpToDate = async (...clusterNetworks: readonly string[]) => {
    const { world } = platform
    await surroundingsTask({ ...world, settings: { ...world.settings, clusterNetworks } }).run(
      AbortSignal.timeout(60_000),
    )
  }
  const wayOut = async () => {
    const live = await platform.cluster.get({ ...policies, name: 'devctl-outside' })
    return JSON.stringify(live?.['spec'])
  }

  test('network policies are updated, and a quota that an operator has changed stays', async () => {
    const { cluster } = platform
    await cluster.delete({ ...policies, name: 'devctl-inside' })
    await cluster.patch(quota, { spec: { hard: { pods: '7' } } }, { manager: 'kubectl-edit' })
    expect(await wayOut()).not.toContain('20.1.0.0/16')

    await bringUpToDate('20.1.0.0/16')
    expect(await wayOut()).toContain('"20.1.0.0/16"')
    const names = (await cluster.list(policies)).map(({ metadata }) => metadata.name)
    expect(names.sort()).toEqual(['devctl', 'devctl-inside', 'devctl-outside'])
    const live = await eventually('the quota', () => cluster.get(quota))
    expect((live['spec'] as { hard: Record<string, string> }).hard['pods']).toBe('7')
    expect(platform.log.join('\n')).toContain(
      `ResourceQuota ${namespace}/devctl stays as it is: somebody has changed it`,
    )
  })

  test('a namespace of an older version gets the limits of a new one', async () => {
    const { cluster } = platform
    const { home } = await platform.person('old')
    const hard = async () => {
      const live = await cluster.get({ ...quota, namespace: home })
      return (live!['spec'] as { hard: Record<string, string> }).hard
    }
    const before = await hard()
    const { apiVersion, kind, name } = quota
    const older = { apiVersion, kind, metadata: { name, namespace: home }, spec: { hard: { 'count/secrets': '500' } } }
    await cluster.apply(older, { manager: MANAGER, force: true })
    expect(await hard()).toEqual({ 'count/secrets': '500' })
    await bringUpToDate('20.1.0.0/16')
    expect(await hard()).toEqual(before)
    expect(before).toMatchObject({ 'count/secrets': '200', 'count/leases.coordination.k8s.io': '200' })
  })

  test('an update without differences writes nothing', async () => {
    const versions = async () =>
      (await platform.cluster.list(policies)).map(({ metadata }) => metadata.resourceVersion).join()
    const before = await versions()
    await bringUpToDate('20.1.0.0/16')
    expect(await versions()).toBe(before)
  })
})
