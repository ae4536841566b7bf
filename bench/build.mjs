// `npm run bench -- build`: the cost of a build next to `buildctl build` of the same input with the same output, in the
// BuildKit of BUILDKIT_HOST. The two take turns; each number is the median of five runs. No other user should use this
// BuildKit meanwhile: buildctl keeps the files of all contexts of all users in one directory, and sends them again
// after another user's build. Writes only to `.bench`, and images to the registry.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bigFile, manyFiles, sparseFile, touchAll } from './contexts.mjs'
import { measure, median } from './measure.mjs'
import { devctl, work } from './program.mjs'
import { printGoals, printResults } from './tables.mjs'

const runs = Number(process.env.RUNS ?? 5)
/** All files are sent: half a gigabyte or more each time. */
const sendingRuns = Math.min(runs, 3)
const image = process.env.BENCH_IMAGE ?? 'busybox:1.37'
const registry = process.env.BENCH_REGISTRY
const buildctl = process.env.BUILDCTL || 'buildctl'

/** Megabytes as BuildKit counts them. */
const MB = 1_000_000
const [FILES, SIZE, CHANGED] = [10_000, 50_000, 100_000]
/**
 * Services that are built at once; each step waits a second and then works, so that the processors are not all that
 * counts.
 */
const SERVICES = 10
const STEP = 'sleep 1 && head -c 20000000 /dev/zero | sha256sum'

const folder = join(work, 'build')
const env = { ...process.env, NO_COLOR: '1', CI: '1', DEVCTL_HOME: join(folder, 'home') }
/** Uses the context, and copies nothing of it, so that what the builder itself does is as little as can be. */
const READING = `FROM ${image}\nRUN --mount=type=bind,target=/src cat /src/changed | wc -c > /size\n`
/** Copies the whole context, like most Dockerfiles. */
const COPYING = `FROM ${image}\nCOPY . /app\n`

let changes = 0

const missing = whatIsMissing()
if (missing === undefined) measureBuilds()
else console.log(`The build is left out: ${missing}.`)

