import { expect, test } from 'vitest'
import { lastWork } from '../../../../../platform/server/sleep/activity.ts'
import { deploymentRef, openShop } from '../../../../support/platform/sleeping-shop.ts'

test.each([
  ['kubectl', true],
  ['devctl', true],
  ['keda', false],
  ['kube-controller-manager', false],
  ['devctl-sleep', false],
])('a change by %s counts as work of a person: %s', async (manager, isWork) => {
  const { cluster, later } = await openShop({ deployments: ['app'] })
  const signal = AbortSignal.timeout(15_000)
  const before = await lastWork(cluster, 'shop', later(0), signal)
  later(3_600_000)
  cluster.act(deploymentRef('app'), one => ({ ...one, spec: { ...(one['spec'] as object), replicas: 1 } }), manager)
  const after = await lastWork(cluster, 'shop', later(0), signal)
  expect(after > before).toBe(isWork)
})
