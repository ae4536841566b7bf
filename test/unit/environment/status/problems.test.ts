import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { toWarning } from '../../../../environment/status/events.ts'
import { podProblems } from '../../../../environment/status/problems.ts'

const pod = (waiting: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', uid: '1' },
  status: { containerStatuses: [{ name: 'web', restartCount: 0, state: { waiting } }] },
})

const DETAIL = 'docker.io/library/redis:77: not found'
const PULL =
  'failed to pull and unpack image "docker.io/library/redis:77": failed to resolve reference "docker.io/library/redis:77": '

test('an image that cannot be pulled is reported in the words of the registry', () => {
  const message = `rpc error: code = NotFound desc = ${PULL}${DETAIL}`
  const warning = {
    reason: 'Failed',
    message: `Failed to pull image "redis:77": ${message}`,
    count: 1,
    time: 0,
    about: { kind: 'Pod', name: 'web-1', uid: '1' },
  }
  expect(podProblems(pod({ reason: 'ErrImagePull', message }), [], 0)).toMatchObject([
    { code: 'image-pull', where: 'pod/web-1', container: 'web', detail: DETAIL },
  ])
  const backOff = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "redis:77"' }
  expect(podProblems(pod(backOff), [warning], 0)).toMatchObject([{ code: 'image-pull', detail: DETAIL }])
})

test('a message whose prefix is not a known layer is reported completely', () => {
  const message = 'failed to verify signature: nobody has signed it'
  expect(podProblems(pod({ reason: 'ErrImagePull', message }), [], 0)).toMatchObject([{ detail: message }])
})

const event = (reason: string, message: string, fieldPath?: string) =>
  toWarning({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'event' },
    ...{ reason, message, lastTimestamp: new Date(2000).toISOString() },
    ...{ involvedObject: { kind: 'Pod', name: 'web-1', uid: '1', fieldPath } },
  })

test.each([
  ['spec.containers{api}', ['api']],
  ['spec.containers{web}', ['web']],
  ['spec.initContainers{sidecar}', []],
  [undefined, ['api', 'web']],
])('a failed health check of %s counts for the containers %j', (fieldPath, expected) => {
  const startedAt = new Date(1000).toISOString()
  const names = ['api', 'web']
  const shared: KubeObject = {
    ...pod({}),
    spec: { containers: names.map(name => ({ name, readinessProbe: { exec: { command: ['curl'] } } })) },
    status: { containerStatuses: names.map(name => ({ name, restartCount: 0, state: { running: { startedAt } } })) },
  }
  const warning = event('Unhealthy', 'Readiness probe failed: sh: curl: not found', fieldPath)
  expect(podProblems(shared, [warning], 3000).map(({ container }) => container)).toEqual(expected)
})

test('the error of a registry is reported for the container whose image it is about', () => {
  const backOff = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' }
  const status = {
    containerStatuses: ['api', 'web'].map(name => ({ name, restartCount: 0, state: { waiting: backOff } })),
  }
  const warnings = [
    event('Failed', 'Failed to pull image "web": not found', 'spec.containers{web}'),
    event('Failed', 'Failed to pull image "api": access denied', 'spec.containers{api}'),
  ]
  expect(podProblems({ ...pod({}), status }, warnings, 0)).toMatchObject([
    { container: 'api', detail: 'access denied' },
    { container: 'web', detail: 'not found' },
  ])
})
