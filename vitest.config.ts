import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { hasDeadline, WITH_PROGRAMS } from './vitest.layers.ts'

const notHere = ['cluster', 'develop', 'buildkit', 'platform-server', 'platform-browser', 'repositories', 'long'].map(
  one => `test/${one}/**`,
)

/** Tests of the catalogue of diagnostics, which has whatever the modules of a process declare. */
const ofTheCatalogue = ['test/codes.test.ts', 'test/diagnostics/**/*.test.ts']

// Vitest leaves one processor free, which on two of them is half of the time. A third worker uses the
// time in which tests wait for processes and deadlines.
const shared = {
  // In `.ci/run`, images are built at the same time.
  testTimeout: hasDeadline ? 60_000 : 20_000,
  hookTimeout: hasDeadline ? 120_000 : 60_000,
  maxWorkers: Math.max(3, availableParallelism()),
}

export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...notHere, ...WITH_PROGRAMS, ...ofTheCatalogue],
          // Files of one worker share what they import: to load the compiler for each of them takes longer than most of them. So a
          // file may not mock modules, and puts back what it changes of the process.
          isolate: false,
        },
      },
      // After the golden cases: `-u` writes docs/diagnostics.md from their output.
      { test: { ...shared, name: 'catalogue', include: ofTheCatalogue, sequence: { groupOrder: 1 } } },
    ],
  },
})
