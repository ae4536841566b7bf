// Runs what takes longer than a merge may wait: `npm run test:long` runs all of it, prints each part when it has ended,
// and the times of all at the end. `npm run test:long -- FILE...` runs files, `npm run test:long -- --repeat 20
// FILE...` files of any layer so many times, and stops at the first failure. KUBECONFIG names the cluster for tests
// with Pods, REFERENCE_LOADER the reference loader; API servers are started.
import { spawn } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/**
 * Variables that make tests of other layers do more repetitions, and run all cases. Variables of the environment take
 * precedence.
 */
const MORE = {
  KILLED_RUNS: '20',
  DIFF_RUNS: '2000',
  SYNC_RUNS: '5000',
  LONG_RUNS: '300',
  PROPERTY_RUNS: '25',
  FAULT_RUNS: '30',
  TAKE: 'all',
}
const withAll = { ...MORE, ...process.env }
const HAS_MORE = /takes-all|part-of-cases|fewExamples|(KILLED|DIFF|SYNC)_RUNS/
/**
 * Pattern of names in tests of the layer `long`. A test that contains one of these names needs the cluster with Pods.
 */
const NEEDS_PODS = /findCluster|findBuildkit|openDevelopment|hasNodes/

const text = file => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** Returns true if a file matches a pattern, or imports a file from the same folder that does. */
function says(file, pattern) {
  const beside = [...text(file).matchAll(/from '(\.\/[^']+)'/g)].map(([, path]) => join(dirname(file), path))
  return [file, ...beside].some(one => pattern.test(text(one)))
}

/** Returns the test files of a layer that meet a condition, relative to the project. */
function filesOf(layer, condition) {
  const folder = join(root, 'test', layer)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.ts'))
  const paths = files.map(file => join(folder, file)).sort()
  return paths.filter(condition).map(file => relative(root, file))
}

const withMore = layer => ({ name: `test/${layer}`, files: filesOf(layer, file => says(file, HAS_MORE)) })
const isWithPods = file => file.includes('/long/pods/') || says(file, NEEDS_PODS)

/**
 * Returns the parts of the test run, the longest first. Two parts run at the same time, because tests with Pods mostly
 * wait. Parts with `hasPods` never run at the same time, because each of them has many Pods.
 */
const partsOf = () => [
  { name: 'test/long, with Pods', files: filesOf('long', isWithPods), hasPods: true },
  { name: 'test/long, without Pods', files: filesOf('long', file => !isWithPods(file)) },
  { ...withMore('pods'), hasPods: true },
  ...['programs', 'api', 'unit'].map(withMore),
]

const runs = []
const children = new Set()
const began = Date.now()
const seconds = since => `${Math.round((Date.now() - since) / 1000)} s`
const titleOf = (name, files) => `${name}: ${files.length} ${files.length === 1 ? 'file' : 'files'}`

let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isStopped = true
    process.exitCode = 130
    for (const child of children) child.kill(signal)
  })

const { values, positionals } = parseArgs({ options: { repeat: { type: 'string' } }, allowPositionals: true })
if (values.repeat !== undefined) {
  if (!/^[1-9]\d*$/.test(values.repeat) || positionals.length === 0) {
    console.error('usage: npm run test:long -- --repeat TIMES FILE...')
    process.exit(2)
  }
  for (let time = 1; time <= Number(values.repeat); time++) {
    console.log(`\n=== ${positionals.join(' ')}, run ${time} of ${values.repeat}`)
    const { hasPassed } = await run(`${positionals.join(' ')}, run ${time}`, positionals, process.env)
    if (!hasPassed) break
  }
} else if (positionals.length > 0) {
  for (const file of positionals) if (!isStopped) await run(file, [file], withAll)
} else {
  const work = mkdtempSync(join(tmpdir(), 'devctl-long-'))
  const parts = partsOf()
  const running = new Set()
  const lane = async number => {
    for (;;) {
      const isFree = ({ hasPods }) => !hasPods || ![...running].some(one => one.hasPods)
      const part = isStopped ? undefined : parts.find(isFree)
      if (!part) return
      parts.splice(parts.indexOf(part), 1)
      running.add(part)
      const title = titleOf(part.name, part.files)
      console.log(`=== ${title}: started after ${seconds(began)}`)
      const log = join(work, `${number}.log`)
      const { summary } = await run(title, part.files, withAll, log)
      await pipeline(createReadStream(log), process.stdout, { end: false })
      console.log(`=== ${summary}`)
      running.delete(part)
    }
  }
  try {
    await Promise.all([lane(0), lane(1)])
  } finally {
    rmSync(work, { recursive: true })
  }
}
console.log(`\n${runs.join('\n')}\n${seconds(began)} in all`)

/**
 * Runs test files. Writes the output to the file `log`, or to the terminal if `log` is undefined. Returns the result
 * with a line that describes it, and adds the line to `runs`.
 */
async function run(name, files, env, log) {
  const started = Date.now()
  const output = log === undefined ? 'inherit' : openSync(log, 'w')
  const child = spawn(process.execPath, [vitest, 'run', ...files], {
    cwd: root,
    env,
    stdio: ['ignore', output, output],
  })
  children.add(child)
  const status = await new Promise(resolve => child.on('error', () => resolve(127)).on('close', resolve))
  children.delete(child)
  if (status !== 0) process.exitCode = 1
  const hasPassed = status === 0
  const summary = `${hasPassed ? 'passed' : 'FAILED'} ${seconds(started)}  ${name}`
  runs.push(summary)
  return { hasPassed, summary }
}
