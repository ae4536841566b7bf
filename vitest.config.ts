import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/repositories/**', 'test/long/**'],
    testTimeout: 20_000,
    // Vitest leaves one processor free, which on two of them is half of the time.
    maxWorkers: '100%',
  },
})
