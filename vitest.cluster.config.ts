import { defineConfig } from 'vitest/config'

// Tests that need a Kubernetes cluster, found by KUBECONFIG: `npm run test:cluster`. Every wait in them has a deadline of its own;
// the time limit here is for what nobody thought of.
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    maxConcurrency: 3,
    fileParallelism: false,
  },
})
