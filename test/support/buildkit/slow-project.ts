import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, write } from '../cli/folder.ts'
import { type Started, start } from '../git/processes.ts'
import { ENGINE } from './buildkit.ts'

/** Registry of the test cluster, which its builders reach under the same name. */
export const REGISTRY = process.env.DEVCTL_TEST_REGISTRY ?? '127.0.0.1:5000'

/** A project whose build sends files, runs steps and pushes; all of it is new after each change. */
export interface SlowProject {
  readonly folder: string
  /** TMPDIR of its processes. */
  readonly temporary: string
  /** Text that is in the steps of the current build, and of no other. */
  readonly mark: string
  /** Makes another mark and other files. */
  change(): void
  /** The environment of its processes. */
  env(): Readonly<Record<string, string>>
  /** Starts the program as users have it. */
  start(...words: readonly string[]): Started
  /** Lists the paths of all files on disk that a run could have left behind. */
  onDisk(): readonly string[]
}

export interface SlowOptions {
  /** Address from `findBuildkit` or `findEngineAddress`. */
  readonly address: string
  /** Seconds that each of the two builds sleeps. */
  readonly seconds: number
  readonly registry?: string
  readonly base?: string
  /** True if one build writes a cache to a folder, if the builder supports it. */
  readonly writesCache?: boolean
  /** Bytes of the context of each. */
  readonly size?: number
  readonly env?: Readonly<Record<string, string>>
}

export function slowProject({
  address,
  seconds,
  registry = REGISTRY,
  size = 1 << 20,
  base = 'busybox:1.37',
  writesCache = false,
  env = {},
}: SlowOptions): SlowProject {
  const folder = makeFolder()
  const temporary = makeFolder()
  const home = makeFolder({ 'docker/config.json': '{}' })
  const isEngine = address.startsWith(ENGINE)
  // The engine of the test cluster has no network of its own for the steps.
  const network = isEngine ? ', network: host' : ''
  // Older engines do not support it.
  const cache = (name: string) =>
    writesCache && !isEngine && name === 'web' ? `, cache_to: ["type=local,dest=${folder}/cache"]` : ''
  const service = (name: string) =>
    `  ${name}: {build: {context: ${name}, args: [MARK]${network}${cache(name)}, secrets: [token]}}\n`
  write(folder, {
    'compose.yaml': `name: killed\nservices:\n${service('web')}${service('api')}secrets: {token: {environment: TOKEN}}\n`,
  })
  const variables = {
    PATH: process.env.PATH ?? '',
    TMPDIR: temporary,
    HOME: home,
    DEVCTL_HOME: join(home, 'devctl'),
    DOCKER_CONFIG: join(home, 'docker'),
    DEVCTL_REGISTRY: `${registry}/killed`,
    TOKEN: 'hidden-token',
    ...(isEngine ? { DOCKER_HOST: address.slice(ENGINE.length) } : { BUILDKIT_HOST: address }),
    ...env,
  }
  const project = {
    folder,
    temporary,
    mark: '',
    change() {
      project.mark = `mark-${randomBytes(6).toString('hex')}`
      for (const name of ['web', 'api']) {
        mkdirSync(join(folder, name), { recursive: true })
        writeFileSync(join(folder, name, 'data'), randomBytes(size))
        const dockerfile = `FROM ${base}\nARG MARK\nCOPY data /\nRUN --mount=type=secret,id=token : ${project.mark} && sleep ${seconds} && cat /run/secrets/token >/dev/null\nCMD ["sleep", "1000"]\n`
        writeFileSync(join(folder, name, 'Dockerfile'), dockerfile)
      }
    },
    env: () => ({ ...variables, MARK: project.mark }),
    start: (...words: readonly string[]) => start(words, { cwd: folder, env: project.env() }),
    onDisk: () =>
      [folder, temporary, home].flatMap(root =>
        readdirSync(root, { recursive: true, encoding: 'utf8' }).map(path => join(root, path)),
      ),
  }
  project.change()
  return project
}
