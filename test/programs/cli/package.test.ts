import { spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { checkPackage, Package } from '@arethetypeswrong/core'
import type { Metafile } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { installPackage } from '../../support/installed-package.ts'

// Installs the package as users do, in a folder of its own, and works with nothing else.

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl: string
}

const MEGABYTE = 1 << 20
const folder = mkdtempSync(join(tmpdir(), 'devctl-package-'))
const home = join(folder, 'home')
const devctl = join(folder, 'global/bin/devctl')
const installed = join(folder, 'global/lib/node_modules/devctl')
const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }
let tarball: string
let output: string

beforeAll(async () => {
  mkdirSync(home)
  ;({ tarball, output } = await installPackage(folder, env))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...words: readonly string[]) => runIn(join(folder, 'work'), ...words)

function runIn(cwd: string, ...words: readonly string[]) {
  mkdirSync(cwd, { recursive: true })
  return spawnSync(devctl, words, { cwd, env, encoding: 'utf8' })
}

const filesIn = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
const sizeOf = (path: string): number => filesIn(path).reduce((sum, file) => sum + statSync(file).size, 0)

describe('the package', () => {
  test('npm installs one package, without a warning', () => {
    expect(output.trim()).toMatch(/^added 1 package in \S+$/)
    const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(dependencies).toBeUndefined()
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) expect(scripts).not.toHaveProperty(name)
  })

  test('the package has at most 6 MB, and 25 MB when it is installed', () => {
    expect(statSync(tarball).size).toBeLessThan(6 * MEGABYTE)
    expect(sizeOf(installed)).toBeLessThan(25 * MEGABYTE)
  })

  test('render, config, validate and explain work in an empty folder', () => {
    write(join(folder, 'work'), { 'compose.yaml': 'services: {web: {image: "nginx:1", ports: ["80"]}}\n' })
    const rendered = run('render', '--name', 'shop', '--namespace', 'dev')
    expect(rendered.stderr).not.toContain('bug of devctl')
    expect(rendered.stdout).toContain('kind: Deployment')
    expect(run('config').stdout).toContain('image: nginx:1')
    expect(run('validate').status).toBe(0)
    expect(run('explain', 'services/unknown-key').stdout).toContain('services/unknown-key')
    expect(run('version').stdout).toContain(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
  })

  test('publish commits to a bare repository', () => {
    const repository = join(folder, 'deploy.git')
    expect(spawnSync('git', ['init', '--quiet', '--bare', repository]).status).toBe(0)
    const author = ['AUTHOR', 'COMMITTER'].flatMap(who => [
      [`GIT_${who}_NAME`, 'Ann'],
      [`GIT_${who}_EMAIL`, 'ann@example.com'],
    ])
    const words = ['publish', '--repository', repository, '--path', 'shop', '--name', 'shop', '--namespace', 'dev']
    const published = spawnSync(devctl, [...words, '--domain', 'example.com'], {
      cwd: join(folder, 'work'),
      env: { ...env, ...Object.fromEntries(author) },
      encoding: 'utf8',
    })
    expect(published.stderr).toContain('Pushed')
    expect(published.status).toBe(0)
    const names = spawnSync('git', ['--git-dir', repository, 'ls-tree', '-r', '--name-only', 'HEAD'], {
      encoding: 'utf8',
    })
    expect(names.stdout).toContain('shop/')
  })

  test('the program of a development container and the server of a platform are in the package', () => {
    for (const path of ['agent/agent.cjs', 'platform/server.cjs', 'platform/runner.cjs', 'platform/web/index.html'])
      expect(statSync(join(installed, 'dist', path)).size, path).toBeGreaterThan(500)
  })
})

describe('package.json and the declarations', () => {
  test('publint finds no mistake but the shell that starts Node.js', async () => {
    const { buffer } = new Uint8Array(readFileSync(tarball))
    const { messages } = await publint({ pack: { tarball: buffer }, strict: true })
    // It expects `#!/usr/bin/env`; bin/devctl.cjs says why it has another one.
    expect(messages).toMatchObject(
      ['devctl', 'kubectl-devctl'].map(name => ({ code: 'BIN_FILE_NOT_EXECUTABLE', path: ['bin', name] })),
    )
  })

  test('all ways to resolve modules find the declarations of what runs', async () => {
    const paths = ['package.json', ...filesIn(join(installed, 'dist/lib')).map(path => relative(installed, path))]
    const { name, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    // TypeScript takes ten seconds to parse the bundles, of which only the kind of module matters here.
    const contentOf = (path: string) =>
      path.endsWith('.js') ? 'export {}' : readFileSync(join(installed, path), 'utf8')
    const files = Object.fromEntries(paths.map(path => [`/node_modules/devctl/${path}`, contentOf(path)]))
    const checked = await checkPackage(new Package(files, name, version))
    const problems = 'problems' in checked ? checked.problems : ['no types']
    // `node10` knows no `exports`, and TypeScript 7 has no such resolution. Node.js loads modules with `require`.
    const isExpected = (one: (typeof problems)[number]) =>
      typeof one !== 'string' &&
      (one.kind === 'CJSResolvesToESM' || (one.kind === 'NoResolution' && one.resolutionKind === 'node10'))
    expect(problems.filter(one => !isExpected(one))).toEqual([])
    expect(problems).toHaveLength(6)
  })
})

describe('code of other packages', () => {
  const metafiles: readonly Metafile[] = JSON.parse(readFileSync(join(root, 'dist/metafiles.json'), 'utf8'))
  const outputs = metafiles.flatMap(one => Object.entries(one.outputs))

  test('all programs of the package are bundles', () => {
    const bundled = outputs.map(([path]) => path)
    const programs = filesIn(join(installed, 'dist')).filter(path => /\.(js|cjs|css|woff2)$/.test(path))
    expect(programs.length).toBeGreaterThan(100)
    const shipped = programs.map(path => relative(installed, path))
    expect(shipped.filter(path => !bundled.includes(path.replace(/\.cjs$/, '.js')) && !bundled.includes(path))).toEqual(
      [],
    )
  })

  test('licences and the bill of materials name the packages that are bundled', () => {
    const inputs = outputs.flatMap(([, output]) => Object.entries(output.inputs))
    const bundled = inputs
      .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path.includes('node_modules/'))
      .map(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)!)
      .map(
        ([folder, name]) => `${name} ${JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version}`,
      )
    expect(bundled.length).toBeGreaterThan(100)
    const names = [...new Set(bundled)].sort()
    const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES'), 'utf8')
    expect([...licences.matchAll(/^(\S+ \d+\.\d+\.\S+) \(.+\)$/gm)].map(([, name]) => name).sort()).toEqual(names)
    const { components } = JSON.parse(readFileSync(join(installed, 'dist/bom.cdx.json'), 'utf8'))
    const listed = (components as readonly Component[]).map(one => ({
      ...one,
      name: [one.group, one.name].filter(Boolean).join('/'),
    }))
    expect(listed.map(({ name, version }) => `${name} ${version}`).sort()).toEqual(names)
    for (const { name, version, purl } of listed) expect(decodeURIComponent(purl)).toBe(`pkg:npm/${name}@${version}`)
    // The font of the pages, and a package of each kind of bundle.
    for (const name of ['@fontsource-variable/inter', 'preact', 'cdk8s-plus-27', 'fastify', 'ssh2', 'commander'])
      expect(listed.map(one => one.name)).toContain(name)
  })
})

