import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

const TEXT = ['compiler/text', 'compiler/diagnostics', 'compiler/values']
const KEYS = ['compiler/compose/keys', 'compiler/compose/read', 'compiler/compose/project', 'compiler/schema', ...TEXT]
/** The table of ARCHITECTURE.md: what the modules of a folder may import from ours, and which packages. The longest folder that fits counts. */
const RULES: Readonly<Record<string, { readonly ours: readonly string[]; readonly packages: readonly string[] }>> = {
  'compiler/values': { ours: ['compiler/values'], packages: [] },
  'compiler/diagnostics': { ours: ['compiler/diagnostics', 'compiler/values'], packages: [] },
  'compiler/text': { ours: TEXT, packages: ['js-yaml'] },
  'compiler/schema': { ours: ['compiler/schema', ...TEXT], packages: [] },
  'compiler/compose/read': { ours: ['compiler/compose/read', 'compiler/schema', ...TEXT], packages: [] },
  'compiler/compose/keys': { ours: KEYS, packages: [] },
  'compiler/compose': { ours: ['compiler/compose', ...KEYS], packages: [] },
  'compiler/manifest': { ours: ['compiler/manifest', 'compiler/compose', 'compiler/schema', ...TEXT], packages: [] },
  'compiler/plan': { ours: ['compiler/plan', 'compiler/compose', ...TEXT], packages: [] },
  compiler: { ours: ['compiler'], packages: [] },
  'constructs/compose-application': { ours: ['constructs', 'compiler'], packages: ['cdk8s', 'constructs'] },
  constructs: {
    ours: ['constructs', 'compiler/plan', 'compiler/values'],
    packages: ['cdk8s', 'cdk8s-plus-27', 'constructs'],
  },
  'sync/ignore': { ours: ['sync/ignore'], packages: [] },
  sync: { ours: ['sync'], packages: [] },
  'adapters/files': { ours: ['adapters/files', 'compiler/diagnostics'], packages: ['yaml'] },
  'adapters/http': { ours: ['adapters/http'], packages: ['hpagent'] },
  'adapters/process': {
    ours: ['adapters/process', 'compiler/diagnostics', 'compiler/values'],
    packages: [],
  },
  'adapters/kubernetes': {
    ours: ['adapters/kubernetes', 'adapters/http', 'adapters/json', 'adapters/process', 'compiler/diagnostics'],
    packages: ['@kubernetes/client-node', 'js-yaml', 'ws'],
  },
  'adapters/json': { ours: ['adapters/json'], packages: [] },
  'adapters/git': { ours: ['adapters/git', 'adapters/process', 'compiler/diagnostics'], packages: [] },
  'adapters/forge': {
    ours: [
      'adapters/forge',
      'adapters/git',
      'adapters/http',
      'adapters/json',
      'adapters/process',
      'compiler/diagnostics',
      'compiler/values',
    ],
    packages: [],
  },
  'adapters/registry': {
    ours: [
      'adapters/registry',
      'adapters/http',
      'adapters/json',
      'adapters/process',
      'compiler/diagnostics',
      'compiler/values',
    ],
    packages: [],
  },
  'adapters/buildkit': {
    ours: [
      'adapters/buildkit',
      'adapters/files',
      'adapters/json',
      'adapters/process',
      'compiler/diagnostics',
      'compiler/values',
    ],
    packages: ['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'],
  },
  'adapters/ssh': { ours: ['adapters/ssh'], packages: ['ssh2'] },
  agent: { ours: ['agent', 'sync', 'adapters/ssh'], packages: [] },
  'operations/contexts': {
    ours: [
      'operations/contexts',
      'adapters/files',
      'adapters/json',
      'adapters/kubernetes/kubeconfig-files',
      'compiler/diagnostics',
    ],
    packages: [],
  },
  environment: {
    ours: [
      'environment',
      'adapters/json',
      'adapters/kubernetes/cluster',
      'adapters/http/slots',
      'compiler/diagnostics',
      'compiler/text/source',
      'compiler/text/tree',
      'compiler/values',
      'compiler/plan',
      'constructs/kinds',
      'constructs/manifest',
      'constructs/mirror/names',
    ],
    packages: [],
  },
  'operations/commands': {
    ours: [
      'operations/commands',
      'environment',
      'adapters/git/git-facts',
      'adapters/process',
      'adapters/kubernetes/cluster',
      'adapters/kubernetes/connection',
      'adapters/kubernetes/address',
      'adapters/kubernetes/unreachable',
      'compiler/diagnostics',
      'compiler/text',
      'compiler/values',
      'platform/rules/variable-names',
    ],
    packages: ['js-yaml'],
  },
  'operations/gitops': {
    ours: [
      'operations/gitops',
      'operations/project/lock',
      'adapters/files',
      'adapters/git',
      'adapters/forge',
      'adapters/json',
      'adapters/process',
      'compiler/diagnostics',
      'compiler/values',
      'constructs/kinds',
      'constructs/manifest',
      'constructs/yaml',
    ],
    packages: ['age-encryption', 'js-yaml'],
  },
  'platform/api': { ours: ['platform/api', 'platform/rules'], packages: ['typebox'] },
  'platform/rules': {
    ours: [
      'platform/rules',
      'compiler/values/markdown',
      'compiler/values/numbers/quantity',
      'compiler/diagnostics/suggest',
    ],
    packages: [],
  },
  'platform/records': { ours: ['platform/records', 'platform/rules'], packages: [] },
  'platform/client': { ours: ['platform/client', 'platform/api/prefix'], packages: [] },
  'platform/install': { ours: ['platform/install', 'platform/records', 'platform/rules'], packages: [] },
  'platform/runner': {
    ours: ['platform/runner', 'adapters/git', 'adapters/http/back-off', 'adapters/process/time-limit'],
    packages: [],
  },
  'platform/server': {
    ours: [
      'platform/server',
      'platform/api',
      'platform/records',
      'platform/rules',
      'environment',
      'adapters',
      'compiler/diagnostics',
      'constructs/kinds',
      'constructs/mirror/names',
    ],
    packages: ['fastify', 'jose', 'openid-client'],
  },
  'platform/web': {
    ours: [
      'platform/web',
      'compiler/diagnostics/told-problem',
      'platform/api/pages',
      'platform/client',
      'platform/rules/asked-together',
      'platform/rules/environment-name',
      'platform/rules/accounts/login-name',
      'platform/rules/accounts/login-problems',
      'platform/rules/accounts/ci-trust',
      'platform/rules/repository-url',
      'platform/rules/runs/run-states',
      'platform/rules/runs/running',
      'platform/rules/runs/sum-up',
      'platform/rules/usage',
      'platform/rules/variable-names',
      'compiler/values/printable',
    ],
    packages: ['preact', 'preact-iso', '@preact/signals'],
  },
  operations: {
    ours: [
      'operations',
      'adapters',
      'compiler',
      'constructs',
      'sync',
      'platform/api/pages',
      'platform/client',
      'platform/install',
      'platform/records',
      'platform/rules',
    ],
    packages: ['yazl'],
  },
  api: { ours: ['api', 'operations', 'adapters', 'compiler', 'constructs'], packages: ['constructs'] },
  'cli/options': {
    ours: ['cli/options', 'operations/project/checks', 'operations/publish/oci-reference', 'compiler'],
    packages: [],
  },
  'cli/terminal': {
    ours: ['cli/terminal', 'cli/options/duration', 'api', 'operations', 'adapters', 'compiler', 'constructs'],
    packages: ['@inquirer/select', 'diff'],
  },
  'cli/run': {
    ours: [
      'cli/run',
      'cli/options',
      'cli/terminal',
      'api',
      'operations',
      'adapters',
      'compiler',
      'constructs',
      'platform/api/pages',
      'platform/install',
      'platform/rules/environment-name',
      'platform/rules/names',
      'platform/rules/refusal-pages',
      'platform/rules/repository-url',
      'platform/rules/runs/run-states',
      'platform/rules/runs/running',
    ],
    packages: [],
  },
  cli: {
    ours: ['cli', 'operations', 'adapters', 'compiler', 'constructs', 'platform/rules/previews/webhook-signature'],
    packages: ['commander'],
  },
}

