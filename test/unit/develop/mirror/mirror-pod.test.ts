import { expect, test } from 'vitest'
import { AGENT_CONTAINER, TOOLS_VOLUME } from '../../../../constructs/mirror/names.ts'
import { agentOf } from '../../../../develop/mirror/mirror-pod.ts'

const TOOLS = { volumeMounts: [{ name: TOOLS_VOLUME }] }
const podWith = (spec?: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'api-dev-1' }, spec })

test.each([
  [
    'a sidecar',
    { initContainers: [{ name: AGENT_CONTAINER }], containers: [{ name: 'api', ...TOOLS }] },
    AGENT_CONTAINER,
  ],
  [
    'the container of the application in hybrid mode',
    { containers: [{ name: 'log' }, { name: 'api', ...TOOLS }] },
    'api',
  ],
  ['unknown in a Pod without a spec', undefined, AGENT_CONTAINER],
])('agentOf returns the container with the agent, which is %s', (_, spec, expected) => {
  expect(agentOf(podWith(spec))).toBe(expected)
})
