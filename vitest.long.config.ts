import { defineConfig } from 'vitest/config'

const shared = {
  testTimeout: 600_000,
  hookTimeout: 300_000,
  fileParallelism: false,
}

// What takes longer than a merge may wait, run by hand: `npm run test:long`. Those that need a cluster find it by KUBECONFIG, and
// those that need the reference loader by REFERENCE_LOADER.
export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    projects: [
      { test: { ...shared, name: 'long', include: ['test/long/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'more runs',
          include: [
            'test/repositories/concurrency.test.ts',
            'test/repositories/killed.test.ts',
            'test/cluster/deploy-examples.test.ts',
            'test/cluster/deploy-faults.test.ts',
            'test/cluster/deploy-killed.test.ts',
            'test/cluster/gitops-apply.test.ts',
            'test/cluster/kustomize.test.ts',
            'test/buildkit/killed.test.ts',
            'test/platform-server/killed.test.ts',
            'test/develop/killed.test.ts',
            'test/develop/up-killed.test.ts',
            'test/differential/**/*.test.ts',
            'test/sync/nothing-lost.test.ts',
          ],
          env: { KILLED_RUNS: '100', DIFF_RUNS: '3000', SYNC_RUNS: '10000', TAKE: 'all' },
        },
      },
    ],
  },
})
