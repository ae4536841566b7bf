import { expect, test } from 'vitest'
import type { Step } from '../../../../environment/apply/steps.ts'
import { keepsPods } from '../../../../operations/deploy/apply-compiled.ts'

// `--force-recreate` restarts the services whose Pods a deploy keeps.

const update = (...paths: readonly (readonly string[])[]) =>
  ({
    action: 'update',
    differences: paths.map(keys => ({ keys, before: 1, after: 2 })),
  }) as unknown as Step // the other fields are not read

test.each([
  ['an unchanged workload', { action: 'unchanged' } as Step, true],
  ['another number of replicas', update(['spec', 'replicas'], ['metadata', 'labels', 'a']), true],
  ['another image', update(['spec', 'replicas'], ['spec', 'template', 'spec', 'containers']), false],
  ['a new workload', { action: 'create' } as Step, false],
  ['a replaced workload', { action: 'replace' } as Step, false],
  ['no step', undefined, false],
])('deploy knows whether the Pods are kept: %s', (_, step, isKept) => {
  expect(keepsPods(step)).toBe(isKept)
})
