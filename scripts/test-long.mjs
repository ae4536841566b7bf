// Runs what takes longer than a merge may wait: `npm run test:long` runs all of it, and prints each part with its time.
// `npm run test:long -- --repeat 20 FILE...` runs files of any layer so many times, and stops at the first failure. KUBECONFIG names the
// cluster for tests with Pods, REFERENCE_LOADER the reference loader; API servers are started.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/** Tests of other layers that repeat more, or take all cases, where these variables are set. */
const MORE = { KILLED_RUNS: '100', DIFF_RUNS: '3000', SYNC_RUNS: '10000', TAKE: 'all' }
const WITH_MORE = [
  'test/unit/agent/ssh-keys.test.ts',
  'test/unit/compiler/manifest/mutation.test.ts',
  'test/unit/operations/init/init.test.ts',
  'test/unit/properties',
  'test/programs/differential',
  'test/programs/git/concurrency.test.ts',
  'test/programs/git/example.test.ts',
  'test/programs/git/gitops-init.test.ts',
  'test/programs/git/killed.test.ts',
  'test/programs/git/newest-source.test.ts',
  'test/programs/git/own-git.test.ts',
  'test/programs/git/publish-layouts.test.ts',
  'test/programs/git/publish-replacements.test.ts',
  'test/programs/git/publish-request.test.ts',
  'test/programs/git/publish-secrets.test.ts',
  'test/programs/git/servers-publish.test.ts',
  'test/programs/git/ssh-agent.test.ts',
  'test/programs/hostile/special-files.test.ts',
  'test/programs/shell/scripts.test.ts',
  'test/programs/sync/agent-faults.test.ts',
  'test/programs/sync/cut-scan.test.ts',
  'test/programs/sync/inotify.test.ts',
  'test/programs/sync/killed-laptop.test.ts',
  'test/programs/sync/nothing-lost.test.ts',
  'test/api/browser/pages.test.ts',
  'test/api/cluster/deploy-changes.test.ts',
  'test/api/cluster/deploy-deleted.test.ts',
  'test/api/cluster/deploy-faults.test.ts',
  'test/api/cluster/deploy-killed.test.ts',
  'test/api/cluster/deploy-manifest.test.ts',
  'test/api/cluster/destroy-shared.test.ts',
  'test/api/cluster/gitops-apply.test.ts',
  'test/api/cluster/gitops-drift.test.ts',
  'test/api/cluster/kustomize.test.ts',
  'test/api/cluster/rights.test.ts',
  'test/api/cluster/webhooks.test.ts',
  'test/api/platform/deletions.test.ts',
  'test/api/platform/hosts.test.ts',
  'test/api/platform/install-options.test.ts',
  'test/api/platform/killed.test.ts',
  'test/api/platform/leader.test.ts',
  'test/api/platform/live.test.ts',
  'test/api/platform/registry.test.ts',
  'test/api/platform/runs.test.ts',
  'test/pods/alone/faults.test.ts',
  'test/pods/buildkit/build.test.ts',
  'test/pods/buildkit/disk-full.test.ts',
  'test/pods/buildkit/example.test.ts',
  'test/pods/buildkit/inputs.test.ts',
  'test/pods/buildkit/interrupted.test.ts',
  'test/pods/buildkit/lost.test.ts',
  'test/pods/buildkit/not-pushed.test.ts',
  'test/pods/buildkit/registry-faults.test.ts',
  'test/pods/cluster/applied-at-once.test.ts',
  'test/pods/cluster/deploy-evidence.test.ts',
  'test/pods/cluster/deploy-examples.test.ts',
  'test/pods/cluster/deploy-failures.test.ts',
  'test/pods/cluster/labelling-proxy.test.ts',
  'test/pods/cluster/logs.test.ts',
  'test/pods/develop/announced-end.test.ts',
  'test/pods/develop/examples.test.ts',
  'test/pods/develop/exec.test.ts',
  'test/pods/develop/golden-mirrors.test.ts',
  'test/pods/develop/killed.test.ts',
  'test/pods/develop/mirror.test.ts',
  'test/pods/develop/record.test.ts',
  'test/pods/develop/ssh.test.ts',
  'test/pods/develop/up-ends.test.ts',
  'test/pods/develop/up-exec-bridge.test.ts',
  'test/pods/develop/up-killed.test.ts',
  'test/pods/develop/up-several.test.ts',
  'test/pods/develop/watchers.test.ts',
  'test/pods/platform/with-pods.test.ts',
]

const { values, positionals } = parseArgs({ options: { repeat: { type: 'string' } }, allowPositionals: true })
const runs = []
if (values.repeat === undefined) {
  const parts = positionals.length > 0 ? positionals : ['test/long', ...WITH_MORE]
  for (const part of parts) if (!run(part, [part], MORE)) process.exitCode = 1
} else {
  if (!/^[1-9]\d*$/.test(values.repeat) || positionals.length === 0) {
    console.error('usage: npm run test:long -- --repeat TIMES FILE...')
    process.exit(2)
  }
  for (let time = 1; time <= Number(values.repeat); time++)
    if (!run(`${positionals.join(' ')}, run ${time} of ${values.repeat}`, positionals)) {
      process.exitCode = 1
      break
    }
}
console.log(`\n${runs.join('\n')}`)

/** Runs files, and notes how it went. Returns whether they passed. */
function run(name, files, more = {}) {
  console.log(`\n=== ${name}`)
  const began = Date.now()
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], {
    cwd: root,
    env: { ...process.env, ...more },
    stdio: 'inherit',
  })
  runs.push(`${status === 0 ? 'passed' : 'FAILED'} ${Math.round((Date.now() - began) / 1000)} s  ${name}`)
  return status === 0
}