/** Folders that have the row of the folder above them. A new folder is entered here, or has a row of its own. */
const WITH_ROW_ABOVE: Readonly<Record<string, readonly string[]>> = {
  cli: ['commands'],
  constructs: ['mirror', 'pod'],
  operations: [
    'build',
    'config',
    'deploy',
    'destroy',
    'develop',
    'diff',
    'forward',
    'gitops-init',
    'gitops-secrets',
    'init',
    'list',
    'logs',
    'platform',
    'project',
    'publish',
    'render',
    'restart',
    'validate',
  ],
}
/** Folders in no layer: programs for this project, tests, documents, and what is made of the sources. */
const NO_SOURCES = ['bench', 'bin', 'dist', 'docs', 'examples', 'golden', 'node_modules', 'scripts', 'test']

/** Pure folders may use these of Node's modules: they touch nothing. */
const PURE_NODE = new Set(['node:path', 'node:path/posix', 'node:crypto', 'node:zlib'])
/** The folders that talk to the world. */
const IMPURE = new Set([
  'adapters/buildkit',
  'adapters/files',
  'adapters/forge',
  'adapters/git',
  'adapters/http',
  'adapters/kubernetes',
  'adapters/process',
  'adapters/registry',
  'adapters/ssh',
  'agent',
  'api',
  'cli',
  'cli/run',
  'cli/terminal',
  'operations',
  'operations/commands',
  'operations/contexts',
  'operations/gitops',
  'platform/runner',
  'platform/server',
  'platform/web',
  'sync',
])
const HEAVY = new Set([
  '@kubernetes/client-node',
  'js-yaml',
  'cdk8s',
  'cdk8s-plus-27',
  'constructs',
  '@inquirer/select',
  'hpagent',
  'age-encryption',
  'ssh2',
])

