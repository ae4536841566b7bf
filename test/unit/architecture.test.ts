import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/**
 * The rooms of ARCHITECTURE.md: a module imports modules of its own room and of rooms on lower levels, types and lazy
 * imports included. `packages` are those that it may use; a package on no list is for no room. `cli` may use all.
 */
const ROOMS: Readonly<Record<string, { readonly level: number; readonly packages?: readonly string[] }>> = {
  cli: { level: 13 },
  api: { level: 12, packages: ['constructs'] },
  init: { level: 11 },
  develop: { level: 10, packages: ['yazl'] },
  editor: { level: 9, packages: ['vscode-languageserver-protocol', 'vscode-languageserver-textdocument'] },
  operations: { level: 9, packages: ['js-yaml'] },
  commands: { level: 8 },
  containers: { level: 8 },
  gitops: { level: 8, packages: ['age-encryption', 'js-yaml'] },
  builds: { level: 7 },
  'platform/install': { level: 7 },
  'platform/session': { level: 6 },
  'platform/web': { level: 6, packages: ['preact', 'preact-iso', '@preact/signals'] },
  'platform/server': { level: 5, packages: ['fastify', 'jose', 'openid-client'] },
  'platform/client': { level: 5 },
  explain: { level: 5 },
  project: { level: 4 },
  'platform/api': { level: 4, packages: ['typebox'] },
  'platform/records': { level: 4 },
  environment: { level: 3 },
  'platform/rules': { level: 3 },
  'platform/runner': { level: 3 },
  agent: { level: 3 },
  adapters: { level: 2 },
  constructs: { level: 2, packages: ['cdk8s', 'cdk8s-plus-27', 'constructs'] },
  compiler: { level: 1, packages: ['js-yaml'] },
  sync: { level: 1 },
}

const TEXT = ['compiler/text', 'compiler/diagnostics', 'compiler/values']
const KEYS = ['compiler/compose/keys', 'compiler/compose/read', 'compiler/compose/project', 'compiler/schema', ...TEXT]
const VALUES = ['compiler/diagnostics', 'compiler/values']
/**
 * Folders that may import less than their room: modules of these folders, and any types that the room may import. The
 * longest folder that fits counts.
 */
