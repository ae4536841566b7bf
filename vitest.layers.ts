import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Tests beside those of `npm test` that start, watch and kill real programs, or wait for deadlines of a connection: they run with
 * `npm run test:repositories`.
 */
export const WITH_PROGRAMS = [
  ...[
    'agent-faults',
    'cut-scan',
    'gone-root',
    'inotify',
    'killed-laptop',
    'large-files',
    'left-out',
    'nothing-lost',
    'renamed',
  ].map(name => `test/sync/${name}.test.ts`),
  'test/builder/hostile.test.ts',
  'test/hostile/special-files.test.ts',
  'test/operations/doctor/doctor.test.ts',
  'test/operations/develop/lasting.test.ts',
]

/** `.ci/run` sets a deadline, after which no test begins. */
export const hasDeadline = process.env.CI_DEADLINE !== undefined
export const withDeadline = hasDeadline ? { runner: './test/deadline-runner.ts' } : {}

/** Small files are short ones, mostly: so little is left out. */
export class SmallestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => statSync(a.moduleId).size - statSync(b.moduleId).size)
  }
}