function measureBuilds() {
  rmSync(folder, { recursive: true, force: true })
  try {
    const small = newContext('small', [10, 1000])
    report({
      small: compare('a small context', small),
      ...(registry && { pushed: compare('a small context, pushed', small, { isPushed: true }) }),
      ...measureManyFiles(),
      ...measureBigFile(),
      ...(process.env.HOSTILE && measureHostile()),
      services: measureServices(),
      ...(registry && { present: measurePresent() }),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function measureManyFiles() {
  const context = newContext('many', [FILES, SIZE])
  const size = `10,000 files, ${(FILES * SIZE) / MB} MB`
  const unchanged = compare(size, context)
  const changed = compare(`${size}, one changed`, context, { prepare: changeOne })
  writeFileSync(join(context, 'Dockerfile'), COPYING)
  const copied = compare(`${size}, one changed, \`COPY . /app\``, context, { prepare: changeOne })
  writeFileSync(join(context, 'Dockerfile'), READING)
  const all = compare(`${size}, all sent`, context, { prepare: touchAll, runs: sendingRuns })
  const sent = bytesSent(context)
  rmSync(context, { recursive: true })
  return { unchanged, changed, copied, all, sent }
}

function measureBigFile() {
  const context = newContext('single')
  bigFile(join(context, 'changed'), 1000 * MB)
  const single = compare('one file of 1 GB, sent', context, { prepare: touchAll, runs: sendingRuns })
  rmSync(context, { recursive: true })
  return { single }
}

function newContext(name, [count, size] = [0, 0]) {
  const context = join(folder, name)
  mkdirSync(context, { recursive: true })
  writeFileSync(join(context, 'Dockerfile'), READING)
  writeFileSync(join(context, 'changed'), 'unchanged\n')
  manyFiles(context, count, size)
  return context
}

function changeOne(context) {
  writeFileSync(join(context, 'changed'), `${++changes}\n`.padStart(CHANGED, 'x'))
}

/** Builds a context with both programs in turn, after a build of each that is not counted. Gives a row for each. */
function compare(what, context, { isPushed = false, prepare = () => {}, runs: count = runs } = {}) {
  const name = `${registry}/devctl-bench/build`
  const rows = [
    {
      name: `buildctl build, ${what}`,
      results: [],
      take: () => runBuildctl(context, isPushed ? `${name}:theirs` : undefined),
    },
    {
      name: `devctl build, ${what}`,
      results: [],
      take: () => runDevctl(context, isPushed ? ['--tag', `${name}:ours`] : []),
    },
  ]
  for (const { take } of rows) take()
  for (let run = 0; run < count; run++)
    for (const { results, take } of run % 2 ? rows.toReversed() : rows) {
      prepare(context)
      results.push(take())
    }
  return rows
}

function runBuildctl(context, name, args = []) {
  const output = name ? ['--output', `type=image,name=${name},push=true,oci-mediatypes=true`] : []
  const local = ['--local', `context=${context}`, '--local', `dockerfile=${context}`]
  return measure(buildctl, ['build', '--frontend', 'dockerfile.v0', ...local, ...output, ...args], { cwd: folder, env })
}

function runDevctl(context, args = []) {
  return program(['build', '-f', join(context, 'Dockerfile'), context, ...args], { cwd: folder })
}

/** Runs devctl, and measures it. */
function program(args, { cwd }) {
  return measure(process.execPath, [devctl, ...args], { cwd, env })
}

/**
 * Returns how many more bytes are sent when one file has changed than when none has. BuildKit counts the list of files,
 * too.
 */
function bytesSent(context) {
  const sent = () => {
    const { stderr } = runDevctl(context, ['--progress', 'json'])
    const steps = stderr
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line))
    const ended = steps.findLast(({ text, bytes }) => text === 'load build context' && bytes)
    return ended.bytes.current
  }
  runDevctl(context)
  const before = sent()
  changeOne(context)
  return sent() - before
}

/** Measures the memory for contexts larger than any real one: one run each, because they take minutes. */
function measureHostile() {
  const many = newContext('hostile', [200_000, 100])
  const hostile = [
    ...compare('200,000 files, all sent', many, { prepare: touchAll, runs: 1 }),
    ...compare('200,000 files, unchanged', many, { runs: 1 }),
  ]
  rmSync(many, { recursive: true })
  const sparse = newContext('sparse')
  sparseFile(join(sparse, 'changed'), 10_000 * MB)
  hostile.push({ name: 'devctl build, a sparse file of 10 GB, sent', results: [runDevctl(sparse)] })
  return { hostile }
}

/** Ten services at once beside the same builds one after another. */
function measureServices() {
  const context = newContext('services')
  writeFileSync(join(context, 'Dockerfile'), `FROM ${image}\nARG RUN NAME\nRUN : $RUN $NAME && ${STEP}\n`)
  const names = Array.from({ length: SERVICES }, (_, index) => `service-${index}`)
  const service = name => `  ${name}:\n    build: {context: ., args: {NAME: ${name}}}\n`
  writeFileSync(join(context, 'compose.yaml'), `services:\n${names.map(service).join('')}`)
  const after = { name: `buildctl build, ${SERVICES} images one after another`, results: [] }
  const once = { name: `devctl build, ${SERVICES} services at once`, results: [] }
  for (let run = 0; run < sendingRuns; run++) {
    const results = names.map(name =>
      runBuildctl(context, undefined, [
        '--opt',
        `build-arg:RUN=theirs-${process.pid}-${run}`,
        '--opt',
        `build-arg:NAME=${name}`,
      ]),
    )
    after.results.push({
      milliseconds: results.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
      peak: median(results.map(({ peak }) => peak)),
    })
    once.results.push(
      program(['build', '--push=false', '--build-arg', `RUN=ours-${process.pid}-${run}`], { cwd: context }),
    )
  }
  return [after, once]
}

/** Images whose tags the registry has: no builder is asked. */
function measurePresent() {
  const cwd = join(folder, 'present')
  const names = Array.from({ length: SERVICES }, (_, index) => `service-${index}`)
  for (const name of names) newContext(join('present', name), [10, 1000])
  const text = names.map(name => `  ${name}: {build: ${name}}\n`)
  writeFileSync(join(cwd, 'compose.yaml'), `services:\n${text.join('')}`)
  const words = ['--registry', `${registry}/devctl-bench`]
  const render = { name: `devctl render, ${SERVICES} services with \`build\``, results: [] }
  const build = { name: `devctl build, ${SERVICES} services, all in the registry`, results: [] }
  program(['build', ...words], { cwd })
  for (let run = 0; run < runs; run++) {
    render.results.push(program(['render', ...words], { cwd }))
    build.results.push(program(['build', ...words], { cwd }))
  }
  return [render, build]
}

function report({ sent, ...measured }) {
  const { small, pushed, unchanged, changed, copied, services } = measured
  const rows = Object.values(measured).flat()
  const time = ({ results }) => median(results.map(({ milliseconds }) => milliseconds))
  const peakOf = ({ results }) => median(results.map(({ peak }) => peak ?? 0))
  const peak = Math.max(...rows.filter(({ name }) => name.startsWith('devctl')).map(peakOf))
  const within = (what, [theirs, ours]) => [`${what} within 1.2 × buildctl`, time(ours), 1.2 * time(theirs), 'ms']
  const runsText = `Median of ${runs} runs (${sendingRuns} where all files are sent, and of services)`
  console.log(`${runsText}, Node.js ${process.version}, ${version()}, whole process.\n`)
  printResults(rows)
  if (!registry) console.log('\nWhat is pushed is left out: BENCH_REGISTRY names no registry.')
  printGoals([
    within('nothing changed, a small context,', small),
    ...(pushed ? [within('nothing changed, a small context, pushed,', pushed)] : []),
    within('nothing changed in 10,000 files', unchanged),
    within('one of 10,000 files changed, and is read,', changed),
    within('one of 10,000 files changed, and all are copied,', copied),
    [`only the changed file of ${CHANGED / 1000} kB is sent`, sent / 1000, (CHANGED + 1000) / 1000, 'kB'],
    [`${SERVICES} services at once within 0.5 × one after another`, time(services[1]), 0.5 * time(services[0]), 'ms'],
    ['memory under 200 MB', (peak * 1024 * 1024) / MB, 200, 'MB'],
  ])
}

/** Returns the reason why nothing can be measured; undefined if everything is available. */
function whatIsMissing() {
  if (!process.env.BUILDKIT_HOST) return 'BUILDKIT_HOST names no BuildKit'
  if (spawnSync(buildctl, ['--version']).status !== 0) return 'buildctl is neither $BUILDCTL nor on the PATH'
  if (spawnSync(buildctl, ['debug', 'workers']).status !== 0) return 'the BuildKit of BUILDKIT_HOST does not answer'
  return undefined
}

/** `buildctl 0.33.1`. */
function version() {
  return `buildctl ${/v(\d\S*)/.exec(spawnSync(buildctl, ['--version'], { encoding: 'utf8' }).stdout)?.[1]}`
}
