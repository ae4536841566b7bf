import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { reasonOf } from '../../../../../platform/server/runs/run-pod.ts'

const pod = (status: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'run' }, status }) as KubeObject
const ended = (name: string, terminated: object) => ({ name, state: { terminated } })

test.each<[string, object, string | undefined]>([
  ['the time limit', { reason: 'DeadlineExceeded' }, 'it took longer than the time limit of runs'],
  [
    'a node without resources',
    { reason: 'Evicted', message: 'The node was low on resource: memory.' },
    'its node ran out of resources',
  ],
  [
    'a repository that is too large',
    { reason: 'Evicted', message: 'Usage of EmptyDir volume "source" exceeds the limit "2Gi". ' },
    'it needed more than a run may have: Usage of EmptyDir volume "source" exceeds the limit "2Gi".',
  ],
  [
    'a clone without enough memory',
    { initContainerStatuses: [ended('clone', { exitCode: 137, reason: 'OOMKilled' })] },
    'it needed more memory than runs have',
  ],
  [
    'a command without enough memory',
    { containerStatuses: [ended('run', { exitCode: 137, reason: 'OOMKilled' })] },
    'it needed more memory than runs have',
  ],
  [
    'a clone that says why',
    { initContainerStatuses: [ended('clone', { exitCode: 1, message: '{"error":"no such branch"}' })] },
    'no such branch',
  ],
  ['a command that failed', { containerStatuses: [ended('run', { exitCode: 1, reason: 'Error' })] }, undefined],
])('the reason of a failed run names %s', (_, status, reason) => {
  expect(reasonOf(pod(status))).toBe(reason)
})
