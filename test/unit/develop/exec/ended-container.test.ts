import { expect, onTestFinished, test, vi } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { endedContainer } from '../../../../develop/exec/ended-container.ts'

const podWith = (state: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'api-dev-1', namespace: 'shop' },
  status: { containerStatuses: [{ name: 'api', containerID: 'a', state }] },
})
const before = podWith({ running: {} })
const signal = new AbortController().signal

/** Returns arguments whose cluster returns these Pods in turn, and then the last one repeatedly. */
const telling = (...pods: KubeObject[]) => ({
  cluster: { get: async () => (pods.length > 1 ? pods.shift() : pods[0]) },
  pod: before,
  container: 'api',
})
const nobodyKnows = () => undefined

test('endedContainer returns undefined for a command that ended by itself', async () => {
  expect(await endedContainer(telling(), 1, nobodyKnows, signal)).toBe(undefined)
})

test('endedContainer waits until the kubelet reports the end of a killed container', async () => {
  const after = podWith({ terminated: { exitCode: 137, reason: 'Error', containerID: 'a' } })
  expect(await endedContainer(telling(before, before, after), 137, nobodyKnows, signal)).toBe(
    'container `api` has ended (Error)',
  )
})

test('endedContainer reports the end of the Pod before the kubelet reports that of the container', async () => {
  let asked = 0
  const podEnd = () => (++asked > 1 ? 'its Pod was evicted' : undefined)
  expect(await endedContainer(telling(before), 143, podEnd, signal)).toBe('its Pod was evicted')
})

test('endedContainer returns undefined for a command that a signal ended in a running container', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = endedContainer(telling(before), 130, nobodyKnows, signal)
  await vi.advanceTimersByTimeAsync(2500)
  expect(await ended).toBe(undefined)
})
