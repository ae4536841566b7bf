// Runs what must pass before a change is merged: `npm run ci`, on a machine that has what `.ci/run` installs. The layer
// pods, most of which is waiting, runs beside the other layers, and these run one after the other: all at once would
// only slow each other down. A layer that cannot run has failed where root, zstd and the shared folder are at hand. The
// last line is "N passed, N failed"; the exit status is 1 if anything failed.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { hasFailures, summarize } from './ci-summary.mjs'

const root = join(import.meta.dirname, '..')
const program = join(root, '../shared/cluster/cluster')
const hasCluster = existsSync(program) && `${process.platform} ${process.arch}` === 'linux x64'
const hasPods = hasCluster && process.getuid?.() === 0
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const work = mkdtempSync(join(tmpdir(), 'devctl-ci-'))
// Agents of other users have their files in it.
chmodSync(work, 0o755)
/**
 * Environment of all steps. With GOGC, API servers and kubectl collect garbage less often, because there is enough
 * memory. With EXPECT_ALL, a test fails instead of skipping itself if a program that it needs is missing.
 */
const env = { ...process.env, CI: '1', NO_COLOR: '1', GOGC: '400', ...(hasPods && { EXPECT_ALL: '1' }) }

/** Steps whose failure is not in the test results: their names, and the end of their output. */
const failedSteps = []
const results = []
const children = new Set()
const start = Date.now()
const atStart = processorTimes()
const seconds = since => `${Math.round((Date.now() - since) / 1000)} s`

/** Returns the total time and the idle time of all processors since the start of this machine, in milliseconds. */
function processorTimes() {
  const times = cpus().map(({ times }) => times)
  const sum = of => times.reduce((total, one) => total + of(one), 0)
  return { idle: sum(({ idle }) => idle), all: sum(one => Object.values(one).reduce((total, part) => total + part, 0)) }
}

/** Returns the idle share of the processor time since `before`, as text. */
function idleSince(before) {
  const now = processorTimes()
  return `${Math.round((100 * (now.idle - before.idle)) / Math.max(1, now.all - before.all))} % idle`
}

/** Start of a command that runs another command in a shell, and then writes the processor times to descriptor 3. */
const TIMED = ['bash', '-c', '"$@" 3>&-; status=$?; times >&3; exit $status', 'bash']

/**
 * Returns the processor time in seconds from the output of `times`, whose last line is about the children of the shell.
 */
function processorSeconds(times) {
  const parts =
    times
      .trim()
      .split('\n')
      .at(-1)
      .match(/[\d.]+/g) ?? []
  const [userMinutes = 0, user = 0, systemMinutes = 0, system = 0] = parts.map(Number)
  return Math.round((userMinutes + systemMinutes) * 60 + user + system)
}

/**
 * Runs a command with a time limit in minutes, and writes its output to a file. Then prints the output, the duration of
 * the command, its processor time, and the idle share of the machine during the command. Returns true if it succeeded.
 */
async function step(name, minutes, command, words, more = {}) {
  const began = Date.now()
  const before = processorTimes()
  console.log(`=== ${name}: started after ${seconds(start)}`)
  const file = join(work, `${name}.log`)
  const log = createWriteStream(file)
  const [shell, ...script] = TIMED
  const child = spawn(shell, [...script, command, ...words], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let times = ''
  child.stdio[3].setEncoding('utf8').on('data', text => (times += text))
  children.add(child)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill(child)
  }, minutes * 60_000)
  const status = await new Promise(resolve => child.on('error', () => resolve(127)).on('close', resolve))
  clearTimeout(timer)
  children.delete(child)
  await finished(log.end())
  process.stdout.write(readFileSync(file))
  if (isLate) console.log(`${name}: not done after ${minutes} minutes`)
  const how = status === 0 ? 'ok' : `exit status ${status}`
  console.log(`=== ${name}: ${how}, ${seconds(began)}, processors ${processorSeconds(times)} s, ${idleSince(before)}\n`)
  return status === 0
}

/** Records that a step failed, with the last lines of its output for the summary. */
function noteFailure(name) {
  const lines = readFileSync(join(work, `${name}.log`), 'utf8')
    .trim()
    .split('\n')
  failedSteps.push({ name, output: lines.slice(-15).join('\n') })
}

/** Runs a step, and records its failure. Returns true if it succeeded. */
async function mustPass(name, ...words) {
  const passed = await step(name, ...words)
  if (!passed) noteFailure(name)
  return passed
}

/**
 * Prepares the cluster for the tests, in up to three attempts. An attempt stops when a part of the cluster exits early,
 * such as the kubelet when containerd is not ready, or when a package cannot be fetched. The next attempt continues
 * from there. Returns true if an attempt succeeded.
 */
async function prepare(name, minutes, words) {
  for (let attempt = 1; attempt <= 3; attempt++)
    if (await step(name, minutes, program, words, { TESTCLUSTER_TIMEOUT: '300' })) return true
  noteFailure(name)
  return false
}

const startCluster = () => prepare('cluster', 10, ['up', '--buildkit', '--docker', '--forge', '--policy'])

