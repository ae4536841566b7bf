// `npm run bench`: what compiling costs. Programs run in turn, so that a busy moment of the machine meets all of them;
// each number is the median of ten runs.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeFile } from './generate.mjs'
import { measure, median } from './measure.mjs'
import { devctl, root, work } from './program.mjs'
import { printGoals, printResults } from './tables.mjs'

const runs = Number(process.env.RUNS ?? 10)
const kompose = findKompose()

const voting = join(root, 'examples/voting/compose.yaml')
const inputs = [
  { name: 'voting', file: voting },
  ...[10, 100, 1000].map(count => {
    const file = join(work, `compose-${count}.yaml`)
    writeFileSync(file, composeFile(count))
    return { name: `${count} services`, file }
  }),
]
const target = ['--name', 'bench', '--namespace', 'bench', '--domain', 'dev.example.com']

const rows = [
  { name: 'node -e 0', command: process.execPath, args: ['-e', '0'] },
  { name: 'devctl --help', command: process.execPath, args: [devctl, '--help'] },
  ...inputs.flatMap(({ name, file }) => [
    { name: `devctl config, ${name}`, command: process.execPath, args: [devctl, 'config', '-f', file] },
    { name: `devctl render, ${name}`, command: process.execPath, args: [devctl, 'render', '-f', file, ...target] },
    // kompose knows nothing of this dialect's keys: for it the example is written with plain Compose.
    ...(kompose === undefined
      ? []
      : [{ name: `kompose convert, ${name}`, command: kompose, args: ['convert', '--stdout', '-f', plain(file)] }]),
  ]),
].map(row => ({ ...row, results: [] }))

for (let run = 0; run < runs; run++)
  for (const row of rows)
    row.results.push(measure(row.command, row.args, { cwd: work, env: { ...process.env, NO_COLOR: '1' } }))

console.log(`Median of ${runs} runs, Node.js ${process.version}, whole process.\n`)
printResults(rows)
if (kompose === undefined) console.log('\nkompose is left out: it is neither $KOMPOSE nor on the PATH.')
report()

/** Prints the goals of the issue and the documents, each with the measured value. */
function report() {
  const time = name => median(rows.find(row => row.name === name).results.map(one => one.milliseconds))
  const peak = name => median(rows.find(row => row.name === name).results.map(one => one.peak ?? 0))
  const node = time('node -e 0')
  const each = count => (time(`devctl render, ${count} services`) - node) / count
  const goals = [
    ['`--help` within 40 ms of `node -e 0`', time('devctl --help') - node, 40, 'ms'],
    ['ten services within 2.5 × `node -e 0` + 60 ms', time('devctl render, 10 services'), 2.5 * node + 60, 'ms'],
    ['a thousand services under 300 MiB', peak('devctl render, 1000 services'), 300, 'MiB'],
    ['a service at 1,000 no more than at 100', each(1000), each(100), 'ms'],
  ]
  if (kompose !== undefined)
    goals.push([
      'a thousand services no slower than kompose',
      time('devctl render, 1000 services'),
      time('kompose convert, 1000 services'),
      'ms',
    ])
  printGoals(goals)
}

/** The example without the dialect's `http` healthcheck, in its own folder's copy, so that other tools can read it. */
function plain(file) {
  if (file !== voting) return file
  const folder = join(work, 'voting')
  mkdirSync(folder, { recursive: true })
  for (const part of ['vote/app.py', 'worker/worker.sh', 'result/server.js']) {
    mkdirSync(join(folder, part, '..'), { recursive: true })
    writeFileSync(join(folder, part), readFileSync(join(root, 'examples/voting', part)))
  }
  const text = readFileSync(file, 'utf8').replace(
    / {6}http:\n {8}path: .*\n {8}port: .*\n/,
    '      test: ["CMD", "true"]\n',
  )
  writeFileSync(join(folder, 'compose.yaml'), text)
  return join(folder, 'compose.yaml')
}

/**
 * $KOMPOSE, the one on the PATH, or the one of the project's shared folder, unpacked; undefined where there is none.
 */
function findKompose() {
  for (const command of [process.env.KOMPOSE, 'kompose'])
    if (command && spawnSync(command, ['version']).status === 0) return command
  const packed = join(root, '../shared/peers/kompose.zst')
  const unpacked = join(work, 'kompose')
  if (!existsSync(unpacked)) {
    if (!existsSync(packed)) return undefined
    const { status, stdout } = spawnSync('zstd', ['-dc', packed], { maxBuffer: 1 << 30 })
    if (status !== 0) return undefined
    writeFileSync(unpacked, stdout)
    chmodSync(unpacked, 0o755)
  }
  return spawnSync(unpacked, ['version']).status === 0 ? unpacked : undefined
}
