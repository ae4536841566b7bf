// `node scripts/test-packages.mjs`: fetches packages of the npm registry that only tests use, so that tests need no
// network: other versions of Node.js, and the oldest versions of the peers. They stay until the next `npm ci`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.test-packages')
const { engines, overrides, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Returns the oldest version that a range of package.json allows. */
const oldest = range => {
  const [, version, patch] = /^(?:\^|>=)(\d+\.\d+)(\.\d+)?$/.exec(range)
  return version + (patch ?? '.0')
}

/** Versions of Node.js: the oldest that the package allows, and the long-term releases after it. */
export const NODE_VERSIONS = [oldest(engines.node), '22.23.5', '24.22.3']

const nodePackage = version => [`node-${process.platform}-${process.arch}@${version}`]
const OLDEST_PEERS = Object.entries(peerDependencies).map(([name, range]) => `${name}@${oldest(range)}`)

/** Returns the folder of the program of a version of Node.js. */
export const nodeFolder = version => {
  const packages = nodePackage(version)
  return join(installed(packages), packages[0].replace(/@.*/, ''), 'bin')
}

/** Returns the folder `node_modules` with the oldest allowed versions of the peer dependencies. */
export const oldestPeers = () => installed(OLDEST_PEERS)

function installed(packages) {
  const folder = join(folderOf(packages), 'node_modules')
  if (!existsSync(folder)) throw new Error(`${packages.join(', ')}: not there; run \`node scripts/test-packages.mjs\``)
  return folder
}

const folderOf = packages => join(cache, packages.join('+'))

function fetch(packages) {
  const folder = folderOf(packages)
  if (existsSync(folder)) return
  const temporary = `${folder}.${process.pid}`
  mkdirSync(temporary, { recursive: true })
  writeFileSync(join(temporary, 'package.json'), JSON.stringify({ private: true, overrides }))
  const words = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...words, ...packages], { cwd: temporary, stdio: 'inherit' })
  if (status !== 0) throw new Error(`could not fetch ${packages.join(', ')}`)
  try {
    renameSync(temporary, folder)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error
    rmSync(temporary, { recursive: true })
  }
}

if (process.argv[1] === import.meta.filename)
  for (const packages of [...NODE_VERSIONS.map(nodePackage), OLDEST_PEERS]) fetch(packages)