interface Import {
  readonly from: string
  readonly target: string
  readonly isType: boolean
  readonly isLazy: boolean
}

/** The folder that has a row of its own. */
const folderOf = (path: string): string | undefined =>
  Object.keys(RULES)
    .filter(rule => path.startsWith(`${rule}/`) || path.startsWith(`${rule}.`))
    .sort((a, b) => b.length - a.length)[0]

const modules = readdirSync(root, { withFileTypes: true })
  .filter(entry => entry.isDirectory() && !entry.name.startsWith('.') && !NO_SOURCES.includes(entry.name))
  .flatMap(({ name }) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter(path => /\.tsx?$/.test(path))
      .map(path => join(name, path)),
  )
const imports = new Map(modules.map(path => [path, importsOf(path)]))

function importsOf(path: string): readonly Import[] {
  const text = readFileSync(join(root, path), 'utf8')
  const found: Import[] = []
  for (const [, kind, target] of text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gm))
    found.push({ from: path, target: resolve(path, target!), isType: kind !== undefined, isLazy: false })
  for (const [, target] of text.matchAll(/\bimport\('([^']+)'\)/g))
    found.push({ from: path, target: resolve(path, target!), isType: false, isLazy: true })
  return found
}

function resolve(from: string, target: string): string {
  return target.startsWith('.') ? relative(root, join(root, dirname(from), target)) : target
}

/** The circles of imports, one for each module that is the first found to lead back to itself. */
function circles(imports: ReadonlyMap<string, readonly Import[]>): readonly string[] {
  const done = new Set<string>()
  const path: string[] = []
  const found: string[] = []
  const visit = (module: string) => {
    if (path.includes(module)) found.push([...path.slice(path.indexOf(module)), module].join(' → '))
    else if (!done.has(module)) {
      path.push(module)
      for (const { target } of imports.get(module) ?? []) visit(target)
      path.pop()
      done.add(module)
    }
  }
  for (const module of imports.keys()) visit(module)
  return found
}

/** The folders of some modules that are in no table: of the first two levels, as those below have the row above them. */
function unlisted(modules: readonly string[]): readonly string[] {
  const folders = new Set(modules.map(path => dirname(path).split('/').slice(0, 2).join('/')))
  const isListed = (folder: string) => {
    const [above = '', name] = folder.split('/')
    return folder in RULES || (name !== undefined && WITH_ROW_ABOVE[above]?.includes(name) === true)
  }
  return [...folders].filter(folder => !isListed(folder))
}

