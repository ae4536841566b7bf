// `npm run bench -- publish`: what a publish of a hundred objects into a repository of years costs beside what git
// itself takes there: a sparse clone and a push of one changed file. All take turns; each number is the median of nine
// runs. Writes nothing but `.bench`.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { historyStream, manifestFiles } from '../test/support/git/history.mjs'
import { idleComposeFile } from './generate.mjs'
import { measure, median } from './measure.mjs'
import { devctl, work } from './program.mjs'
import { printGoals, printResults } from './tables.mjs'

const runs = Number(process.env.RUNS ?? 9)
const [FILES, COMMITS] = [2000, 5000]
/** Longest time allowed, as a multiple of the time that git alone takes. */
const LIMIT = 2.5

const folder = join(work, 'publish')
rmSync(folder, { recursive: true, force: true })
mkdirSync(join(folder, 'tmp'), { recursive: true })
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  TMPDIR: join(folder, 'tmp'),
  GIT_CONFIG_NOSYSTEM: '1',
  NO_COLOR: '1',
}
writeFileSync(join(folder, '.gitconfig'), '[user]\n\tname = Bench\n\temail = bench@example.com\n')
const path = makeRepository()
const server = spawn(process.execPath, [join(import.meta.dirname, 'git-server.mjs'), folder], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const [port] = await once(server.stdout, 'data')
const addresses = { http: `http://127.0.0.1:${String(port).trim()}/deploy.git`, file: `file://${path}` }

const rows = Object.fromEntries(
  [
    ['httpFloor', 'over http: git clone and git push of one file'],
    ['httpUnchanged', 'over http: devctl publish, 102 objects, unchanged'],
    ['httpChanged', 'over http: devctl publish, 102 objects, one changed'],
    ['fileFloor', 'on one disk: git clone and git push of one file'],
    ['fileUnchanged', 'on one disk: devctl publish, 102 objects, unchanged'],
    ['fileChanged', 'on one disk: devctl publish, 102 objects, one changed'],
    ['unchangedMany', 'over http: devctl publish, 1002 objects, unchanged'],
    ['changedMany', 'over http: devctl publish, 1002 objects, one changed'],
  ].map(([key, name]) => [key, { name, results: [] }]),
)
const shops = { http: makeSource('shop', 34), file: makeSource('store', 34) }
const mall = makeSource('mall', 334)
for (const [way, shop] of Object.entries(shops)) publish(shop, addresses[way])
publish(mall, addresses.http)
let changes = 0
for (let run = 0; run < runs; run++) {
  for (const [way, address] of Object.entries(addresses)) {
    const turns = [
      ['Floor', () => floor(address, run)],
      ['Unchanged', () => publish(shops[way], address, 'unchanged')],
      ['Changed', () => change(shops[way], changes++) ?? publish(shops[way], address, 'deploy')],
    ]
    for (const [row, take] of run % 2 ? turns.reverse() : turns) rows[way + row].results.push(take())
  }
  // Fewer runs for the slow cases: only their memory matters.
  if (run >= 3) continue
  rows.unchangedMany.results.push(publish(mall, addresses.http, 'unchanged'))
  change(mall, changes++)
  rows.changedMany.results.push(publish(mall, addresses.http, 'deploy'))
}
server.stdin.end()
report()
rmSync(folder, { recursive: true, force: true })

function report() {
  const time = ({ results }) => median(results.map(one => one.milliseconds))
  const peak = ({ results }) => median(results.map(one => one.peak ?? 0))
  const version = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim()
  console.log(`Median of ${runs} runs, Node.js ${process.version}, ${version}, whole process.\n`)
  printResults(Object.values(rows))
  const goal = (what, way, row) => [
    `${what} within ${LIMIT} × git alone`,
    time(rows[`${way}${row}`]),
    LIMIT * time(rows[`${way}Floor`]),
    'ms',
  ]
  const few = ['httpUnchanged', 'httpChanged', 'fileUnchanged', 'fileChanged']
  const most = keys => Math.max(...keys.map(key => peak(rows[key])))
  printGoals([
    goal('over http, unchanged', 'http', 'Unchanged'),
    goal('over http, changed', 'http', 'Changed'),
    goal('on one disk, unchanged', 'file', 'Unchanged'),
    goal('on one disk, changed', 'file', 'Changed'),
    ['memory of a publish under 150 MiB', most(few), 150, 'MiB'],
    ['of a thousand objects under 200 MiB', most(['unchangedMany', 'changedMany']), 200, 'MiB'],
  ])
}

/** A bare repository as a team has it after years, with a file at its top that the floor changes. */
function makeRepository() {
  const path = join(folder, 'deploy.git')
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', path)
  git(path, 'config', 'uploadpack.allowFilter', 'true')
  git(path, 'config', 'receive.autogc', 'false')
  const files = { 'README.md': 'ours\n', ...manifestFiles(FILES - 1) }
  const input = historyStream({ branch: 'main', files, commits: COMMITS })
  execFileSync('git', ['fast-import', '--quiet', '--done'], { cwd: path, env, input })
  return path
}

function makeSource(name, services) {
  const path = join(folder, name)
  git(folder, 'init', '--quiet', '--initial-branch=main', path)
  writeFileSync(join(path, 'compose.yaml'), idleComposeFile(services))
  const environment = `namespace: ${name}, domain: example.com, branch: main`
  writeFileSync(join(path, 'devctl.yml'), `name: ${name}\nenvironments:\n  staging: {${environment}}\n`)
  commit(path, 'begin')
  return path
}

/** Changes the image of the first service. */
function change(source, run) {
  const edited = `services: {service-0: {image: "registry.example.com/team/service-0:2.${run}"}}\n`
  writeFileSync(join(source, 'compose.override.yaml'), edited)
  commit(source, `change ${run}`)
}

function publish(source, address, expected = '') {
  const result = measure(process.execPath, [devctl, 'publish', '--environment', 'staging', '--repository', address], {
    cwd: source,
    env,
  })
  if (!result.stdout.startsWith(expected)) throw new Error(`not ${expected}: ${result.stdout}`)
  return result
}

/** Measures the cost of the same by hand: no compiler, no check of the existing files. */
function floor(address, run) {
  const copy = join(folder, 'floor')
  rmSync(copy, { recursive: true, force: true })
  const script = [
    `git clone --quiet --depth 1 --filter=blob:none --sparse '${address}' '${copy}'`,
    `cd '${copy}'`,
    `echo ${run} >>README.md`,
    "git commit --quiet --all --message 'one file'",
    'git push --quiet origin HEAD:main',
  ]
  return measure('sh', ['-ec', script.join('\n')], { cwd: folder, env })
}

function commit(path, message) {
  git(path, 'add', '--all')
  git(path, 'commit', '--quiet', '--message', message)
}

function git(cwd, ...args) {
  const { status, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}
