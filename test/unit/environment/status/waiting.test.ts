import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { statusOf } from '../../../../environment/rollout/status.ts'
import { listWarnings } from '../../../../environment/status/events.ts'
import { listServices } from '../../../../environment/status/service-status.ts'
import { NAMESPACE, newCluster, object } from '../../../support/objects/deploying.ts'

const NOW = Date.UTC(2026, 0, 2)
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()

const EXCEEDED = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
}
const template = { spec: { containers: [{ name: 'web', image: 'web' }] } }

/** Deployment that made no progress within its deadline. */
function deployment(status: object = EXCEEDED): KubeObject {
  const one = object('Deployment', 'web', { spec: { replicas: 1, template }, status }, 'web')
  return { ...one, metadata: { ...one.metadata, uid: 'u', generation: 1 } }
}

function podOf(status: object, spec: object = {}): KubeObject {
  const one = object('Pod', 'web-1-a', { spec: { ...template.spec, ...spec }, status }, 'web')
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 's', controller: true }
  return { ...one, metadata: { ...one.metadata, uid: 'p', creationTimestamp: ago(30), ownerReferences: [owner] } }
}

async function overview(pod: KubeObject, events: readonly (readonly [string, string])[] = []) {
  const cluster = newCluster()
  for (const [reason, message] of events)
    await cluster.create({
      ...object('Event', reason.toLowerCase()),
      ...{ type: 'Warning', reason, message, count: 5, lastTimestamp: ago(1) },
      involvedObject: { kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid },
    })
  const warnings = await listWarnings(cluster, NAMESPACE, {})
  return listServices({ objects: [deployment(), pod], warnings, urls: [], now: NOW })[0]!.overview
}

const noNode = (message: string) => ({
  phase: 'Pending',
  conditions: [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: ago(29) },
  ],
})
const waiting = (reason: string, message?: string) => ({
  name: 'web',
  restartCount: 0,
  state: { waiting: { reason, ...(message !== undefined && { message }) } },
})
const STARTED = { type: 'PodReadyToStartContainers', status: 'True' }
const MOUNTING = { type: 'PodReadyToStartContainers', status: 'False' }
const CLAIM = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }
const running = (name: string, restartCount = 0) => ({
  name,
  restartCount,
  // The kubelet reports this of running init containers, too.
  started: true,
  state: { running: { startedAt: ago(restartCount > 0 ? 1 : 29) } },
})
const PULLING = { conditions: [STARTED], containerStatuses: [waiting('ContainerCreating')] }
const ATTACH = 'AttachVolume.Attach failed for volume "pvc-1" : timed out'

describe('a service whose Pod only waits, after the progress deadline', () => {
  test.each<[reason: string, status: object, spec?: object, events?: readonly (readonly [string, string])[]]>([
    [
      'no node has room: insufficient memory',
      noNode(
        '0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No victims found.',
      ),
    ],
    [
      "no node has room: insufficient cpu, too many pods, didn't match Pod's node affinity/selector",
      noNode(
        "0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector.",
      ),
    ],
    [
      'no node fits: had untolerated taint {dedicated: db}',
      noNode('0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}.'),
    ],
    ['waits for a node', noNode('0/1 nodes are available')],
    [
      'waits for its volume',
      noNode('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found.'),
    ],
    [
      'waits for db',
      {
        phase: 'Pending',
        conditions: [STARTED],
        initContainerStatuses: [running('wait-for-db')],
        containerStatuses: [waiting('PodInitializing')],
      },
    ],
    [
      'waits for migrate',
      {
        phase: 'Pending',
        conditions: [STARTED],
        initContainerStatuses: [
          { name: 'wait-for-db', restartCount: 0, state: { terminated: { exitCode: 0 } } },
          { ...running('wait-for-migrate', 4), lastState: { terminated: { exitCode: 1 } } },
        ],
        containerStatuses: [waiting('PodInitializing')],
      },
    ],
    [
      'runs its `pre_start` hook',
      {
        phase: 'Pending',
        initContainerStatuses: [running('web-pre-start-1')],
        containerStatuses: [waiting('PodInitializing')],
      },
    ],
    ['pulls its image', { phase: 'Pending', ...PULLING }],
    [
      'pulls its image: 429 Too Many Requests',
      { phase: 'Pending', containerStatuses: [waiting('ErrImagePull', '429 Too Many Requests')] },
    ],
    [
      'waits for its volume',
      { phase: 'Pending', conditions: [MOUNTING], containerStatuses: [waiting('ContainerCreating')] },
      CLAIM,
    ],
    [
      `waits for its volume: ${ATTACH}`,
      { phase: 'Pending', conditions: [MOUNTING], containerStatuses: [waiting('ContainerCreating')] },
      CLAIM,
      [['FailedAttachVolume', ATTACH]],
    ],
    ['starts', { phase: 'Pending', containerStatuses: [waiting('ContainerCreating')] }],
  ])('is waiting: %s', async (reason, status, spec, events) => {
    expect(await overview(podOf(status, spec), events)).toMatchObject({ state: 'waiting', reason })
  })
})

describe('a service that waiting cannot mend', () => {
  test.each<[reason: string, status: object]>([
    [
      'its image cannot be pulled: not found',
      { phase: 'Pending', containerStatuses: [waiting('ErrImagePull', 'not found')] },
    ],
    [
      'its image cannot be pulled: unauthorized',
      { phase: 'Pending', containerStatuses: [waiting('ErrImagePull', 'unauthorized')] },
    ],
    [
      'it keeps exiting: exit code 1',
      {
        phase: 'Running',
        containerStatuses: [
          { ...waiting('CrashLoopBackOff'), restartCount: 3, lastState: { terminated: { exitCode: 1 } } },
        ],
      },
    ],
    [
      'it keeps exiting: exit code 1',
      {
        phase: 'Pending',
        initContainerStatuses: [
          {
            ...waiting('CrashLoopBackOff'),
            name: 'pre-start',
            restartCount: 3,
            lastState: { terminated: { exitCode: 1 } },
          },
        ],
        containerStatuses: [waiting('PodInitializing')],
      },
    ],
    [
      'Deployment 0/1 ready, and no progress within its deadline',
      { phase: 'Running', containerStatuses: [running('web')] },
    ],
  ])('has failed: %s', async (reason, status) => {
    const spec = { initContainers: [{ name: 'pre-start' }] }
    expect(await overview(podOf(status, spec))).toMatchObject({ state: 'failed', reason })
  })
})

test('a Deployment whose Pods only wait has not failed at its progress deadline, but one without Pods has', () => {
  const waits = podOf({ phase: 'Pending', ...PULLING })
  const ready = podOf({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
  expect(statusOf(deployment(), [waits])).toEqual({ state: 'waiting', text: 'Deployment 0/1 ready' })
  expect(statusOf(deployment(), [ready, waits]).state).toBe('waiting')
  expect(statusOf(deployment(), [ready, podOf({ phase: 'Running' })]).state).toBe('failed')
  expect(statusOf(deployment()).state).toBe('failed')
})
