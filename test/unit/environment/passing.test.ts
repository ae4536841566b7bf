import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { Warning } from '../../../environment/status/events.ts'
import { claimProblems, podProblems } from '../../../environment/status/problems.ts'
import { object } from '../../support/objects/deploying.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

const warning = (reason: string, message: string, seconds = 1, more: Partial<Warning> = {}): Warning => ({
  ...{ reason, message, count: 1, time: NOW - seconds * 1000 },
  about: { kind: 'Pod', name: 'web-1', uid: 'u' },
  ...more,
})

const ofJob = {
  ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'j', controller: true }],
}

const pod = (status: object, spec: object = {}, metadata: object = {}): KubeObject => {
  const plain = object('Pod', 'web-1')
  return { ...plain, metadata: { ...plain.metadata, ...metadata }, spec, status }
}

/** Returns the codes of the problems; `!` marks those that end a wait. */
const verdict = (of: KubeObject, warnings: readonly Warning[] = []): readonly string[] =>
  podProblems(of, warnings, NOW).map(({ code, isPassing }) => `${isPassing ? '' : '!'}${code}`)

describe('a pull', () => {
  const failed = (message: string, reason = 'ErrImagePull') =>
    pod({ containerStatuses: [{ name: 'web', restartCount: 0, state: { waiting: { reason, message } } }] })
  const IMAGE =
    'failed to pull and unpack image "reg.example.com/shop/app:500": failed to resolve reference "reg.example.com/shop/app:500": '

  test.each([
    `${IMAGE}unexpected status from HEAD request to https://reg.example.com/v2/shop/app/manifests/500: 429 Too Many Requests`,
    `${IMAGE}unexpected status from HEAD request to https://reg.example.com/v2/shop/app/manifests/500: 503 Service Unavailable`,
    `${IMAGE}unexpected status from GET request to https://reg.example.com/v2/shop/app/manifests/500: 522 `,
    `${IMAGE}failed to do request: Head "https://reg.example.com/v2/shop/app/manifests/500": dial tcp 10.0.0.1:443: i/o timeout`,
    `${IMAGE}failed to do request: Head "https://reg.example.com/v2/": net/http: TLS handshake timeout`,
    `${IMAGE}failed to do request: Head "https://reg.example.com/v2/": dial tcp: lookup reg.example.com on 10.0.0.2:53: server misbehaving`,
    `${IMAGE}failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.example.com/token: 502 Bad Gateway`,
    'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    'rpc error: code = Canceled desc = failed to pull and unpack image "a:1": context canceled',
    'Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit',
    'Error response from daemon: received unexpected HTTP status: 500 Internal Server Error',
    'Error response from daemon: Get "https://reg.example.com/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
    'initializing source docker://reg.example.com/app:1: reading manifest 1 in reg.example.com/app: received unexpected HTTP status: 504 Gateway Timeout',
    'failed to copy: httpReadSeeker: failed open: unexpected status code https://reg.example.com/blobs/1: 500 Internal Server Error - Server message: unknown',
    'failed to copy: read tcp 10.0.0.1:5000->10.0.0.2:443: read: connection reset by peer',
    'failed to copy: unexpected EOF',
    'pull QPS exceeded',
    'image pull failed for reg.example.com/app:1 because the registry is unavailable',
  ])('a failed pull that may succeed later ends no wait: %s', message => {
    expect(verdict(failed(message))).toEqual(['image-pull'])
    const back = failed('Back-off pulling image "reg.example.com/shop/app:500"', 'ImagePullBackOff')
    expect(verdict(back, [warning('Failed', `Failed to pull image "a": ${message}`)])).toEqual(['image-pull'])
    const whole = failed(`Back-off pulling image "a": ErrImagePull: ${message}`, 'ImagePullBackOff')
    expect(verdict(whole)).toEqual(['image-pull'])
  })

  test.each([
    `${IMAGE}reg.example.com/shop/app:500: not found`,
    `${IMAGE}pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
    `${IMAGE}failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://auth.docker.io/token?scope=repository%3Aa%3Apull: 401 Unauthorized`,
    `${IMAGE}unexpected status from HEAD request to https://reg.example.com/v2/shop/app/manifests/500: 403 Forbidden`,
    `${IMAGE}failed to do request: Head "https://reg.example.com/v2/": dial tcp: lookup reg.example.com: no such host`,
    `${IMAGE}failed to do request: Head "https://reg.example.com/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    `${IMAGE}failed to do request: Head "http://localhost:5000/v2/": dial tcp [::1]:5000: connect: connection refused`,
    'manifest for a:1 not found: manifest unknown: manifest unknown',
    'no match for platform in manifest: not found',
  ])('a failed pull that cannot succeed ends the wait: %s', message => {
    expect(verdict(failed(message))).toEqual(['!image-pull'])
  })
})

describe('a Pod without a node', () => {
  const unscheduled = (
    seconds: number,
    message = '0/3 nodes are available: 3 Insufficient memory.',
    more: object = {},
  ) =>
    pod({
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: ago(seconds) },
      ],
      ...more,
    })
  const UP = 'pod triggered scale-up: [{workers 1->2 (max: 5)}]'
  const NO = "pod didn't trigger scale-up: 1 max node group size reached"

  test.each<[string, KubeObject, readonly Warning[], readonly string[]]>([
    ['for five seconds', unscheduled(5), [], []],
    ['for as long as an autoscaler may think', unscheduled(20), [], ['unschedulable']],
    ['without a word of an autoscaler', unscheduled(40), [], ['!unschedulable']],
    ['for which a node comes', unscheduled(240), [warning('TriggeredScaleUp', UP, 200)], ['unschedulable']],
    [
      'for which Karpenter has chosen one',
      unscheduled(240),
      [warning('Nominated', 'Pod should schedule on: nodeclaim/default-x', 200)],
      ['unschedulable'],
    ],
    ['for which no node comes', unscheduled(20), [warning('NotTriggerScaleUp', NO, 5)], ['!unschedulable']],
    [
      'for which one comes after all',
      unscheduled(60),
      [warning('NotTriggerScaleUp', NO, 50), warning('TriggeredScaleUp', UP, 5)],
      ['unschedulable'],
    ],
    [
      'for which one did not come',
      unscheduled(240),
      [warning('TriggeredScaleUp', UP, 200), warning('NotTriggerScaleUp', NO, 5)],
      ['!unschedulable'],
    ],
    [
      'for which others make room',
      unscheduled(240, undefined, { nominatedNodeName: 'a' }),
      [warning('NotTriggerScaleUp', NO, 5)],
      ['unschedulable'],
    ],
    [
      'whose volume is being made',
      unscheduled(240, '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.'),
      [warning('NotTriggerScaleUp', NO, 5)],
      ['unschedulable'],
    ],
  ])('podProblems judges a Pod without a node %s', (_, of, warnings, expected) => {
    expect(verdict(of, warnings)).toEqual(expected)
  })

  test('the problem of a Pod without a node contains the words of the autoscaler', () => {
    const [problem] = podProblems(unscheduled(60), [warning('TriggeredScaleUp', UP)], NOW)
    expect(problem).toMatchObject({ because: UP })
  })
})

describe('a mount', () => {
  const pending = (more: object = {}) => pod({ phase: 'Pending', ...more })
  const again = { count: 5 }
  const ATTACH = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0'
  const SLOW =
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition'
  const MISSING = 'MountVolume.SetUp failed for volume "token" : secret "token" not found'
  const initRan = (seconds: number) => ({
    initContainerStatuses: [
      {
        name: 'hook',
        restartCount: 0,
        state: { terminated: { exitCode: 0, startedAt: ago(seconds), finishedAt: ago(1) } },
      },
    ],
  })

  test.each<[string, KubeObject, readonly Warning[], readonly string[]]>([
    [
      'of a disk that another node has',
      pending(),
      [warning('FailedAttachVolume', ATTACH, 1, again)],
      ['configuration'],
    ],
    [
      'of a disk that the cloud attaches',
      pending(),
      [
        warning(
          'FailedAttachVolume',
          'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = still detaching',
          1,
          again,
        ),
      ],
      ['configuration'],
    ],
    ['that takes long', pending(), [warning('FailedMount', SLOW, 1, again)], ['configuration']],
    [
      'that a driver is busy with',
      pending(),
      [
        warning(
          'FailedMount',
          'MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Aborted desc = an operation with the given Volume ID already exists',
          1,
          again,
        ),
      ],
      ['configuration'],
    ],
    ['of what does not exist', pending(), [warning('FailedMount', MISSING)], ['!configuration']],
    [
      'of what does not exist, said before it took long',
      pending(),
      [warning('FailedMount', MISSING, 9), warning('FailedMount', SLOW, 1, again)],
      ['!configuration'],
    ],
    [
      'that failed before an init container started',
      pending(initRan(60)),
      [warning('FailedMount', MISSING, 90, again)],
      [],
    ],
    ['in the second in which it started', pending(initRan(60)), [warning('FailedMount', MISSING, 60, again)], []],
    [
      'that fails after one has started',
      pending(initRan(60)),
      [warning('FailedMount', MISSING, 30, again)],
      ['!configuration'],
    ],
  ])('podProblems judges a failed mount %s', (_, of, warnings, expected) => {
    expect(verdict(of, warnings)).toEqual(expected)
  })
})

describe('an attempt', () => {
  const crashed = (name: string) => ({
    name,
    restartCount: 3,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
    lastState: { terminated: { exitCode: 1, startedAt: ago(40), finishedAt: ago(39) } },
  })
  const unable = (name: string) => ({
    name,
    restartCount: 1,
    state: {
      waiting: {
        reason: 'RunContainerError',
        message: 'exec: "/data/start": stat /data/start: no such file or directory',
      },
    },
  })
  const unwell = { name: 'web', restartCount: 0, ready: false, state: { running: { startedAt: ago(120) } } }
  const probed = { containers: [{ name: 'web', readinessProbe: { exec: { command: ['false'] } } }] }
  const hook = { initContainers: [{ name: 'hook' }], containers: [{ name: 'web' }] }
  const sidecar = { initContainers: [{ name: 'hook', restartPolicy: 'Always' }], containers: [{ name: 'web' }] }

  test.each<[string, KubeObject, readonly string[]]>([
    ['of a server', pod({ containerStatuses: [crashed('web')] }), ['!crash-loop']],
    ['of a Job', pod({ containerStatuses: [crashed('web')] }, {}, ofJob), ['crash-loop']],
    ['of a Job whose program comes later', pod({ containerStatuses: [unable('web')] }, {}, ofJob), ['configuration']],
    ['of a server whose program is missing', pod({ containerStatuses: [unable('web')] }), ['!configuration']],
    ['of a hook', pod({ initContainerStatuses: [crashed('hook')] }, hook), ['crash-loop']],
    ['of a sidecar', pod({ initContainerStatuses: [crashed('hook')] }, sidecar), ['!crash-loop']],
    ['of a Job that is unwell', pod({ containerStatuses: [unwell] }, probed, ofJob), ['unhealthy']],
    ['of a server that is unwell', pod({ containerStatuses: [unwell] }, probed), ['!unhealthy']],
  ])('podProblems judges a failed attempt %s', (_, of, expected) => {
    expect(verdict(of, [warning('Unhealthy', 'Readiness probe failed: no')])).toEqual(expected)
  })

  test('attemptedAt is the start of an attempt, or its end if it could not start', () => {
    const at = (terminated: object) => {
      const one = { ...crashed('web'), lastState: { terminated } }
      return podProblems(pod({ containerStatuses: [one] }), [], NOW)[0]?.attemptedAt
    }
    expect(at({ exitCode: 1, startedAt: ago(40), finishedAt: ago(39) })).toBe(NOW - 40_000)
    expect(at({ exitCode: 128, startedAt: '1970-01-01T00:00:00Z', finishedAt: ago(39) })).toBe(NOW - 39_000)
    expect(at({ exitCode: 1 })).toBe(NOW)
  })
})

test.each([
  [
    'failed to provision volume with StorageClass "fast": rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    true,
  ],
  [
    'failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = no space in zone',
    true,
  ],
  ['storageclass.storage.k8s.io "fast" not found', undefined],
  ['failed to provision volume with StorageClass "fast": rpc error: code = InvalidArgument desc = size', undefined],
])('claimProblems decides whether provisioning may still succeed: %s', (message, isPassing) => {
  const claim = {
    ...object('PersistentVolumeClaim', 'data'),
    spec: { storageClassName: 'fast' },
    status: { phase: 'Pending' },
  }
  const [problem] = claimProblems(claim, [warning('ProvisioningFailed', message)], NOW)
  expect(problem?.isPassing).toBe(isPassing)
})

test('a claim without a class is a problem after a while, and one with a class is not', () => {
  const claim = (spec: object, seconds: number): KubeObject => {
    const plain = object('PersistentVolumeClaim', 'data')
    return {
      ...plain,
      metadata: { ...plain.metadata, creationTimestamp: ago(seconds) },
      spec,
      status: { phase: 'Pending' },
    }
  }
  expect(claimProblems(claim({}, 30), [], NOW)).toMatchObject([
    { code: 'claim', detail: expect.stringContaining('no storage class is set') },
  ])
  expect(claimProblems(claim({}, 5), [], NOW)).toEqual([])
  expect(claimProblems(claim({ storageClassName: 'fast' }, 30), [], NOW)).toEqual([])
})
