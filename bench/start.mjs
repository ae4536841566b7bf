// `npm run bench -- start`: how soon the installed package has done its work, from the second run of a command on,
// with each version of Node.js that scripts/test-packages.mjs has fetched. Without $RUNS, each number is the median
// of twenty.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packPackage } from '../scripts/release/package.mjs'
import { NODE_VERSIONS, nodeFolder } from '../scripts/test-packages.mjs'
import { composeFile } from './generate.mjs'
import { measure, median } from './measure.mjs'
import { root, work } from './program.mjs'
import { printGoals, printResults } from './tables.mjs'

const runs = Number(process.env.RUNS ?? 20)
const folder = join(work, 'start')
const home = join(folder, 'home')
rmSync(folder, { recursive: true, force: true })
mkdirSync(home, { recursive: true })
const file = join(folder, 'compose.yaml')
writeFileSync(file, composeFile(10))

const npm = (...words) => spawnSync('npm', words, { cwd: root, encoding: 'utf8' })
const tarball = packPackage(folder)
npm('install', '--global', '--prefix', folder, '--offline', '--no-audit', tarball)
const devctl = join(folder, 'lib/node_modules/devctl/bin/devctl.cjs')

const commands = {
  'node -e 0': ['-e', '0'],
  'devctl --help': [devctl, '--help'],
  'devctl render, 10 services': [devctl, 'render', '-f', file, '--name', 'bench', '--domain', 'dev.example.com'],
}
const rows = NODE_VERSIONS.flatMap(version =>
  Object.entries(commands).map(([name, args]) => ({
    name: `${name}, Node.js ${version}`,
    command: join(nodeFolder(version), 'node'),
    args,
    results: [],
  })),
)
const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }
for (let run = -1; run < runs; run++)
  for (const { command, args, results } of rows) {
    const result = measure(command, args, { cwd: folder, env })
    // The first run keeps the compiled code.
    if (run >= 0) results.push(result)
  }

console.log(`Median of ${runs} runs, whole process, from the second run on.\n`)
printResults(rows)
const time = name => median(rows.find(row => row.name === name).results.map(one => one.milliseconds))
printGoals(
  NODE_VERSIONS.flatMap(version => {
    const over = name => time(`${name}, Node.js ${version}`) - time(`node -e 0, Node.js ${version}`)
    return [
      [`\`--help\` within 20 ms of \`node -e 0\`, Node.js ${version}`, over('devctl --help'), 20, 'ms'],
      [`ten services within 60 ms of it, Node.js ${version}`, over('devctl render, 10 services'), 60, 'ms'],
    ]
  }),
)
