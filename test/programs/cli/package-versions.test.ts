import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NODE_VERSIONS, nodeFolder, oldestPeers } from '../../../scripts/test-packages.mjs'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { type InstalledPackage, placePackage } from '../../support/installed-package.ts'

// Runs the files of the package with each version of Node.js, and with the oldest versions of its peers.
// package.test.ts installs the package with npm.

const folder = mkdtempSync(join(tmpdir(), 'devctl-versions-'))
let installed: Pick<InstalledPackage, 'devctl' | 'files'>

beforeAll(() => {
  installed = placePackage(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const COMPOSE = `services:
  web: {image: "nginx:1", ports: ["80"], depends_on: [db]}
  db: {image: "postgres:16", environment: {TZ: "\${TZ:-UTC}"}, volumes: ["data:/var/lib/postgresql/data"]}
volumes: {data: {}}
`
const TARGET = ['--name', 'shop', '--namespace', 'dev', '--domain', 'example.com']

/** Starts programs with a version of Node.js, in a folder with an application. */
function place(version: string, name = version) {
  const work = join(folder, name, 'work')
  const home = join(folder, name, 'home')
  mkdirSync(home, { recursive: true })
  write(work, { 'compose.yaml': COMPOSE, 'package.json': '{"type": "module", "private": true}\n' })
  const who = { NAME: 'Ann', EMAIL: 'ann@example.com' }
  const author = Object.entries(who).flatMap(([key, value]) =>
    ['AUTHOR', 'COMMITTER'].map(one => [`GIT_${one}_${key}`, value]),
  )
  const path = nodeFolder(version) + delimiter + process.env.PATH
  const env = { PATH: path, HOME: home, NO_COLOR: '1', ...Object.fromEntries(author) }
  const run = (command: string, ...words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: work, env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const devctl = (...words: readonly string[]) => run(installed.devctl, ...words)
  const node = (script: string, type = 'module') => run('node', `--input-type=${type}`, '-e', script)
  return { work, devctl, node, run }
}

describe.each(NODE_VERSIONS)('with Node.js %s, the package', version => {
  const { work, devctl, node, run } = place(version)

  beforeAll(() => {
    mkdirSync(join(work, 'node_modules'))
    symlinkSync(installed.files, join(work, 'node_modules/devctl'))
  })

  test('renders, validates and prints the model, the first time and with compiled code', () => {
    expect(run('node', '--version').stdout).toBe(`v${version}\n`)
    const rendered = devctl('render', ...TARGET)
    expect(rendered).toMatchObject({ status: 0, stderr: '5 objects from 2 services\n' })
    expect(rendered.stdout).toContain('kind: StatefulSet')
    expect(devctl('render', ...TARGET)).toEqual(rendered)
    expect(devctl('validate', '--strict')).toMatchObject({ status: 0, stderr: 'no errors in 2 services\n' })
    for (const words of ['config', '--help', 'version', 'explain services/unknown-key'])
      expect(devctl(...words.split(' ')), words).toMatchObject({ status: 0, stderr: '' })
  })

  test('publishes to a bare repository', () => {
    const repository = join(work, '../deploy.git')
    run('git', 'init', '--quiet', '--bare', repository)
    const { status, stderr } = devctl('publish', '--repository', repository, '--path', 'shop', ...TARGET)
    expect(status, stderr).toBe(0)
    expect(stderr).toContain('Pushed')
    expect(stderr).not.toMatch(/warn|deprecat/i)
    expect(run('git', '--git-dir', repository, 'ls-tree', '-r', '--name-only', 'HEAD').stdout).toContain('shop/')
  })

  test('keeps code for the flags with which V8 starts, though a session sets others', () => {
    const heap = join(root, 'dist/adapters/process/small-heap.js')
    const { stdout, stderr } = node(`
      import { cachedDataVersionTag } from 'node:v8'
      import { keepHeapSmall, shrinkHeap } from ${JSON.stringify(heap)}
      const before = cachedDataVersionTag()
      keepHeapSmall()
      const meanwhile = cachedDataVersionTag()
      process.on('exit', () => console.log(meanwhile !== before, cachedDataVersionTag() === before))
      const alive = setInterval(() => {}, 60_000)
      await shrinkHeap(1)
      await shrinkHeap(1)
      clearInterval(alive)`)
    expect(stderr).toBe('')
    expect(stdout).toBe('true true\n')
  })

  test('is a library for modules, and for scripts that call require', () => {
    const use = `
      const workspace = workspaceOf({ cwd: process.cwd() })
      openProject(workspace, {})
        .then(project => render({ workspace, on() {} }, { namespace: 'dev' }, project))
        .then(({ kind }) => console.log(kind, typeof compile))`
    const names = { operations: '{ openProject, render, workspaceOf }', compiler: '{ compile }' }
    const imports = Object.entries(names).map(([name, list]) => `import ${list} from 'devctl/${name}'`)
    const requires = Object.entries(names).map(([name, list]) => `const ${list} = require('devctl/${name}')`)
    const expected = { status: 0, stdout: 'rendered function\n', stderr: '' }
    expect(node([...imports, use].join('\n'))).toEqual(expected)
    expect(node([...requires, use].join('\n'), 'commonjs')).toEqual(expected)
  })
})

describe('devctl/constructs', () => {
  const newest = join(root, 'node_modules')

  /** Links packages of a folder into the folder of a program. */
  function link(work: string, from: string, ...names: readonly string[]) {
    for (const name of names) {
      const target = join(work, 'node_modules', name)
      mkdirSync(dirname(target), { recursive: true })
      symlinkSync(join(from, name), target)
    }
  }

  function programWith(peers: string, name: string) {
    const found = place(NODE_VERSIONS[0]!, name)
    mkdirSync(join(found.work, 'node_modules'))
    cpSync(installed.files, join(found.work, 'node_modules/devctl'), { recursive: true })
    link(found.work, peers, 'cdk8s', 'cdk8s-plus-27', 'constructs')
    return found
  }

  const PROGRAM = `import { App, Chart } from 'cdk8s'
import { ComposeApplication } from 'devctl/constructs'

const chart = new Chart(new App(), 'c')
const application = new ComposeApplication(chart, 'shop', { file: 'compose.yaml', name: 'shop', namespace: 'dev' })
export const own: ComposeApplication = application
console.log(JSON.stringify(chart.toJson()))
`

  test('the oldest and the newest peers give the same objects', () => {
    const script = PROGRAM.replace(': ComposeApplication', '')
    const [old, current] = [oldestPeers(), newest].map((peers, index) =>
      programWith(peers, `peers-${index}`).node(script),
    )
    expect(old).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(old!.stdout).map((one: { kind: string }) => one.kind)).toContain('StatefulSet')
    expect(current).toEqual(old)
  })

  test.each([
    ['oldest', oldestPeers()],
    ['newest', newest],
  ])('a strict program compiles with the %s peers', (name, peers) => {
    const { work, run } = programWith(peers, `types-${name}`)
    link(work, newest, '@types/node', 'undici-types')
    write(work, { 'main.ts': PROGRAM })
    const words = '--ignoreConfig --noEmit --strict --skipLibCheck false --module nodenext --target es2023 --types node'
    const tsc = join(newest, 'typescript/bin/tsc')
    expect(run('node', tsc, ...words.split(' '), 'main.ts')).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})
