import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { statusOf } from '../../../environment/rollout/status.ts'

function workload(kind: string, status: Readonly<Record<string, unknown>>, generation = 2): KubeObject {
  const spec = { replicas: 2 }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'web', generation },
    spec,
    status: { observedGeneration: 2, ...status },
  }
}

test.each([
  ['new Pods are ready', { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }, 2, 'ready'],
  [
    'only old Pods are ready',
    { replicas: 3, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2 },
    0,
    'waiting',
  ],
  ['one new Pod is ready', { replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3 }, 1, 'waiting'],
  ['nothing is there yet', {}, 0, 'waiting'],
] as const)('a Deployment counts Pods of its newest revision: %s', (_, status, ready, state) => {
  expect(statusOf(workload('Deployment', status))).toEqual({ state, text: `Deployment ${ready}/2 ready` })
})

test('a Deployment reports that it waits for the end of its old Pods', () => {
  const status = { replicas: 3, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3 }
  expect(statusOf(workload('Deployment', status))).toEqual({
    state: 'waiting',
    text: 'Deployment 2/2 ready, its old Pods end',
  })
})

test('the status of a former generation of a Deployment does not count', () => {
  const status = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  expect(statusOf(workload('Deployment', status, 3))).toEqual({ state: 'waiting', text: 'Deployment 0/2 ready' })
})

test('a StatefulSet in a rolling update counts its new Pods', () => {
  const rolling = { currentRevision: 'a', updateRevision: 'b' }
  expect(statusOf(workload('StatefulSet', { ...rolling, replicas: 2, updatedReplicas: 1, readyReplicas: 2 }))).toEqual({
    state: 'waiting',
    text: 'StatefulSet 1/2 ready',
  })
  const done = { currentRevision: 'b', updateRevision: 'b' }
  expect(statusOf(workload('StatefulSet', { ...done, replicas: 2, updatedReplicas: 2, readyReplicas: 2 }))).toEqual({
    state: 'ready',
    text: 'StatefulSet 2/2 ready',
  })
})
