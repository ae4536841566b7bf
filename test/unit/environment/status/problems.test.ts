import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
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
