#!/usr/bin/env node
// `npm run bench`: how long whole processes take and how much memory they need, as Markdown tables (`RUNS=3 npm run
// bench` for a quick look). `npm run bench -- start` measures the start of the installed package, for which it needs
// other versions of Node.js (`node scripts/test-packages.mjs`); `npm run bench -- deploy` a deploy, for which it
// needs a cluster; `npm run bench -- publish` a publish, for which it needs git; `npm run bench -- build` builds, for
// which it needs a BuildKit and buildctl; `npm run bench -- packages` what packages would cost in place of our own
// code; `npm run bench -- sync` the sync by itself; `npm run bench -- up` a development container, for which it needs
// a cluster and kubectl (`up checkout idle`: only these parts). `npm run bench -- platform-tunnel` the connection of
// builds to a platform, for which it needs a BuildKit; `npm run bench -- platform` the platform, for which it needs
// an API server for tests.
const [what = 'compile'] = process.argv.slice(2)
const BENCHES = [
  'compile',
  'start',
  'deploy',
  'publish',
  'build',
  'packages',
  'sync',
  'up',
  'platform',
  'platform-tunnel',
]
if (!BENCHES.includes(what)) throw new Error(`\`${what}\` must be one of ${BENCHES.join(', ')}`)
await import(`./${what}.mjs`)
