import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { compiledModules, EXTERNAL } from './test/support/compiled-modules.ts'
import { LongestFirst } from './test/support/longest-first.ts'

/**
 * Tests of the catalogue of diagnostics. They list all codes that are declared by the modules loaded in their process.
 */
const CATALOGUE = 'test/unit/compiler/diagnostics/{codes,document,infos}.test.ts'

/** Tests of the layer long that run side by side, like the tests of the layer pods. */
const LONG_PODS = 'test/long/pods/**/*.test.ts'

/**
 * Factor for the time limits of tests. `npm run test:long` sets TAKE to `all`: a test then checks many times more
 * cases, while other tests keep the processors busy.
 */
const LONGER = process.env['TAKE'] === 'all' ? 10 : 1

interface LayerOptions {
  /** Module that runs once before the tests, and after them. */
  readonly globalSetup?: string
  readonly [option: string]: unknown
}

/**
 * Returns the test project of a layer, with the tests of `test/NAME`. `minutes` is the default time limit of a test or
 * a hook. Each wait in a test also has a deadline of its own.
 */
const layer = (name: string, minutes: number, { globalSetup, ...more }: LayerOptions = {}) => ({
  plugins: [compiledModules({ usesBundle: name === 'programs' })],
  test: {
    name,
    server: { deps: { external: [EXTERNAL] } },
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: ['test/support/temporary-files.ts', ...(globalSetup ? [globalSetup] : [])],
    execArgv: V8,
    testTimeout: minutes * LONGER * 60_000,
    hookTimeout: minutes * LONGER * 60_000,
    ...more,
  },
})

/**
 * Number of workers for unit tests. They wait for a quarter of their time, so one worker more than there are processors
 * is fastest. Each additional worker would load the compiler again, and take longer in total.
 */
const WORKERS = availableParallelism() + 1

/**
 * Options of V8 for the tests. The first one delays the optimization of code: most code runs only a few times in a
 * test, and the optimizer took a fifth of the processor time. The others make the young generation larger (in
 * megabytes), so that it is collected less often.
 */
const V8 = ['--interrupt-budget=3000000', '--min-semi-space-size=64', '--max-semi-space-size=64']

export default defineConfig({
  test: {
    // A missing snapshot fails; `-u` writes it.
    update: 'none',
    sequence: { sequencer: LongestFirst },
    projects: [
      // The files of one worker share the modules that they import: loading the compiler for each file takes longer
      // than most files. So a file may not mock modules, and restores what it changes of the process.
      layer('unit', 1, {
        exclude: [CATALOGUE],
        isolate: false,
        maxWorkers: WORKERS,
        setupFiles: 'test/support/at-rest.ts',
      }),
      // After the golden cases: `-u` writes docs/diagnostics from their output.
      layer('catalogue', 1, { include: [CATALOGUE], maxWorkers: WORKERS, sequence: { groupOrder: 1 } }),
      layer('programs', 5, { maxWorkers: 2, sequence: { groupOrder: 2 } }),
      // Each worker has an API server of its own, since a cluster has one platform.
      layer('api', 5, {
        isolate: false,
        maxWorkers: process.env['API_KUBECONFIG'] ? 1 : 2,
        maxConcurrency: 3,
        globalSetup: 'test/support/api-servers.ts',
        setupFiles: 'test/support/use-api-server.ts',
        sequence: { groupOrder: 3 },
      }),
      layer('pods', 10, {
        exclude: ['test/pods/alone/**'],
        globalSetup: 'test/support/needs-nodes.ts',
        // Most of their time is waiting for Pods.
        maxWorkers: 3,
        maxConcurrency: 3,
        sequence: { groupOrder: 4 },
      }),
      // These measure how soon something ends, or change what the whole cluster has.
      layer('alone', 10, {
        include: ['test/pods/alone/**/*.test.ts'],
        globalSetup: 'test/support/needs-nodes.ts',
        maxWorkers: 1,
        sequence: { groupOrder: 5 },
      }),
      layer('long', 30, { exclude: [LONG_PODS], maxWorkers: 1, sequence: { groupOrder: 6 } }),
      layer('long-pods', 30, { include: [LONG_PODS], maxWorkers: 3, sequence: { groupOrder: 7 } }),
    ],
  },
})
