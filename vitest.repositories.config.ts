import { defineConfig } from 'vitest/config'
import { hasDeadline, SmallestFirst, WITH_PROGRAMS, withDeadline } from './vitest.layers.ts'

// Tests with real git, real servers of it and other programs on this machine: `npm run test:repositories`. They need git, sshd for
// those over ssh, and Syncthing to be compared with.
export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    include: ['test/repositories/**/*.test.ts', ...WITH_PROGRAMS],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    ...withDeadline,
    ...(hasDeadline && { sequence: { sequencer: SmallestFirst } }),
  },
})
