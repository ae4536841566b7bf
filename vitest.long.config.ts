import { defineConfig } from 'vitest/config'

// What takes longer than a merge may wait, run by hand: `npm run test:long`. Those that need a cluster find it by KUBECONFIG.
export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    include: ['test/long/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
