import { expect, test } from 'vitest'
import { endOfPod, isOver } from '../../../../develop/mirror/end-of-pod.ts'

const pod = (status: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'b' },
  status,
})
const disrupted = (reason: string) => ({
  phase: 'Running',
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason }],
})

test.each<readonly [string, object, string | undefined]>([
  ['runs', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, undefined],
  ['is drained', disrupted('EvictionByEvictionAPI'), 'its Pod was evicted, as `kubectl drain` does'],
  ['is terminated by something new', disrupted('ByMagic'), undefined],
  [
    'has filled its node',
    { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage. ' },
    'its Pod was evicted: The node was low on resource: ephemeral-storage',
  ],
  [
    'was refused by its node',
    { phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected' },
    'its Pod has ended: OutOfcpu: Pod was rejected',
  ],
  ['has failed', { phase: 'Failed' }, 'its Pod has ended'],
])('endOfPod returns the reason of a Pod that %s, if its end is known', (_, status, text) => {
  expect(endOfPod(pod(status))).toBe(text)
})

test('isOver is true for a Pod that failed or succeeded', () => {
  expect(['Pending', 'Running', 'Failed', 'Succeeded'].map(phase => isOver(pod({ phase })))).toEqual([
    false,
    false,
    true,
    true,
  ])
})