/** Base images of the cluster that tests start or build on: all except Node.js 20. */
const IMAGES = ['busybox', 'debian', 'nginx', 'redis', 'postgres', 'node22', 'python', 'kubectl']

const inMemory = 'mkdir "$0" && mount -t tmpfs tmpfs "$0" && TMPDIR=$0 exec "$@"'
/**
 * Start of a command whose temporary files are in memory, in a separate mount namespace, because git writes thousands
 * of small files. Empty if this is not possible.
 */
const IN_MEMORY = hasPods ? ['unshare', '--mount', 'sh', '-c', inMemory, join(work, 'memory')] : []

/**
 * Runs projects of Vitest as a step with a time limit in minutes. `under` is the start of the command that runs them,
 * such as `IN_MEMORY`.
 */
async function tests(name, minutes, projects, more = {}, under = []) {
  const file = join(work, `${name}.json`)
  const words = projects.flatMap(project => ['--project', project])
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const [command, ...rest] = [...under, process.execPath, vitest, 'run', ...words, ...reporters]
  const passed = await step(name, minutes, command, rest, more)
  if (existsSync(file)) results.push(file)
  // An error outside of all tests makes Vitest fail, too.
  if (!passed && !(existsSync(file) && hasFailures(file))) noteFailure(name)
}

/** Kills the process group of a child. */
function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {}
}

const cluster = (...words) => spawnSync(program, words, { encoding: 'utf8', env }).stdout.trim()

/**
 * Returns the path of the kubeconfig of the cluster with nodes. The folder of this file also contains the state and the
 * programs of the cluster.
 */
const kubeconfig = () => /KUBECONFIG=(\S+)/.exec(cluster('env'))[1]

/**
 * Returns the variables with which tests find the builders of the cluster. If a builder is set and not found, the tests
 * fail.
 */
function builderVariables() {
  const state = dirname(kubeconfig())
  return {
    DEVCTL_TEST_BUILDKIT: `unix://${state}/run/buildkitd.sock`,
    DEVCTL_TEST_DOCKER: `unix://${state}/run/docker.sock`,
    PATH: `${env.PATH}${delimiter}${join(state, 'bin')}`,
  }
}

/** Returns the variables with which the tests of Pods find the parts of the cluster. */
const clusterVariables = () => ({ KUBECONFIG: kubeconfig(), EXPECT_POLICIES: '1', ...builderVariables() })

/**
 * Creates users at the forge of the cluster for the tests of a layer. Returns the variables with which these tests find
 * the forge and its users.
 */
function forgeVariables(layer) {
  return {
    FORGE_ADDRESS: 'https://git.devctl.localhost',
    FORGE_CA: join(dirname(kubeconfig()), 'pki/ca.crt'),
    FORGE_TOKEN: cluster('forge-user', `devctl-${layer}`),
    FORGE_ADMIN_TOKEN: cluster('forge-user', `devctl-${layer}-admin`, '--admin'),
  }
}

const wasUp = hasPods && spawnSync(program, ['status'], { stdio: 'ignore' }).status === 0

/**
 * Ends everything that this process has started. A cluster that was already running belongs to another user, and is
 * kept.
 */
function cleanUp() {
  for (const child of children) kill(child)
  if (hasPods && !wasUp) cluster('down')
  rmSync(work, { recursive: true, force: true })
}

async function main() {
  try {
    // The cluster starts while the project is checked; its images take longest, and are needed last.
    const nodes = hasPods ? startCluster() : Promise.resolve(false)
    // The program makes people and images one after the other: made first, people wait for no image.
    const people = nodes.then(isUp => (isUp ? ['programs', 'api', 'pods'].map(forgeVariables) : []))
    // Starts again what has ended while the images were built.
    const images = people.then(
      async () => (await nodes) && (await prepare('images', 20, ['image', 'base', ...IMAGES])) && startCluster(),
    )
    await mustPass('check', 10, 'npm', ['run', '--silent', 'check'])
    await mustPass('build', 10, 'npm', ['run', '--silent', 'build'])
    await mustPass('packages for tests', 10, process.execPath, [join(root, 'scripts/test-packages.mjs')])
    await tests('unit', 15, ['unit', 'catalogue'])
    const [forPrograms = {}, forApi = {}, forPods = {}] = await people
    const pods = images.then(
      ready => ready && tests('pods', 75, ['pods', 'alone'], { ...clusterVariables(), ...forPods }),
    )
    await tests('programs', 60, ['programs'], forPrograms, IN_MEMORY)
    // Some tests of the platform build images and log in at the forge of the cluster with nodes.
    const more = (await images) ? { ...builderVariables(), ...forApi } : {}
    if (hasCluster) await tests('api', 75, ['api'], more)
    else console.log('there is no test cluster beside the checkout: the layers api and pods are left out')
    if (hasCluster && !hasPods) console.log('Pods need root: the layer pods is left out')
    await pods
    const { count, line } = summarize(results, failedSteps)
    console.log(`${seconds(start)} in all, ${idleSince(atStart)}`)
    console.log(line)
    process.exitCode = count > 0 ? 1 : 0
  } finally {
    cleanUp()
  }
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    cleanUp()
    process.exit(130)
  })
await main()
