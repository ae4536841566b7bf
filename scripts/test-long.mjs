// Runs what takes longer than a merge may wait: `npm run test:long` runs all of it, and prints each part with its time.
// `npm run test:long -- --repeat 20 FILE...` runs files of any layer so many times, and stops at the first failure. KUBECONFIG names the
// cluster for tests with Pods, REFERENCE_LOADER the reference loader; API servers are started.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/** Variables that make tests of other layers repeat more, and take all cases. */
const MORE = { KILLED_RUNS: '100', DIFF_RUNS: '3000', SYNC_RUNS: '10000', TAKE: 'all' }
const HAS_MORE = /takes-all|part-of-cases|fewExamples|(KILLED|DIFF|SYNC)_RUNS/

/** Returns the test files of a layer, or those of them that have more to try: themselves, or a file beside them that they import. */
function filesOf(layer) {
  const folder = join(root, 'test', layer)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.ts'))
  const text = file => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const hasMore = file => {
    const beside = [...text(file).matchAll(/from '(\.\/[^']+)'/g)].map(([, path]) => join(dirname(file), path))
    return [file, ...beside].some(one => HAS_MORE.test(text(one)))
  }
  const paths = files.map(file => join(folder, file)).sort()
  return (layer === 'long' ? paths : paths.filter(hasMore)).map(file => relative(root, file))
}

const { values, positionals } = parseArgs({ options: { repeat: { type: 'string' } }, allowPositionals: true })
const runs = []
if (values.repeat === undefined) {
  const layers = ['long', 'unit', 'programs', 'api', 'pods']
  const parts =
    positionals.length > 0
      ? positionals.map(file => [file, [file]])
      : layers.map(layer => [`test/${layer}`, filesOf(layer)])
  for (const [name, files] of parts)
    if (!run(`${name}: ${files.length} ${files.length === 1 ? 'file' : 'files'}`, files, MORE)) process.exitCode = 1
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
