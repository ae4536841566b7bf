import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { autoscaledBy, withOwnReplicas } from '../../../../environment/plan/autoscaled.ts'

const autoscaler: KubeObject = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
}
const workload = (replicas: number | undefined, manager: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    managedFields: [{ manager, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }],
  },
  spec: replicas === undefined ? {} : { replicas },
})
const wanted = { object: workload(undefined, 'nobody'), source: '' }
const applied = (live: KubeObject | undefined) =>
  withOwnReplicas(wanted, live, autoscaledBy([autoscaler])).object['spec'] as { readonly replicas?: number }

test('the number of Pods that devctl has set is applied until the autoscaler changes it', () => {
  expect(applied(workload(3, 'devctl')).replicas).toBe(3)
  expect(applied(workload(3, 'kube-controller-manager')).replicas).toBeUndefined()
  expect(applied(undefined).replicas).toBeUndefined()
})

test('an autoscaled workload does not stay at 0 Pods, where Kubernetes suspends its autoscaler', () => {
  expect(applied(workload(0, 'devctl')).replicas).toBeUndefined()
})

test('a workload without an autoscaler is applied as it is', () => {
  expect(withOwnReplicas(wanted, workload(3, 'devctl'), autoscaledBy([]))).toBe(wanted)
})