describe('compiled code', () => {
  const code = join(home, '.cache/devctl/code')

  test('the first run keeps it in the cache folder of the user, and the next one uses it', () => {
    rmSync(code, { recursive: true, force: true })
    expect(run('--help').status).toBe(0)
    const kept = filesIn(code)
    expect(kept.map(path => basename(path))).toEqual(['start.pack.options.cache'])
    const before = kept.map(path => statSync(path).mtimeMs)
    expect(run('--help').status).toBe(0)
    expect(filesIn(code)).toEqual(kept)
    expect(kept.map(path => statSync(path).mtimeMs)).toEqual(before)
  })

  test('each command has its own code, wrong usage has none, and flags of V8 share none', () => {
    rmSync(code, { recursive: true, force: true })
    const names = () => filesIn(code).map(path => relative(code, path).replace(/^\w+-v[^/]+x64|^\w+-v[^/]+arm64/, ''))
    for (const words of [['render', '--name', 'shop'], ['rendr'], ['config']]) run(...words)
    const packs = ['compile.pack', 'read.pack', 'start.pack'].flatMap(pack =>
      ['config', 'render'].map(one => `/${pack}.${one}.cache`),
    )
    expect(
      names()
        .filter(name => name.includes('.pack'))
        .sort(),
    ).toEqual(packs)
    const before = filesIn(code).map(path => statSync(path).mtimeMs)
    for (let time = 0; time < 2; time++) {
      run('config')
      spawnSync(devctl, ['config'], {
        cwd: join(folder, 'work'),
        env: { ...env, NODE_OPTIONS: '--max-old-space-size=500' },
      })
    }
    expect(
      names()
        .filter(name => name.endsWith('/start.pack.config.cache'))
        .sort(),
    ).toEqual([expect.stringMatching(/^-\d+\/start/), '/start.pack.config.cache'])
    expect(
      filesIn(code)
        .filter(path => !/-\d+\/[^/]+$/.test(path))
        .map(path => statSync(path).mtimeMs),
    ).toEqual(before)
  })

  test('code in a folder that others can write to is not used', () => {
    const [own] = readdirSync(code)
    const file = join(code, own!, 'start.pack.options.cache')
    write(dirname(file), { 'start.pack.options.cache': 'something else' })
    spawnSync('chmod', ['777', dirname(file)])
    expect(run('--help').status).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('something else')
    spawnSync('chmod', ['700', dirname(file)])
    // V8 refuses the code, and it is written anew.
    expect(run('--help').status).toBe(0)
    expect(statSync(file).size).toBeGreaterThan(1000)
  })

  test.runIf(process.getuid?.() === 0)('nothing is written into the home of another user', () => {
    const other = join(folder, 'other')
    mkdirSync(other)
    chownSync(other, 12_345, 12_345)
    const { status } = spawnSync(devctl, ['--help'], { env: { ...env, HOME: other } })
    expect(status).toBe(0)
    expect(readdirSync(other)).toEqual([])
  })

  test('a home that cannot be written to only makes a run slower', () => {
    const words = ['-c', `HOME=/proc/none exec "${devctl}" --help`]
    const { status, stderr } = spawnSync('sh', words, { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})

describe('programs that use the package', () => {
  const work = join(folder, 'program')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')

  beforeAll(() => {
    mkdirSync(join(work, 'node_modules'), { recursive: true })
    cpSync(installed, join(work, 'node_modules/devctl'), { recursive: true })
    write(work, {
      'package.json': '{"type": "module", "private": true}\n',
      'compose.yaml': 'services: {web: {image: a}}\n',
    })
  })

  const link = (...names: readonly string[]) => {
    for (const name of names) {
      mkdirSync(dirname(join(work, 'node_modules', name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(work, 'node_modules', name))
    }
  }
  const node = (script: string) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: work, env, encoding: 'utf8' })

  test('devctl/compiler and devctl/operations need no other package', () => {
    const compiled = node(`
      import { compile } from 'devctl/compiler'
      import { openProject, render, UserError, workspaceOf } from 'devctl/operations'
      const workspace = workspaceOf({ cwd: process.cwd() })
      const project = await openProject(workspace, {})
      const outcome = await render({ workspace, on() {} }, { namespace: 'dev' }, project)
      console.log(typeof compile, outcome.kind, new UserError('x') instanceof Error)`)
    expect(compiled.stderr).toBe('')
    expect(compiled.stdout).toBe('function rendered true\n')
  })

  test('packages that operations load when they need them are complete', () => {
    write(work, {
      'build/compose.yaml': 'services: {web: {build: ., image: "127.0.0.1:9/x/y:1"}}\n',
      'build/Dockerfile': 'FROM scratch\n',
    })
    const { stdout, stderr } = node(`
      import { build, doctor, openProject, workspaceOf } from 'devctl/operations'
      const env = { HOME: process.env.HOME, BUILDKIT_HOST: 'tcp://127.0.0.1:9' }
      const workspace = workspaceOf({ cwd: process.cwd() + '/build', env })
      const signal = AbortSignal.timeout(30_000)
      const world = { workspace, signal, on() {} }
      console.log(JSON.stringify(await build(world, {}).catch(({ message }) => message)))
      const session = new Error('no cluster')
      const project = await openProject(workspace, {})
      console.log(await doctor({ ...world, project, session, now: () => new Date(0) }, {}).then(({ path }) => path))`)
    expect(stderr).toBe('')
    expect(stdout).toContain('127.0.0.1:9')
    expect(stdout).toContain('.zip')
    expect(stdout).not.toMatch(/is not a (function|constructor)|is not defined|of undefined/)
  })

  test('a strict program compiles against the declarations, which need Node.js only', () => {
    link('@types/node', 'undici-types')
    write(work, {
      'main.ts': `import { compile, type Plan } from 'devctl/compiler'
import { deploy, type DeployOutcome, openSession, type OperationEvent, publish } from 'devctl/operations'
export const all = [compile, deploy, openSession, publish]
export type All = Plan | DeployOutcome | OperationEvent
`,
    })
    const words = '--noEmit --strict --skipLibCheck false --module nodenext --target es2023 --types node main.ts'
    const { stdout, status } = spawnSync(process.execPath, [tsc, '--ignoreConfig', ...words.split(' ')], {
      cwd: work,
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  test('devctl/constructs uses the cdk8s of the program', () => {
    link('cdk8s', 'cdk8s-plus-27', 'constructs')
    const { stdout, stderr } = node(`
      import { App, Chart } from 'cdk8s'
      import { ComposeApplication } from 'devctl/constructs'
      const app = new App()
      const chart = new Chart(app, 'c')
      new ComposeApplication(chart, 'shop', { file: 'compose.yaml', namespace: 'dev' })
      console.log(chart.toJson().map(one => one.kind).join())`)
    expect(stderr).toBe('')
    expect(stdout).toContain('Deployment')
  })
})
