import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Result, run } from '../run.ts'
import { type Cluster, pathOf } from './cluster.ts'
import { defaultServiceAccount } from './examples.ts'

/** A project of a test, with a namespace of its own, which is also the name of its environment. */
export interface Project {
  readonly name: string
  readonly directory: string
  /** Writes the Compose file, which is its services in YAML and what follows them. */
  compose(text: string): void
  write(file: string, text: string): void
  /** Runs devctl in the project's folder. */
  devctl(command: string, ...args: readonly string[]): Promise<Result>
  kubectl(...args: readonly string[]): Promise<string>
  /** The JSON of an object: KIND/NAME. */
  get(what: string): Promise<Live>
  /** Merges a patch into an object: KIND/NAME. */
  patch(what: string, patch: object): Promise<void>
}

const CLAIM = ['v1', 'PersistentVolumeClaim'] as const
/** The kinds by the names that kubectl has for them. Starting kubectl takes longer than a request. */
const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  configmap: ['v1', 'ConfigMap'],
  deployment: ['apps/v1', 'Deployment'],
  persistentvolumeclaim: CLAIM,
  pvc: CLAIM,
  secret: ['v1', 'Secret'],
  service: ['v1', 'Service'],
  statefulset: ['apps/v1', 'StatefulSet'],
}

/** Returns the path of KIND/NAME in the API; undefined for a kind that only kubectl knows. */
function pathIn(namespace: string, what: string): string | undefined {
  const [called = '', name = ''] = what.split('/')
  const found = KINDS[called.replace(/\.apps$/, '')]
  return found && pathOf({ apiVersion: found[0], kind: found[1], metadata: { name } }, namespace)
}

/** The part of an object that the tests read. */
export interface Live {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

let count = 0

/** Runs a test on a new project, and takes its namespace away at the end. */
export async function withProject(cluster: Cluster, test: (project: Project) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'devctl-project-'))
  const name = `p${process.pid}-${++count}`
  const write = (file: string, text: string) => {
    const path = join(directory, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const kubectl = (...args: readonly string[]) => cluster.kubectl('--namespace', name, ...args)
  await cluster.createNamespace(name)
  try {
    await defaultServiceAccount(cluster, name)
    await test({
      name,
      directory,
      write,
      compose: text => write('compose.yaml', text),
      devctl: (command, ...args) =>
        run([command, '--name', name, '--namespace', name, ...args], {
          cwd: directory,
          env: { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_HOME: join(directory, '.home') },
        }),
      kubectl,
      get: async what => {
        const path = pathIn(name, what)
        return path === undefined
          ? JSON.parse(await kubectl('get', what, '--output=json'))
          : await cluster.get<Live>(path)
      },
      patch: async (what, patch) => {
        const path = pathIn(name, what)
        if (path === undefined) throw new Error(`${what} is not of a kind that the tests know`)
        const { status, body } = await cluster.send('PATCH', path, patch, 'application/merge-patch+json')
        if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${body}`)
      },
    })
  } finally {
    await cluster.deleteNamespace(name)
    rmSync(directory, { recursive: true, force: true })
  }
}