const isOurs = (target: string): boolean =>
  /^(adapters|agent|api|builds|cli|compiler|constructs|develop|environment|gitops|init|operations|platform|project|sync)\//.test(
    target,
  )
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

describe('imports', () => {
  test('every folder has a row', () => {
    expect(unlisted(modules)).toEqual([])
    const paths = ['engine/start.ts', 'adapters/ftp/get.ts', 'operations/rollback/rollback.ts', 'cli/main.ts']
    expect(unlisted(paths)).toEqual(['engine', 'adapters/ftp', 'operations/rollback'])
  })

  test.each(modules.filter(path => folderOf(path) !== undefined))('%s', path => {
    const folder = folderOf(path)!
    const rule = RULES[folder]!
    for (const { target, isType } of imports.get(path)!) {
      if (isOurs(target)) {
        const allowed = isType || rule.ours.some(prefix => target.startsWith(`${prefix}/`) || target === `${prefix}.ts`)
        expect(allowed, `${path} imports ${target}`).toBe(true)
      } else if (target.startsWith('node:')) {
        if (!IMPURE.has(folder)) expect(PURE_NODE.has(target), `${path} imports ${target}`).toBe(true)
      } else if (!isType)
        expect(folder === 'cli' || rule.packages.includes(packageOf(target)), `${path} imports ${target}`).toBe(true)
    }
  })

  test('nothing knows the command line but itself, not by types either', () => {
    const found = [...imports.values()]
      .flat()
      .filter(({ from, target }) => target.startsWith('cli/') && !from.startsWith('cli/'))
    expect(found.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  test('nothing below the command line prints', () => {
    const programs = ['cli/', 'agent/', 'platform/server/main.ts', 'platform/runner/main.ts']
    for (const path of modules.filter(path => !programs.some(one => path.startsWith(one))))
      expect(readFileSync(join(root, path), 'utf8'), path).not.toMatch(
        /\bprocess\.(?:stdout|stderr|exitCode|exit\()|\bconsole\./,
      )
  })

  test('no module reaches itself, not by types nor by lazy imports either', () => {
    expect(circles(imports)).toEqual([])
  })

  test('a circle is found', () => {
    const edge = (from: string, target: string): [string, readonly Import[]] => [
      from,
      [{ from, target, isType: true, isLazy: false }],
    ]
    const found = circles(new Map([edge('a.ts', 'b.ts'), edge('b.ts', 'c.ts'), edge('c.ts', 'b.ts')]))
    expect(found).toEqual(['b.ts → c.ts → b.ts'])
  })

  test('no two exported types share a name', () => {
    const declared = new Map<string, string[]>()
    for (const path of modules.filter(path => !path.startsWith('api/')))
      for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(
        /^export (?:abstract )?(?:interface|type|class) (\w+)/gm,
      ))
        declared.set(name!, [...(declared.get(name!) ?? []), path])
    expect([...declared].filter(([, paths]) => paths.length > 1)).toEqual([])
  })

  test('pure folders use neither the process nor the clock', () => {
    for (const path of modules.filter(path => !IMPURE.has(folderOf(path) ?? ''))) {
      const code = readFileSync(join(root, path), 'utf8').replaceAll(
        /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g,
        '',
      )
      expect(code, path).not.toMatch(/\bprocess\.|\bDate\.now|\bnew Date\(\)|\bfetch\(|\bMath\.random/)
    }
  })

  test('a time limit beside another signal is not lost to the garbage collector', () => {
    for (const path of modules)
      expect(readFileSync(join(root, path), 'utf8'), `${path}: use withTimeLimit`).not.toMatch(
        /AbortSignal\.any\([^)]*AbortSignal\.timeout/,
      )
  })

  test('the start of the command line reaches no heavy package', () => {
    const reached = new Set<string>()
    const queue = ['cli/main.ts']
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (reached.has(path)) continue
      reached.add(path)
      for (const { target, isType, isLazy } of imports.get(path) ?? []) {
        if (isType || isLazy) continue
        expect(HEAVY.has(packageOf(target)), `${path} imports ${target}`).toBe(false)
        if (isOurs(target)) queue.push(target)
      }
    }
    expect(reached.size).toBeGreaterThan(5)
  })
})
