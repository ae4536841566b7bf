import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The folder of the checkout. */
export const root = join(import.meta.dirname, '../..')

/** A folder with Compose files, and how devctl is run in it. */
export interface Case {
  /** Its folder's path among those of its kind: `ports/a-bad-port-is-refused`, `files/list` for an example. */
  readonly name: string
  readonly directory: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** The status the run must end with, where that is not 0 without and 1 with errors. */
  readonly status?: number
  /** The case is run in a copy: `false`, one that is in no git checkout; else a checkout of its own. */
  readonly checkout?: Checkout | false
}

export interface Checkout {
  /** Files and folders that git does not track. */
  readonly untracked?: readonly string[]
  /** Tracked files that are deleted afterwards. */
  readonly deleted?: readonly string[]
}

/** Contents of the `options.yml` of a case; every field is optional. */
interface Options {
  /** The command to run; `render` when absent. */
  readonly command?: string
  /** Added to the usual arguments. */
  readonly args?: readonly string[]
  /** `false` leaves out the usual arguments. */
  readonly defaults?: boolean
  /** The whole process environment of the run. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly status?: number
  readonly checkout?: Checkout | false
}

const usual = ['--name', 'app', '--namespace', 'shop', '--domain', 'dev.example.com', '--loglevel', 'info']

/** The golden cases: the folders in the families of golden/compose, sorted. */
export function goldenCases(): readonly Case[] {
  const golden = join(root, 'golden/compose')
  return folders(golden)
    .flatMap(family => folders(join(golden, family)).map(name => `${family}/${name}`))
    .map(name => readCase(name, join(golden, name), usual))
}

/**
 * The examples: the folders in and below examples/ that devctl can be run in, sorted. The folder of the cdk8s example
 * has code instead.
 */
export function exampleCases(): readonly Case[] {
  const examples = join(root, 'examples')
  const holds = (name: string) => existsSync(join(examples, name, 'compose.yaml'))
  return folders(examples)
    .flatMap(name => (holds(name) ? [name] : folders(join(examples, name)).map(inner => `${name}/${inner}`)))
    .filter(name => holds(name) && !name.startsWith('cdk8s'))
    .map(name => {
      const application = name.replaceAll('/', '-')
      return readCase(name, join(examples, name), [
        ...['--name', application, '--namespace', application, '--domain', 'dev.example.com', '--include-secrets'],
      ])
    })
}

/** Returns the examples without images to build: they run in a cluster as rendered. */
export const unbuiltExamples = (): readonly Case[] =>
  exampleCases().filter(({ directory }) => !/^ {4}build:/m.test(readFileSync(join(directory, 'compose.yaml'), 'utf8')))

function readCase(name: string, directory: string, defaults: readonly string[]): Case {
  const file = join(directory, 'options.yml')
  // The file is one of this repository's, written to the interface.
  const options = (existsSync(file) ? parse(readFileSync(file, 'utf8')) : {}) as Options
  return {
    name,
    directory,
    command: options.command ?? 'render',
    args: [...(options.defaults === false ? [] : defaults), ...(options.args ?? [])],
    env: options.env ?? {},
    stdin: options.stdin ?? '',
    ...(options.status !== undefined && { status: options.status }),
    ...(options.checkout !== undefined && { checkout: options.checkout }),
  }
}

function folders(directory: string): readonly string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter(name => statSync(join(directory, name)).isDirectory())
    .sort()
}
