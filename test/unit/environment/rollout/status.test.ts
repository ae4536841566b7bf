import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { isReached, statusOf } from '../../../../environment/rollout/status.ts'
import type { Warning } from '../../../../environment/status/events.ts'
import { claimProblems, hasStarted, podProblems, workloadProblems } from '../../../../environment/status/problems.ts'
import { object } from '../../../support/objects/deploying.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

function made(kind: string, spec: object, status: object | undefined, generation = 2): KubeObject {
  const one = object(kind, 'web', { spec, ...(status && { status }) })
  return { ...one, metadata: { ...one.metadata, generation } }
}

const seen = { observedGeneration: 2 }
const full = { ...seen, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
const late = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] }
const two = { replicas: 2 }
const partitioned = (partition: number) => ({ ...two, updateStrategy: { rollingUpdate: { partition } } })

describe('statusOf', () => {
  test.each<[string, KubeObject, string, string]>([
    ['has none yet', made('Deployment', two, undefined), 'waiting', 'Deployment 0/2 ready'],
    ['is as wanted', made('Deployment', two, full), 'ready', 'Deployment 2/2 ready'],
    ['counts one replica', made('Deployment', {}, { ...full, replicas: 1, updatedReplicas: 1 }), 'ready', '1/1'],
    ['is that of an older one', made('Deployment', two, { ...full, observedGeneration: 1 }), 'waiting', '0/2'],
    ['has old Pods yet', made('Deployment', two, { ...full, replicas: 3 }), 'waiting', '1/2'],
    ['has new Pods that are not ready', made('Deployment', two, { ...full, updatedReplicas: 1 }), 'waiting', '1/2'],
    ['is ready, not available', made('Deployment', two, { ...full, availableReplicas: 1 }), 'waiting', '2/2'],
    ['makes no progress', made('Deployment', two, { ...full, ...late, readyReplicas: 1 }), 'failed', 'no progress'],
    ['is scaled to nothing', made('Deployment', { replicas: 0 }, seen), 'ready', 'Deployment 0/0 ready'],
    ['of a schedule', made('CronJob', {}, undefined), 'ready', 'CronJob scheduled'],
    ['of a manual job', made('CronJob', { suspend: true }, undefined), 'ready', 'CronJob started by users'],
    [
      'of a StatefulSet',
      made('StatefulSet', two, { ...full, currentRevision: 'b', updateRevision: 'b' }),
      'ready',
      '2/2',
    ],
    [
      'of a StatefulSet that rolls',
      made('StatefulSet', two, { ...full, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' }),
      'waiting',
      'StatefulSet 1/2 ready',
    ],
    [
      'of a StatefulSet whose Pods a user deletes',
      made('StatefulSet', { ...two, updateStrategy: { type: 'OnDelete' } }, { ...full, updatedReplicas: 0 }),
      'ready',
      '2/2',
    ],
    [
      'of a StatefulSet with a partition, all of whose other Pods are new',
      made('StatefulSet', partitioned(1), { ...full, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' }),
      'ready',
      'StatefulSet 2/2 ready',
    ],
    [
      'of a StatefulSet with a partition that rolls',
      made('StatefulSet', partitioned(1), { ...full, updatedReplicas: 0, currentRevision: 'a', updateRevision: 'b' }),
      'waiting',
      'StatefulSet 0/2 ready',
    ],
    [
      'of a DaemonSet whose Pods a user deletes',
      made(
        'DaemonSet',
        { updateStrategy: { type: 'OnDelete' } },
        { ...seen, desiredNumberScheduled: 3, numberReady: 3, numberAvailable: 3 },
      ),
      'ready',
      'DaemonSet 3/3 ready',
    ],
    ['of a StatefulSet with none', made('StatefulSet', { replicas: 0 }, seen), 'ready', '0/0'],
    [
      'of a DaemonSet',
      made(
        'DaemonSet',
        {},
        { ...seen, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3, numberAvailable: 3 },
      ),
      'ready',
      'DaemonSet 3/3 ready',
    ],
    [
      'of a DaemonSet that rolls',
      made(
        'DaemonSet',
        {},
        { ...seen, desiredNumberScheduled: 3, updatedNumberScheduled: 2, numberReady: 3, numberAvailable: 3 },
      ),
      'waiting',
      'DaemonSet 2/3 ready',
    ],
    [
      'of a DaemonSet that no node wants',
      made('DaemonSet', {}, { ...seen, desiredNumberScheduled: 0 }),
      'ready',
      '0/0',
    ],
    ['of a Job', made('Job', {}, { active: 1 }), 'waiting', 'Job running'],
    [
      'of a Job that is done',
      made('Job', {}, { conditions: [{ type: 'Complete', status: 'True' }] }),
      'complete',
      'Job complete',
    ],
    [
      'of a Job that failed',
      made('Job', {}, { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] }),
      'failed',
      'Job failed: too often',
    ],
  ])('statusOf returns the state and the text of a status: %s', (_, of, state, text) => {
    const status = statusOf(of)
    expect(status.state).toBe(state)
    expect(status.text).toContain(text)
  })

  const replica = (isReady: boolean, metadata: object = {}): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', ...metadata } },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  })
  const ending = replica(true, { deletionTimestamp: ago(1) })
  test.each<[string, readonly KubeObject[], string]>([
    ['both are ready', [replica(true), replica(true)], 'ready 2/2'],
    ['one of the ready ones is ending', [replica(true), ending], 'waiting 1/2'],
    ['one is gone, which the status does not show yet', [replica(true)], 'waiting 1/2'],
    ['one is not ready, which the status does not show yet', [replica(true), replica(false)], 'waiting 1/2'],
  ])('statusOf counts the Pods of a StatefulSet whose Pods a user deletes: %s', (_, pods, expected) => {
    const set = made('StatefulSet', { ...two, updateStrategy: { type: 'OnDelete' } }, full)
    const { state, text } = statusOf(set, pods)
    expect(`${state} ${text}`).toBe(expected.replace(' ', ' StatefulSet ').concat(' ready'))
  })

  test.each([
    ['service_started', 'waiting', false, false],
    ['service_started', 'waiting', true, true],
    ['service_started', 'ready', false, true],
    ['service_healthy', 'waiting', true, false],
    ['service_healthy', 'ready', true, true],
    ['service_healthy', 'complete', false, true],
    ['service_completed_successfully', 'ready', true, false],
    ['service_completed_successfully', 'complete', false, true],
    ['service_completed_successfully', 'failed', true, false],
  ] as const)('isReached of %s, state %s and a started Pod %s is %s', (condition, state, hasStartedPod, reached) => {
    expect(isReached(condition, { state, text: '' }, hasStartedPod)).toBe(reached)
  })
})

const pod = (status: object, spec: object = { containers: [{ name: 'web' }] }): KubeObject => ({
  ...object('Pod', 'web-1'),
  spec,
  status,
})
const container = (one: object) => ({ containerStatuses: [{ name: 'web', restartCount: 0, ...one }] })
const waiting = (reason: string, message = 'words') => container({ state: { waiting: { reason, message } } })
const warning = (reason: string, message: string, more: Partial<Warning> = {}): Warning => ({
  reason,
  message,
  count: 1,
  time: NOW - 1000,
  about: { kind: 'Pod', name: 'web-1', uid: 'u' },
  ...more,
})
const probed = { containers: [{ name: 'web', readinessProbe: { periodSeconds: 2, failureThreshold: 2 } }] }
const running = (seconds: number) => ({ ready: false, state: { running: { startedAt: ago(seconds) } } })
const unscheduled = (seconds: number) => ({
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no room',
      lastTransitionTime: ago(seconds),
    },
  ],
})

describe('podProblems', () => {
  test.each<[string, KubeObject, readonly Warning[], readonly string[]]>([
    ['ErrImagePull', pod(waiting('ErrImagePull')), [], ['image-pull words']],
    ['InvalidImageName', pod(waiting('InvalidImageName', '')), [], ['image-pull InvalidImageName']],
    ['ErrImageNeverPull', pod(waiting('ErrImageNeverPull')), [], ['image-pull words']],
    [
      'a back-off, in the words of the event before it',
      pod(waiting('ImagePullBackOff', 'Back-off pulling image')),
      [warning('Failed', 'Failed to pull image: not found')],
      ['image-pull Failed to pull image: not found'],
    ],
    ['CreateContainerConfigError', pod(waiting('CreateContainerConfigError')), [], ['configuration words']],
    [
      'a variable that waits for the kubelet',
      pod(waiting('CreateContainerConfigError', 'failed to sync configmap cache: timed out waiting for the condition')),
      [],
      [],
    ],
    ['RunContainerError', pod(waiting('RunContainerError')), [], ['configuration words']],
    ['a container that is made', pod(waiting('ContainerCreating')), [], []],
    [
      'a crash loop',
      pod(container({ restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } })),
      [],
      ['crash-loop back-off'],
    ],
    [
      'the first crash, which a dependency may have caused',
      pod(container({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } })),
      [],
      [],
    ],
    [
      'an init container',
      pod({
        initContainerStatuses: [
          { name: 'init', restartCount: 0, state: { waiting: { reason: 'ErrImagePull', message: 'words' } } },
        ],
      }),
      [],
      ['image-pull words'],
    ],
    [
      'a health check that failed long enough',
      pod(container(running(60)), probed),
      [warning('Unhealthy', 'teapot')],
      ['unhealthy teapot'],
    ],
    ['a health check that may fail yet', pod(container(running(20)), probed), [warning('Unhealthy', 'teapot')], []],
    [
      'a health check of the run before',
      pod(container(running(60)), probed),
      [warning('Unhealthy', 'old', { time: NOW - 90_000 })],
      [],
    ],
    ['no health check', pod(container(running(600))), [warning('Unhealthy', 'teapot')], []],
    ['no node', pod(unscheduled(20)), [], ['unschedulable no room']],
    ['no node just now', pod(unscheduled(5)), [], []],
    [
      'a mount that fails again',
      pod({ phase: 'Pending' }),
      [warning('FailedMount', 'no disk', { count: 2 })],
      ['configuration no disk'],
    ],
    [
      'a mount of what is not there',
      pod({ phase: 'Pending' }),
      [warning('FailedMount', 'secret "a" not found')],
      ['configuration secret "a" not found'],
    ],
    [
      'a Secret of which a busy node has no copy yet',
      pod({ phase: 'Pending' }),
      [
        warning('FailedMount', 'MountVolume.SetUp failed: failed to sync secret cache: timed out waiting', {
          count: 3,
        }),
        warning('FailedMount', 'MountVolume.SetUp failed: object "team"/"code" not registered', { count: 3 }),
      ],
      [],
    ],
    ['a mount that failed once', pod({ phase: 'Pending' }), [warning('FailedMount', 'no disk')], []],
    ['a mount that failed before', pod({ phase: 'Running' }), [warning('FailedMount', 'no disk', { count: 9 })], []],
  ])('podProblems judges %s', (_, of, warnings, problems) => {
    expect(podProblems(of, warnings, NOW).map(({ code, detail }) => `${code} ${detail}`)).toEqual(problems)
    const ending = { ...of, metadata: { ...of.metadata, deletionTimestamp: ago(1) } }
    expect(podProblems(ending, warnings, NOW)).toEqual([])
  })

  test('the problem of a crash loop has its exit code and reason', () => {
    const terminated = { exitCode: 137, reason: 'OOMKilled' }
    const state = { waiting: { reason: 'CrashLoopBackOff' } }
    const of = pod(container({ restartCount: 3, state, lastState: { terminated } }))
    expect(podProblems(of, [], NOW)[0]?.ends).toEqual({ count: 4, exitCode: 137, reason: 'OOMKilled' })
  })

  test.each([
    ['Running', true],
    ['Succeeded', true],
    ['Pending', false],
    ['Failed', false],
  ])('hasStarted of a Pod that is %s is %s', (phase, started) => {
    expect(hasStarted(pod({ phase }))).toBe(started)
  })
})

describe('workloadProblems and claimProblems', () => {
  test.each([
    ['exceeded quota: none', true],
    ['pods "web" is forbidden: violates PodSecurity "restricted"', true],
    ['admission webhook "x" denied the request', true],
    ['the server is on its way up', false],
  ])('workloadProblems reports "%s" as refused: %s', (message, isRefused) => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message }]
    const found = workloadProblems(made('Deployment', {}, { conditions }), [], [])
    expect(found.map(({ code }) => code)).toEqual(isRefused ? ['refused'] : [])
    const told = workloadProblems(made('Job', {}, {}), [warning('FailedCreate', message)], [])
    expect(told.length).toBe(isRefused ? 1 : 0)
  })

  test.each([
    ['Pending', [], 0],
    ['Pending', [warning('ProvisioningFailed', 'no class')], 1],
    ['Bound', [warning('ProvisioningFailed', 'no class')], 0],
    ['Lost', [], 1],
  ] as const)('claimProblems judges a claim that is %s with %j', (phase, warnings, count) => {
    expect(claimProblems(made('PersistentVolumeClaim', {}, { phase }), warnings, NOW)).toHaveLength(count)
  })
})
