import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { portInSources } from '../source-port.ts'
import { firstLine, version } from './versions.ts'

interface Package {
  readonly scripts: Readonly<Record<string, unknown>>
  readonly dependencies: ReadonlySet<string>
  readonly engine: string | undefined
  readonly manager: string | undefined
}

/**
 * Frameworks: name of the package, title for users, and port of the development server. Frameworks that build on others
 * come first.
 */
const FRAMEWORKS: readonly (readonly [name: string, title: string, port?: number])[] = [
  ['next', 'Next.js', 3000],
  ['nuxt', 'Nuxt', 3000],
  ['astro', 'Astro', 4321],
  ['gatsby', 'Gatsby', 8000],
  ['@angular/core', 'Angular', 4200],
  ['react-scripts', 'React', 3000],
  ['@vue/cli-service', 'Vue', 8080],
  ['vite', 'Vite', 5173],
  ['@nestjs/core', 'NestJS'],
  ['express', 'Express'],
  ['fastify', 'Fastify'],
  ['koa', 'Koa'],
  ['@hapi/hapi', 'hapi'],
]

const MANAGERS = {
  npm: { install: 'npm install', run: 'npm run', cache: '/root/.npm' },
  yarn: { install: 'yarn install', run: 'yarn', cache: '/usr/local/share/.cache/yarn' },
  pnpm: { install: 'corepack enable && pnpm install', run: 'pnpm run', cache: '/root/.local/share/pnpm' },
  bun: { install: 'bun install', run: 'bun run', cache: '/root/.bun/install/cache' },
} as const

const LOCK_FILES: readonly (readonly [file: string, manager: keyof typeof MANAGERS])[] = [
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
]

const SCRIPTS = ['dev', 'start:dev', 'develop', 'serve', 'start']

export function recogniseNode(files: ProjectFiles): Recognised | undefined {
  const text = files.text('package.json')
  if (text === undefined) return undefined
  const found = readPackage(text)
  const [, title, port] = FRAMEWORKS.find(([name]) => found.dependencies.has(name)) ?? []
  const manager = managerOf(files, found)
  return {
    title: title === undefined ? 'Node.js' : `Node.js, ${title}`,
    marker: 'package.json',
    image: manager === 'bun' ? { value: 'oven/bun:1', from: 'its lock file' } : imageOf(files, found),
    commands: commandsOf(files, found, manager),
    ...portOf(files, title, port),
    debugger: { port: 9229, hint: 'when Node.js runs with `--inspect`' },
    caches: [MANAGERS[manager].cache],
    ignores: ['node_modules', ...(title === 'Next.js' ? ['/.next'] : [])],
  }
}

function readPackage(text: string): Package {
  const found = object(parse(text))
  return {
    scripts: object(found.scripts),
    dependencies: new Set([found.dependencies, found.devDependencies].flatMap(one => Object.keys(object(one)))),
    engine: string(object(found.engines).node) ?? string(object(found.volta).node),
    manager: string(found.packageManager),
  }
}

function managerOf(files: ProjectFiles, { manager }: Package): keyof typeof MANAGERS {
  const name = manager?.split('@')[0]
  if (name !== undefined && Object.hasOwn(MANAGERS, name)) return name as keyof typeof MANAGERS
  return LOCK_FILES.find(([file]) => files.has(file))?.[1] ?? 'npm'
}

function imageOf(files: ProjectFiles, { engine }: Package): Guess<string> {
  for (const file of ['.nvmrc', '.node-version']) {
    const found = version(firstLine(files.text(file)), 1)
    if (found !== undefined) return { value: `node:${found}`, from: file }
  }
  const found = version(engine, 1)
  return found === undefined ? { value: 'node:22' } : { value: `node:${found}`, from: '`engines` in package.json' }
}

function commandsOf(files: ProjectFiles, { scripts }: Package, manager: keyof typeof MANAGERS): Guess<string>[] {
  const { install, run } = MANAGERS[manager]
  const named = SCRIPTS.filter(name => typeof scripts[name] === 'string')
  if (named.length > 0)
    return named.map(name => ({ value: `${install} && ${run} ${name}`, from: `\`scripts.${name}\` in package.json` }))
  const main = ['server.js', 'index.js', 'app.js', 'src/index.js', 'src/server.js'].find(path => files.has(path))
  return main === undefined ? [{ value: 'bash' }] : [{ value: `${install} && node --watch ${main}`, from: main }]
}

function portOf(files: ProjectFiles, title: string | undefined, port: number | undefined): Pick<Recognised, 'port'> {
  if (port !== undefined) return { port: { value: port, from: `the development server of ${title}` } }
  const found = portInSources(files, ['.js', '.mjs', '.cjs', '.ts'])
  return found ? { port: found } : {}
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The package manager reports a syntax error in the file.
    return undefined
  }
}

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
