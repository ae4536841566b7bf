import { expect, test } from 'vitest'
import { mayRun } from '../../../develop/mirror/mirror-pod.ts'

const done = { terminated: { exitCode: 0 } }
const running = { running: {} }
const waiting = { waiting: { reason: 'PodInitializing' } }

const pod = (init: readonly object[], containers: readonly object[] = []) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'b' },
  status: { initContainerStatuses: init, containerStatuses: containers },
})

test.each<readonly [string, ReturnType<typeof pod>, boolean]>([
  ['a Pod that nobody has started', pod([]), false],
  ['the first init container runs', pod([{ name: 'tools', state: running }]), false],
  ['an init container has failed', pod([{ name: 'tools', state: { terminated: { exitCode: 1 } } }]), false],
  ['all are over', pod([{ name: 'tools', state: done }], [{ name: 'agent', state: waiting }]), true],
  [
    'one is not',
    pod([
      { name: 'tools', state: done },
      { name: 'migrate', state: waiting },
    ]),
    false,
  ],
  [
    'those before a sidecar are over',
    pod([
      { name: 'tools', state: done },
      { name: 'agent', state: waiting },
    ]),
    true,
  ],
  ['a sidecar before it has started', pod([{ name: 'proxy', started: true, state: running }]), true],
  ['a sidecar before it has not', pod([{ name: 'proxy', started: false, state: running }]), false],
  ['it runs', pod([], [{ name: 'agent', state: running }]), true],
])('mayRun decides whether all earlier containers have ended or started: %s', (_, one, expected) => {
  expect(mayRun(one, 'agent')).toBe(expected)
})
