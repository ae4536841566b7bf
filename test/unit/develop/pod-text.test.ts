import { expect, test } from 'vitest'
import { AGENT_CONTAINER } from '../../../constructs/mirror/names.ts'
import { activityText } from '../../../develop/mirror/mirror-pod.ts'

const backOff = { waiting: { reason: 'CrashLoopBackOff' } }

const pod = (agent: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'b' },
  status: { phase: 'Running', initContainerStatuses: [{ name: AGENT_CONTAINER, ...agent }] },
})

const CRASH = `node:internal/fs/utils:356
    throw err;
    ^

Error: EACCES: permission denied, scandir '/devctl/volume/src'
    at Object.readdirSync (node:fs:1507:26)

Node.js v22.0.0
`

test.each<readonly [string, object, string]>([
  ['runs', { state: { running: {} }, lastState: { terminated: { exitCode: 1, message: CRASH } } }, 'runs'],
  ['was ended', { state: backOff, lastState: { terminated: { exitCode: 0 } } }, 'runs'],
  [
    'has crashed',
    { state: backOff, lastState: { terminated: { exitCode: 1, message: CRASH } } },
    "has no agent: it ended with exit code 1: Error: EACCES: permission denied, scandir '/devctl/volume/src'",
  ],
  [
    'has crashed a moment ago',
    { state: { terminated: { exitCode: 2, message: 'not this volume\n' } } },
    'has no agent: it ended with exit code 2: not this volume',
  ],
  ['was killed', { state: { terminated: { exitCode: 137 } } }, 'has no agent: it ended with exit code 137'],
  [
    'needs more memory',
    { state: backOff, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
    'has no agent: it ran out of memory; raise `initContainer.resources` of the development container',
  ],
])('activityText describes a Pod whose agent %s', (_, agent, text) => {
  expect(activityText(pod(agent), [])).toBe(text)
})
