import { defineConfig } from 'vitest/config'

// Tests with real git, and real servers of it on this machine: `npm run test:repositories`. They need git, and sshd for those over ssh.
export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    include: ['test/repositories/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
