import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { hasDeadline, withDeadline } from './vitest.layers.ts'

// Tests that need a Kubernetes cluster, found by KUBECONFIG: `npm run test:cluster`. Every wait in them has a deadline of its own;
// the time limit here is for what nobody thought of. Two files run at once, each in namespaces of its own: most of their time is waiting
// for Pods.

/** Files that measure how soon something ends, or change what the whole cluster has: nothing else runs in their cluster beside them. */
const ALONE = ['connect', 'faults', 'random-faults', 'webhooks'].map(name => `test/cluster/${name}.test.ts`)

/** Those of the platform that need Pods. There is one platform in a cluster. */
const PLATFORM = ['install', 'networks', 'with-pods'].map(name => `test/platform-server/${name}.test.ts`)

/**
 * Those that take more than a minute, the longest first, so that none of them is the last and runs by itself. Where there is a
 * deadline, they are the last: what is left out is then little.
 */
const LONGEST = [
  'deploy-examples',
  'deploy-faults',
  'gitops-scenarios',
  'deploy-changes',
  'deploy-killed',
  'deploy-failures',
  'develop/up-killed',
  'develop/watchers',
  'buildkit/killed',
  'buildkit/lost',
  'kustomize',
  'gitops-flux',
  'gitops-apply',
  'docs',
  'platform-browser/pages',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex(name => moduleId.endsWith(`/${name}.test.ts`))
      if (hasDeadline) return found === -1 ? -1 : LONGEST.length - found
      return found === -1 ? LONGEST.length : found
    }
    return [...files].sort((a, b) => place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

// Waits take longer where there is a deadline, see `eventually`.
const TIME_LIMIT = hasDeadline ? 600_000 : 240_000
const shared = {
  testTimeout: TIME_LIMIT,
  hookTimeout: TIME_LIMIT,
  maxConcurrency: hasDeadline ? 2 : 3,
  ...withDeadline,
}

export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    sequence: { sequencer: LongestFirst },
    // Vitest takes a group 0 of one worker last.
    projects: [
      {
        test: {
          ...shared,
          name: 'side by side',
          include: ['test/cluster/**/*.test.ts', 'test/buildkit/**/*.test.ts', 'test/develop/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: { ...shared, name: 'platform with Pods', include: PLATFORM, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      { test: { ...shared, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 3 } } },
      // An API server and the controllers of Kubernetes are enough for these: with `--project platform` they run in a cluster without
      // nodes, and beside all others.
      {
        test: {
          ...shared,
          name: 'platform',
          include: ['test/platform-server/**/*.test.ts', 'test/platform-browser/**/*.test.ts'],
          exclude: PLATFORM,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
