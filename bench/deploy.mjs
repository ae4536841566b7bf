// `npm run bench -- deploy`: what a deploy costs beside `kubectl apply --server-side` of the same rendered files, on
// the cluster of KUBECONFIG. Both take turns, each in a namespace of its own; each number is the median of five runs.
// Makes namespaces, and deletes them.
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chainComposeFile, idleComposeFile } from './generate.mjs'
import { measure, median } from './measure.mjs'
import { devctl, work } from './program.mjs'
import { printGoals, printResults } from './tables.mjs'

const runs = Number(process.env.RUNS ?? 5)
/** Sixty objects: three of each service. */
const SERVICES = 20
const OBJECTS = 3 * SERVICES
const image = process.env.BENCH_IMAGE ?? 'busybox:1.37'
const kubectl = process.env.KUBECTL || 'kubectl'
const missing = whatIsMissing()
if (missing === undefined) await measureDeploys()
else console.log(`The deploy is left out: ${missing}.`)

async function measureDeploys() {
  const namespaces = []
  const newNamespace = () => {
    const name = `devctl-bench-${process.pid}-${namespaces.length}`
    ask('create', 'namespace', name)
    namespaces.push(name)
    return name
  }
  try {
    const rows = Object.fromEntries(
      [
        ['render', 'devctl render'],
        ['kubectlFirst', `kubectl apply, ${OBJECTS} new objects`],
        ['deployFirst', `devctl deploy, ${OBJECTS} new objects`],
        ['kubectlAgain', `kubectl apply, ${OBJECTS} unchanged`],
        ['deployAgain', `devctl deploy, ${OBJECTS} unchanged`],
      ].map(([key, name]) => [key, { name, results: [] }]),
    )
    for (let run = 0; run < runs; run++) measureTurn(rows, run, newNamespace(), newNamespace())
    const requests = countRequests(newNamespace())
    const withPods = hasNodes() ? await measurePods(newNamespace(), newNamespace) : undefined
    report(rows, requests, withPods)
  } finally {
    ask('delete', 'namespace', '--wait=false', '--ignore-not-found', ...namespaces)
  }
}

/** Runs everything once; the order alternates, so that neither tool always finds a warm server. */
function measureTurn(rows, run, ours, theirs) {
  const file = join(work, 'idle.yaml')
  writeFileSync(file, idleComposeFile(SERVICES))
  const rendered = join(work, 'idle-rendered.yaml')
  const render = () => program(['render', '-f', file, '--name', 'bench', '--namespace', theirs])
  const apply = () => measure(kubectl, ['apply', '--server-side', '-f', rendered], { cwd: work })
  const deploy = () => program(['deploy', '-f', file, '--name', 'bench', '--namespace', ours])
  for (const time of ['First', 'Again']) {
    const result = render()
    rows.render.results.push(result)
    writeFileSync(rendered, result.stdout)
    const turns = [
      [`kubectl${time}`, apply],
      [`deploy${time}`, deploy],
    ]
    for (const [row, work] of run % 2 ? turns.reverse() : turns) rows[row].results.push(work())
    for (const namespace of [ours, theirs]) settle(namespace)
  }
}

/** Waits until controllers have had their say about new objects, which must not fall into the next measurement. */
function settle(namespace) {
  ask('wait', 'deployment', '--all', '--for=condition=Available', '--timeout=60s', '--namespace', namespace)
}

/** Counts the requests of the deploys of the idle services. */
function countRequests(namespace) {
  const args = ['deploy', '-f', join(work, 'idle.yaml'), '--name', 'bench', '--namespace', namespace]
  const first = requestsOf(args)
  settle(namespace)
  return { first, again: requestsOf(args) }
}

/**
 * Measures the parts that need Pods: the requests of a `deploy --wait`, and how soon it ends when an image cannot be
 * pulled.
 */
async function measurePods(namespace, newNamespace) {
  const file = join(work, 'chain.yaml')
  writeFileSync(file, chainComposeFile(image))
  const requests = requestsOf(['deploy', '--wait', '-f', file, '--name', 'bench', '--namespace', namespace])
  const delays = []
  for (let run = 0; run < runs; run++) delays.push(await pullFailure(newNamespace()))
  return { requests, objects: 6, delay: median(delays) }
}

