import { describe, expect, test } from 'vitest'
import type { Change, Cluster, KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { ProgramError } from '../../../../compiler/diagnostics/user-error.ts'
import { followRun } from '../../../../containers/run/follow-run.ts'
import { NAMESPACE, never, newCluster, object, ref } from '../../../support/objects/deploying.ts'
import { settle } from '../../../support/objects/fake-clock.ts'

/** Follows a run whose container has these states one after another. */
async function follow(...states: readonly object[]): Promise<number> {
  const pods = states.map(
    (state): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-run-x', namespace: 'shop' },
      ...{ status: { phase: 'Running', containerStatuses: [{ name: 'web', restartCount: 0, state }] } },
    }),
  )
  const cluster: Pick<Cluster, 'watch' | 'list'> = {
    list: async () => [],
    async *watch() {
      for (const object of pods) yield { type: 'Changed', object } as Change
    },
  }
  const run = { cluster: cluster as Cluster, namespace: 'shop', job: 'web-run', container: 'web', startTimeout: 1000 }
  return followRun({ ...run, now: () => 0 }, async () => {}, never)
}

const ended = (reason: string, message: string) => ({ terminated: { exitCode: 128, reason, message } })

test.each([
  ['StartError', 'exec: "nothing": executable file not found in $PATH: unknown', 127],
  ['StartError', 'exec: "/nothing": stat /nothing: no such file or directory: unknown', 127],
  ['StartError', 'exec: "/etc/passwd": permission denied: unknown', 126],
  ['StartError', 'exec: "/etc": is a directory: unknown', 126],
  ['ContainerCannotRun', 'executable file `nothing` not found in $PATH: No such file or directory', 127],
  ['RunContainerError', 'exec /run.sh: exec format error', 126],
])('a run that ends with %s because of %s has the exit status of a shell', async (reason, message, exitStatus) => {
  const error = await follow(ended(reason, message)).catch(error => error)
  expect(error).toBeInstanceOf(ProgramError)
  expect(error).toMatchObject({ exitStatus, notes: [message] })
})

test('a container that is not created because its program does not exist ends a run', async () => {
  const message = 'container create failed: executable file `nothing` not found in $PATH: No such file or directory'
  const waiting = { waiting: { reason: 'CreateContainerError', message } }
  await expect(follow(waiting)).rejects.toMatchObject({ exitStatus: 127 })
})

test('a container that cannot start for another reason is no missing program', async () => {
  const message = 'chdir to cwd ("/srv") set in config.json failed: no such file or directory'
  const error = await follow(ended('StartError', message)).catch(error => error)
  expect(error).not.toBeInstanceOf(ProgramError)
  expect(error).toMatchObject({ message: '`web-run` cannot start: its program cannot be executed', notes: [message] })
})

test('a run that has ended has the exit status of its container', async () => {
  expect(await follow({ running: {} }, { terminated: { exitCode: 5, reason: 'Error' } })).toBe(5)
})

const running: Change = {
  type: 'Changed',
  object: {
    ...object('Pod', 'web-run-x'),
    status: { containerStatuses: [{ name: 'web', restartCount: 0, state: { running: {} } }] },
  },
}
const [restarted, listed] = [{ type: 'Restarted' }, { type: 'Listed' }] as const

test.each<[name: string, changes: readonly Change[], expected: RegExp]>([
  ['is deleted', [restarted, running, listed, { ...running, type: 'Deleted' }], /was deleted/],
  ['is missing when the watch starts over', [restarted, running, listed, restarted, listed], /was deleted/],
  ['is there when the watch starts over', [restarted, running, listed, restarted, running, listed], /watch ended/],
  ['is not created yet', [restarted, listed, restarted, listed], /watch ended/],
])('a run whose Pod %s ends only if the Pod was deleted', async (_, changes, expected) => {
  const cluster: Pick<Cluster, 'watch' | 'list'> = {
    list: async () => [],
    async *watch() {
      yield* changes
      throw new Error('watch ended')
    },
  }
  const run = { cluster: cluster as Cluster, namespace: NAMESPACE, job: 'web-run', container: 'web' }
  const followed = followRun({ ...run, startTimeout: 1000, now: () => 0 }, async () => {}, never)
  await expect(followed).rejects.toThrow(expected)
})

describe('a run whose Pod has not started', () => {
  const NOW = Date.parse('2026-01-01T12:00:00Z')
  const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()
  const DETAIL = '0/4 nodes are available: 4 Insufficient cpu.'
  const noNode = {
    conditions: [{ ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }, message: DETAIL }].map(
      one => ({ ...one, lastTransitionTime: ago(60) }),
    ),
  }
  const backOff = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "nginx"' } }
  const pulls = { containerStatuses: [{ name: 'web', restartCount: 0, state: backOff }] }

  /** Follows a run whose Pod has this status and these events, and returns the error; `waits` if there is none yet. */
  async function followPending(status: object, events: readonly object[], startTimeout = 300_000): Promise<unknown> {
    const cluster = newCluster()
    const pod = object('Pod', 'web-run-x', { spec: { containers: [{ name: 'web' }] } })
    await cluster.create({ ...pod, metadata: { ...pod.metadata, labels: { 'job-name': 'web-run' } } })
    const { uid } = cluster.act(ref(pod), live => ({ ...live, status: { phase: 'Pending', ...status } })).metadata
    for (const [index, event] of events.entries())
      await cluster.create({
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `event-${index}`, namespace: NAMESPACE } },
        ...{ involvedObject: { kind: 'Pod', name: 'web-run-x', uid }, lastTimestamp: ago(5), ...event },
      })
    const run = { cluster, namespace: NAMESPACE, job: 'web-run', container: 'web', startTimeout, now: () => NOW }
    const end = new AbortController()
    const ended = followRun(run, async () => {}, end.signal).catch(error => error)
    const found = await Promise.race([ended, settle().then(() => 'waits')])
    end.abort()
    await ended
    return found
  }

  const scaleUp = { type: 'Normal', reason: 'TriggeredScaleUp', message: 'pod triggered scale-up' }
  const failed = (message: string) => ({ type: 'Warning', reason: 'Failed', message })
  const pullMessage = 'Failed to pull image "nginx": 429 Too Many Requests'
  const noSuchImage = 'Failed to pull image "nginx": not found'

  test.each([
    ['waits for a node that an autoscaler adds', noNode, [scaleUp], 'waits'],
    ['waits for a registry that limits the number of pulls', pulls, [failed(pullMessage)], 'waits'],
    ['ends if no node comes', noNode, [], { notes: [DETAIL] }],
    [
      'ends with the reason of the registry',
      pulls,
      [failed(noSuchImage)],
      { notes: [expect.stringMatching('not found')] },
    ],
  ])('%s', async (_, status, events, expected) => {
    const found = await followPending(status, events)
    if (typeof expected === 'string') expect(found).toBe(expected)
    else expect(found).toMatchObject(expected)
  })

  test('waits even if the timeout is longer than timers can be', async () => {
    expect(await followPending({}, [], 2 ** 31)).toBe('waits')
  })
})
