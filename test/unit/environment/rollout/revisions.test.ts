import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { isOlderFailure } from '../../../../environment/rollout/replica-sets.ts'
import { newestPods, replacedPods } from '../../../../environment/rollout/revisions.ts'

const REVISION = 'deployment.kubernetes.io/revision'

function workload(kind: string, status: object, revision?: string): KubeObject {
  const annotations: Record<string, string> = revision === undefined ? {} : { [REVISION]: revision }
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'web', uid: 'web', generation: 2, annotations }, status }
}

function pod(name: string, label: string, hash: string, creationTimestamp: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { [label]: hash }, creationTimestamp } }
}

const set = (hash: string, revision: string, owner = 'web'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    name: `web-${hash}`,
    labels: { 'pod-template-hash': hash },
    annotations: { [REVISION]: revision },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: owner, controller: true }],
  },
})

const seen = { observedGeneration: 2 }
const good = pod('good', 'pod-template-hash', 'a', '2026-01-01T10:00:00Z')
const broken = pod('broken', 'pod-template-hash', 'b', '2026-01-01T11:00:00Z')
const names = (pods: readonly KubeObject[]) => pods.map(({ metadata }) => metadata.name)

test('newestPods returns the Pods of a restored older template, not the youngest', () => {
  const sets = [set('b', '2'), set('a', '3'), set('c', '3', 'another')]
  expect(names(newestPods(workload('Deployment', seen, '3'), sets, [good, broken]))).toEqual(['good'])
  expect(names(newestPods(workload('Deployment', seen, '2'), [set('a', '1'), set('b', '2')], [good, broken]))).toEqual([
    'broken',
  ])
})

test('newestPods returns nothing before the controller has created Pods for the change', () => {
  const sets = [set('a', '1'), set('b', '2')]
  expect(newestPods(workload('Deployment', { observedGeneration: 1 }, '2'), sets, [good, broken])).toEqual([])
  expect(newestPods(workload('Deployment', seen, '3'), sets, [good, broken])).toEqual([])
  expect(newestPods(workload('DaemonSet', { ...seen, updatedNumberScheduled: 0 }), [], [good])).toEqual([])
})

test('newestPods returns the Pods of the update revision of a StatefulSet', () => {
  const pods = ['x', 'y'].map(hash => pod(hash, 'controller-revision-hash', hash, '2026-01-01T10:00:00Z'))
  expect(names(newestPods(workload('StatefulSet', { ...seen, updateRevision: 'x' }), [], pods))).toEqual(['x'])
})

test('newestPods returns all Pods of a Job', () => {
  const job: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job', generation: 1 } }
  const pods = ['x', 'y'].map(name => pod(name, 'job-name', 'job', '2026-01-01T10:00:00Z'))
  expect(names(newestPods(job, [], pods))).toEqual(['x', 'y'])
})

const onDelete = { updateStrategy: { type: 'OnDelete' } }
const partition = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }

test.each([
  ['StatefulSet', onDelete],
  ['StatefulSet', partition],
  ['DaemonSet', onDelete],
])('newestPods returns all Pods of a %s that keeps Pods of older revisions: %j', (kind, spec) => {
  const pods = ['x', 'y'].map(hash => pod(hash, 'controller-revision-hash', hash, '2026-01-01T10:00:00Z'))
  const of = workload(kind, { ...seen, updateRevision: 'z', updatedNumberScheduled: 0 })
  expect(names(newestPods({ ...of, spec }, [], pods))).toEqual(['x', 'y'])
})

test('replacedPods returns outdated Pods of a StatefulSet, unless it keeps them', () => {
  const pods = ['x', 'y'].map(hash => pod(hash, 'controller-revision-hash', hash, '2026-01-01T10:00:00Z'))
  const set = workload('StatefulSet', { ...seen, updateRevision: 'x' })
  expect(names(replacedPods(set, pods))).toEqual(['y'])
  expect(replacedPods({ ...set, spec: onDelete }, pods)).toEqual([])
  expect(replacedPods({ ...set, spec: partition }, pods)).toEqual([])
  expect(replacedPods(workload('StatefulSet', { observedGeneration: 1, updateRevision: 'x' }), pods)).toEqual([])
  expect(replacedPods(workload('Deployment', seen), pods)).toEqual([])
})

test('isOlderFailure is true if only an older ReplicaSet fails to create Pods', () => {
  const refused = { conditions: [{ type: 'ReplicaFailure', status: 'True' }] }
  const [older, newest] = [{ ...set('a', '1'), status: refused }, set('b', '2')]
  const web = workload('Deployment', seen, '2')
  expect(isOlderFailure(web, [older, newest])).toBe(true)
  expect(isOlderFailure(web, [older, { ...newest, status: refused }])).toBe(false)
  // The newest ReplicaSet is not known yet, or belongs to another workload.
  expect(isOlderFailure(web, [older])).toBe(false)
  expect(isOlderFailure(web, [older, set('b', '2', 'another')])).toBe(false)
})