const NARROWER: Readonly<Record<string, readonly string[]>> = {
  'compiler/values': ['compiler/values'],
  'compiler/diagnostics': ['compiler/diagnostics', 'compiler/values'],
  'compiler/text': TEXT,
  'compiler/schema': ['compiler/schema', ...TEXT],
  'compiler/compose/read': ['compiler/compose/read', 'compiler/schema', ...TEXT],
  'compiler/compose/keys': KEYS,
  'compiler/compose': ['compiler/compose', ...KEYS],
  'compiler/manifest': ['compiler/manifest', 'compiler/compose', 'compiler/schema', ...TEXT],
  'compiler/plan': ['compiler/plan', 'compiler/compose', ...TEXT],
  'constructs/compose-application': ['constructs', 'compiler'],
  constructs: ['constructs', 'compiler/plan', 'compiler/values'],
  'sync/ignore': ['sync/ignore', 'sync/core'],
  'sync/core': ['sync/core'],
  'adapters/files': ['adapters/files', 'compiler/diagnostics'],
  'adapters/http': ['adapters/http'],
  'adapters/process': ['adapters/process', 'adapters/files/stat-if-found', ...VALUES],
  'adapters/kubernetes': [
    'adapters/kubernetes',
    'adapters/files/temporary-folder',
    'adapters/http',
    'adapters/json',
    'adapters/process',
    'compiler/diagnostics',
  ],
  'adapters/json': ['adapters/json'],
  'adapters/git': ['adapters/git', 'adapters/files', 'adapters/process', 'compiler/diagnostics'],
  'adapters/forge': ['adapters/forge', 'adapters/git', 'adapters/http', 'adapters/json', 'adapters/process', ...VALUES],
  'adapters/registry': ['adapters/registry', 'adapters/http', 'adapters/json', 'adapters/process', ...VALUES],
  'adapters/buildkit': ['adapters/buildkit', 'adapters/files', 'adapters/json', 'adapters/process', ...VALUES],
  'adapters/ssh': ['adapters/ssh'],
  'adapters/tar': ['adapters/tar'],
  agent: ['agent', 'sync', 'adapters/ssh'],
  'editor/text': ['editor/text'],
  environment: [
    'environment',
    'adapters/json',
    'adapters/kubernetes/cluster',
    'adapters/http/slots',
    'compiler',
    'constructs/kinds',
    'constructs/manifest',
    'constructs/mirror/names',
  ],
  'platform/api': ['platform/api', 'platform/rules'],
  'platform/rules': [
    'platform/rules',
    'compiler/values/markdown',
    'compiler/values/numbers/quantity',
    'compiler/diagnostics/suggest',
  ],
  'platform/records': ['platform/records', 'platform/rules'],
  'platform/install/manifests': ['platform/install/manifests', 'platform/records', 'platform/rules'],
  'platform/client': ['platform/client', 'platform/api/prefix'],
  'platform/runner': ['platform/runner', 'adapters/git', 'adapters/http/back-off', 'adapters/process/time-limit'],
  'platform/server': [
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
  'platform/web': [
    'platform/web',
    'platform/api/pages',
    'platform/client',
    'platform/rules',
    'compiler/values',
    'compiler/diagnostics/told-problem',
  ],
}
/** Packages of one folder. */
const OF_FOLDER: Readonly<Record<string, readonly string[]>> = {
  'adapters/files': ['yaml'],
  'adapters/http': ['hpagent'],
  'adapters/kubernetes': ['@kubernetes/client-node', 'js-yaml', 'ws'],
  'adapters/buildkit': ['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'],
  'adapters/ssh': ['ssh2'],
}

/** Folders in no room: programs for this project, tests, documents, and generated files. */
const NO_SOURCES = [
  'bench',
  'bin',
  'dist',
  'docs',
  'examples',
  'golden',
  'integrations',
  'node_modules',
  'scripts',
  'test',
]

/** Modules of Node that pure folders may use, because they have no side effects. */
const PURE_NODE = new Set(['node:path', 'node:path/posix', 'node:crypto', 'node:zlib'])
/** The folders that take the clock and I/O as parameters. */
const PURE = [
  'adapters/json',
  'compiler',
  'constructs',
  'editor/text',
  'environment',
  'explain',
  'platform/api',
  'platform/client',
  'platform/install/manifests',
  'platform/records',
  'platform/rules',
  'sync/core',
  'sync/ignore',
]
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
  'vscode-languageserver-protocol',
  'vscode-languageserver-textdocument',
])

interface Import {
  readonly from: string
  readonly target: string
  readonly isType: boolean
  readonly isLazy: boolean
}

/** Returns the longest folder of a table that a module is in. */
const rowOf = (table: object, path: string): string | undefined =>
  Object.keys(table)
    .filter(folder => path.startsWith(`${folder}/`) || path.startsWith(`${folder}.`))
    .sort((a, b) => b.length - a.length)[0]

/** Returns the room of a module. Throws an Error for a folder that is in no room. */
function roomOf(path: string): string {
  const room = rowOf(ROOMS, path)
  if (room === undefined) throw new Error(`${path} is in no room: enter its folder in ROOMS`)
  return room
}

/** True if a module may import another one: by the levels of their rooms, and by the narrower rules inside of them. */
function mayImport(path: string, target: string, isType: boolean): boolean {
  const [room, other] = [roomOf(path), roomOf(target)]
  if (room !== other && ROOMS[room]!.level <= ROOMS[other]!.level) return false
  const narrower = rowOf(NARROWER, path)
  const isIn = (folder: string) => target.startsWith(`${folder}/`) || target === `${folder}.ts`
  return isType || narrower === undefined || NARROWER[narrower]!.some(isIn)
}

const isPure = (path: string): boolean =>
  rowOf(Object.fromEntries(PURE.map(folder => [folder, true])), path) !== undefined

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

/** Returns the circles of imports, one for each import that leads back to a module on the current path. */
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

/** True if the code of a command takes the type of its options from the declaration, which loads the code lazily. */
const isOptionType = ({ from, target, isType }: Import): boolean =>
  isType && from.startsWith('cli/run/') && target.startsWith('cli/commands/')

const isOurs = (target: string): boolean =>
  /^(adapters|agent|api|builds|cli|commands|compiler|constructs|containers|develop|editor|environment|explain|gitops|init|operations|platform|project|sync)\//.test(
    target,
  )
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

/** Returns the code of a module without its comments and strings. */
const codeOf = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, '')