/**
 * Milliseconds from the event that an image cannot be pulled, as kubectl sees it, to the end of the deploy that waits
 * for it.
 */
async function pullFailure(namespace) {
  const file = join(work, 'absent.yaml')
  writeFileSync(file, 'services:\n  web:\n    image: nowhere.invalid/nobody/nothing:1\n')
  const output = '--output=jsonpath={.reason} {.message}{"\\n"}'
  const events = spawn(kubectl, ['get', 'events', '--watch', '--namespace', namespace, output], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told
  createInterface({ input: events.stdout }).on('line', line => {
    if (/^Failed .*pull image/.test(line)) told ??= performance.now()
  })
  const deploy = spawn(
    process.execPath,
    [devctl, 'deploy', '--wait', '-f', file, '--name', 'bench', '--namespace', namespace],
    { stdio: 'ignore' },
  )
  const status = await new Promise(resolve => deploy.on('close', resolve))
  const ended = performance.now()
  // The event may reach kubectl a moment after us.
  for (let tries = 0; told === undefined && tries < 50; tries++) await new Promise(resolve => setTimeout(resolve, 20))
  events.kill()
  if (status !== 1 || told === undefined)
    throw new Error(`the deploy ended with ${status}, and there is no event of its image`)
  return Math.max(0, ended - told)
}

function report({ render, kubectlFirst, deployFirst, kubectlAgain, deployAgain }, requests, withPods) {
  const rows = [render, kubectlFirst, deployFirst, kubectlAgain, deployAgain]
  const time = ({ results }) => median(results.map(one => one.milliseconds))
  const peak = ({ results }) => median(results.map(one => one.peak ?? 0))
  console.log(`Median of ${runs} runs, Node.js ${process.version}, kubectl ${clientVersion()}, whole process.\n`)
  printResults(rows)
  if (withPods === undefined) console.log('\nWhat needs Pods is left out: the cluster has no nodes.')
  printGoals([
    [
      'first deploy within 1.2 × (kubectl + render)',
      time(deployFirst),
      1.2 * (time(kubectlFirst) + time(render)),
      'ms',
    ],
    ['nothing to do within kubectl + render', time(deployAgain), time(kubectlAgain) + time(render), 'ms'],
    ['first deploy within 2 requests an object + 10', requests.first, 2 * OBJECTS + 10, ''],
    ['nothing to do within a request an object + 10', requests.again, OBJECTS + 10, ''],
    ...(withPods
      ? [
          ['a chain that waits within 2 requests an object + 10', withPods.requests, 2 * withPods.objects + 10, ''],
          ['a missing image reported within 5 s', withPods.delay, 5000, 'ms'],
        ]
      : []),
    ['memory of a deploy under 150 MiB', Math.max(peak(deployFirst), peak(deployAgain)), 150, 'MiB'],
  ])
}

/** Runs devctl, and measures it. */
function program(args) {
  return measure(process.execPath, [devctl, ...args], { cwd: work, env: { ...process.env, NO_COLOR: '1' } })
}

/** The number of requests that a command of devctl sends. */
function requestsOf(args) {
  const { status, stderr } = spawnSync(process.execPath, [devctl, ...args, '--log-level', 'debug'], {
    cwd: work,
    encoding: 'utf8',
  })
  const [, count] = /^debug: (\d+) requests to the cluster$/m.exec(stderr) ?? []
  if (status !== 0 || count === undefined) throw new Error(`devctl ${args.join(' ')}: ${status}\n${stderr}`)
  return Number(count)
}

/** Returns the standard output of kubectl; throws an error if kubectl fails. */
function ask(...args) {
  const { status, stdout, stderr } = spawnSync(kubectl, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Returns the reason why nothing can be measured; undefined if everything is available. */
function whatIsMissing() {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster'
  if (spawnSync(kubectl, ['version', '--client']).status !== 0) return 'kubectl is neither $KUBECTL nor on the PATH'
  if (spawnSync(kubectl, ['version', '--request-timeout=5s']).status !== 0)
    return 'the cluster of KUBECONFIG does not answer'
  return undefined
}

function hasNodes() {
  return ask('get', 'nodes', '--output=name') !== ''
}

function clientVersion() {
  return JSON.parse(ask('version', '--client', '--output=json')).clientVersion.gitVersion
}
