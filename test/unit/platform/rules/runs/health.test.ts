import { expect, test } from 'vitest'
import { type Health, healthProblems } from '../../../../../platform/rules/runs/health.ts'

const GOOD: Health = {
  leader: 'platform-7d49-x2k4f',
  workloads: { 'deployment/platform': { ready: 1, wanted: 1 } },
  failing: [],
  failed: 0,
  hasRunner: true,
  running: 0,
  most: 10,
}
const MINUTE = 60_000

test.each<readonly [string, Partial<Health>, readonly string[]]>([
  ['nothing is wrong', {}, []],
  ['nobody leads', { leader: undefined }, ['no replica leads: runs do not start, and idle namespaces stay awake']],
  [
    'a replica is not ready',
    { workloads: { 'deployment/platform': { ready: 1, wanted: 2 } } },
    ['`deployment/platform`: 1 of 2 ready'],
  ],
  ['more are ready than wanted, for a moment', { workloads: { a: { ready: 2, wanted: 1 } } }, []],
  ['it has no replicas by wish', { workloads: { a: { ready: 0, wanted: 0 } } }, []],
  [
    'the builders are gone',
    { workloads: { 'statefulset/builder': undefined } },
    ['`statefulset/builder` no longer exists'],
  ],
  ['runs have no image', { hasRunner: false }, ['there is no image for runs, so no run can start']],
  ['a run has just come', { waiting: MINUTE - 1, startable: MINUTE - 1 }, []],
  [
    'a run should have begun',
    { waiting: 3 * MINUTE, startable: 3 * MINUTE },
    ['a run has been waiting for 3 min, although there is room for it'],
  ],
  ['a run waits for others of its user or environment', { waiting: 11 * MINUTE }, []],
  [
    'a run waits for others of its user, and a later one should have begun',
    { waiting: 11 * MINUTE, startable: 3 * MINUTE },
    ['a run has been waiting for 3 min, although there is room for it'],
  ],
  ['a run waits for others', { waiting: 3 * MINUTE, running: 10 }, []],
  [
    'a run waits long for others',
    { waiting: 11 * MINUTE, running: 10 },
    ['a run has been waiting for 11 min: 10 are running, which is the limit'],
  ],
  // One reason is enough.
  [
    'nobody starts runs',
    { leader: undefined, waiting: 3 * MINUTE, startable: 3 * MINUTE },
    ['no replica leads: runs do not start, and idle namespaces stay awake'],
  ],
  ['work of the leader failed for a moment', { failing: [{ task: 'runs', message: 'no answer', times: 2 }] }, []],
  [
    'work of the leader fails again and again',
    { failing: [{ task: 'runs', message: 'no answer', times: 3 }] },
    ['the server repeatedly fails at runs: no answer'],
  ],
  ['a namespace stays', { failed: 1 }, ['a namespace could not be deleted']],
  ['namespaces stay', { failed: 3 }, ['3 namespaces could not be deleted']],
])('healthProblems handles the case: %s', (_, change, wanted) => {
  expect(healthProblems({ ...GOOD, ...change }).map(({ message }) => message)).toEqual(wanted)
})