/** The functions that wire the server together, by their modules. No other function or class sees all services. */
const SEE_ALL_SERVICES = [
  'platform/server/handlers/make-handlers.ts',
  'platform/server/http/app.ts',
  'platform/server/leader/make-tasks.ts',
]

/** Returns the uses of all services of the server in a text, other than its import and picks of named services. */
const usesOfAllServices = (text: string): readonly string[] =>
  codeOf(text)
    .replaceAll(/^import type \{ Services \} from.*/gm, '')
    .match(/(?<!\bPick<\s*)\bServices\b|\btypeof (?:createServices|createApp|makeHandlers|makeTasks)\b/g) ?? []

describe('imports', () => {
  test('a module imports no room of its own level or a higher one', () => {
    expect(mayImport('builds/build.ts', 'project/input.ts', false)).toBe(true)
    expect(mayImport('builds/build.ts', 'builds/input.ts', false)).toBe(true)
    expect(mayImport('builds/build.ts', 'gitops/publish/publish.ts', true)).toBe(false)
    expect(mayImport('platform/web/app.tsx', 'platform/session/login.ts', true)).toBe(false)
    expect(mayImport('compiler/values/port.ts', 'compiler/plan/plan.ts', false)).toBe(false)
    expect(() => mayImport('engine/start.ts', 'builds/build.ts', false)).toThrow('is in no room')
    expect(() => mayImport('platform/engine/start.ts', 'builds/build.ts', false)).toThrow('is in no room')
  })

  test.each(modules)('%s imports only what its room may import', path => {
    const room = roomOf(path)
    const packages = [...(ROOMS[room]!.packages ?? []), ...(OF_FOLDER[rowOf(OF_FOLDER, path) ?? ''] ?? [])]
    for (const { target, isType } of imports.get(path)!) {
      if (isOurs(target)) expect(mayImport(path, target, isType), `${path} imports ${target}`).toBe(true)
      else if (target.startsWith('node:')) {
        if (isPure(path)) expect(PURE_NODE.has(target), `${path} imports ${target}`).toBe(true)
      } else if (!isType)
        expect(room === 'cli' || packages.includes(packageOf(target)), `${path} imports ${target}`).toBe(true)
    }
  })

  test('no other room imports the command line, not even its types', () => {
    const found = [...imports.values()]
      .flat()
      .filter(({ from, target }) => target.startsWith('cli/') && !from.startsWith('cli/'))
    expect(found.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  test('no module below the command line prints', () => {
    const programs = ['cli/', 'agent/', 'platform/server/main.ts', 'platform/runner/main.ts']
    for (const path of modules.filter(path => !programs.some(one => path.startsWith(one))))
      expect(readFileSync(join(root, path), 'utf8'), path).not.toMatch(
        /\bprocess\.(?:stdout|stderr|exitCode|exit\()|\bconsole\./,
      )
  })

  test('no module imports itself indirectly, not by types nor by lazy imports either', () => {
    const kept = [...imports].map(([path, list]) => [path, list.filter(one => !isOptionType(one))] as const)
    expect(circles(new Map(kept))).toEqual([])
  })

  test('circles finds a circle', () => {
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
    for (const path of modules.filter(isPure)) {
      expect(codeOf(readFileSync(join(root, path), 'utf8')), path).not.toMatch(
        /\bprocess\.|\bDate\.now|\bnew Date\(\)|\bfetch\(|\bMath\.random/,
      )
    }
  })

  test('a class or function of the server names the services that it uses', () => {
    const found = modules
      .filter(path => path.startsWith('platform/server/') && path !== 'platform/server/create-services.ts')
      .flatMap(path => usesOfAllServices(readFileSync(join(root, path), 'utf8')).map(() => path))
    expect(found.sort()).toEqual(SEE_ALL_SERVICES)
  })

  test.each([
    ['constructor(world: ServerContext, parts: Services) {', 1],
    ['readonly #parts: Readonly<Services>', 1],
    ["parts: Omit<Services, 'users'>,", 1],
    ["import { createServices, type Services as All } from '../create-services.ts'", 1],
    ['parts: ReturnType<typeof createServices>,', 1],
    ["parts: Pick<Services, 'users' | 'tokens'>,", 0],
    ["import type { Services } from '../create-services.ts'\n// Services of a platform.", 0],
  ])('usesOfAllServices counts the uses in `%s`', (text, count) => {
    expect(usesOfAllServices(text)).toHaveLength(count)
  })

  test('no module loses a time limit beside another signal to the garbage collector', () => {
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
