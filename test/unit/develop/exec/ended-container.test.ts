import { expect, test } from 'vitest'
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

/** A cluster that gives these in turn, then the last one again and again. */
const telling = (...pods: KubeObject[]) => ({
  cluster: { get: async () => (pods.length > 1 ? pods.shift() : pods[0]) },
  pod: before,
  container: 'api',
})
const nobodyKnows = () => undefined

test('a command that ended by itself is not asked about', async () => {
  expect(await endedContainer(telling(), 1, nobodyKnows, signal)).toBe(undefined)
})

test('a command that was killed with its container: the kubelet tells of that later', async () => {
  const after = podWith({ terminated: { exitCode: 137, reason: 'Error', containerID: 'a' } })
  expect(await endedContainer(telling(before, before, after), 137, nobodyKnows, signal)).toBe(
    'container `api` has ended (Error)',
  )
})

test('a command that was ended with its Pod, of whose end others know before the kubelet tells of the container', async () => {
  let asked = 0
  const podEnd = () => (++asked > 1 ? 'its Pod was evicted' : undefined)
  expect(await endedContainer(telling(before), 143, podEnd, signal)).toBe('its Pod was evicted')
})

test('a command that was ended by a signal, and its container goes on', async () => {
  expect(await endedContainer(telling(before), 130, nobodyKnows, signal)).toBe(undefined)
})
