import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import { describe, expect, test } from 'vitest'
import type { Command } from '../../../cli/command.ts'
import { commands } from '../../../cli/commands.ts'
import { globalOptions } from '../../../cli/options/global.ts'
import type { Option as Declared } from '../../../cli/options/option.ts'
import { FORMATS } from '../../../cli/options/output.ts'
import { runProgram } from '../../../cli/program.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Meaning of each short flag. Only `logs -f` and `destroy -v` differ, as in `docker compose`. */
const SHORT: Readonly<Record<string, string>> = {
  '-c': '--context',
  '-d': '--detach',
  '-T': '--no-tty',
  '-e': '--env',
  '-f': '--file',
  '-n': '--namespace',
  '-o': '--output',
  '-q': '--quiet',
  '-s': '--service',
  '-t': '--tag',
  '-v': '--verbose',
  '-y': '--yes',
}

/** Commands that print a list, a record or a report, and so have `--output` with at least `json`. */
const RECORDS = [
  'analytics',
  'build',
  'config',
  'context list',
  'context show',
  'credentials',
  'credentials list',
  'deploy',
  'diff',
  'endpoints',
  'events',
  'history',
  'images',
  'init',
  'jobs',
  'namespace list',
  'pipeline list',
  'platform images',
  'platform status',
  'preview endpoints',
  'preview hook',
  'preview list',
  'promote',
  'ps',
  'publish',
  'render',
  'status',
  'top',
  'validate',
  'variables',
  'variables list',
  'version',
]

const WEB = { 'compose.yaml': 'services:\n  web:\n    image: nginx:1.27\n' }

const optionsOf = ({ options }: Command): readonly Declared<unknown>[] => [
  ...Object.values(options),
  ...Object.values(globalOptions),
]

describe.each(commands)('$name', command => {
  test('each short flag has its one meaning', () => {
    for (const { flags } of optionsOf(command)) {
      const { short, long } = new Option(flags)
      if (short === undefined || (command.name === 'logs' && short === '-f')) continue
      // `docker compose down -v` deletes volumes.
      if (command.name === 'destroy' && long === '--volumes') continue
      expect(`${short} ${long}`).toBe(`${short} ${SHORT[short]}`)
    }
  })

  test('`--file`, `--namespace`, `--output` and `--yes` have their short flags', () => {
    const long = new Map(Object.entries(SHORT).map(([short, name]) => [name, short]))
    for (const { flags } of Object.values(command.options)) {
      const option = new Option(flags)
      const isShort = ['--file', '--namespace', '--output', '--yes'].includes(option.long!)
      if (isShort && !(command.name === 'logs' && option.long === '--file'))
        expect(option.short, flags).toBe(long.get(option.long!))
    }
  })

  test('no option is declared or spelled twice, and long flags are in lower case', () => {
    const declared = optionsOf(command).map(({ flags }) => new Option(flags).long!)
    const aliases = optionsOf(command).flatMap(one => one.aliases ?? [])
    expect(new Set([...declared, ...aliases]).size).toBe(declared.length + aliases.length)
    for (const long of declared) expect(long).toMatch(/^--[a-z][a-z0-9-]*$/)
    expect(declared.filter(long => ['--format', '--loglevel', '--sourceUrl', '--sourceurl'].includes(long))).toEqual([])
  })

  test('the formats of `--output` are from the common list, and include JSON', () => {
    const output = command.options['output']
    if (RECORDS.includes(command.name)) expect(output, command.name).toBeDefined()
    if (!output) return
    expect(FORMATS).toEqual(expect.arrayContaining([...output.choices!]))
    // A graph is for people.
    if (command.name !== 'graph') expect(output.choices).toContain('json')
    if (output.choices!.includes('kustomize')) expect(command.name).toBe('render')
  })
})

test('an option that several commands have is spelled the same in all of them', () => {
  const spellings = new Map<string, Set<string>>()
  for (const command of commands)
    for (const { flags } of Object.values(command.options)) {
      const key = new Option(flags).long!.replaceAll('-', '').toLowerCase()
      const found = spellings.get(key) ?? new Set()
      spellings.set(key, found.add(new Option(flags).long!))
    }
  // `up --command` and `preview deploy --comment` differ; `--sourceurl` and `--source-url` would not.
  expect([...spellings.values()].filter(({ size }) => size > 1)).toEqual([])
})

describe('older spellings', () => {
  const devctl = (line: string, cwd = makeFolder(WEB)) => run(line.split(' '), { cwd })

  const aliases = commands.flatMap(command =>
    Object.values(command.options).flatMap(({ flags, aliases = [] }) =>
      aliases.map(alias => ({ name: command.name, alias, long: new Option(flags).long! })),
    ),
  )
  test('are those of yesterday', () => {
    expect(aliases).toEqual([
      { name: 'preview deploy', alias: '--sourceUrl', long: '--source-url' },
      { name: 'platform install', alias: '--ca-file', long: '--ca' },
      { name: 'platform images', alias: '--image-registry', long: '--push' },
      { name: 'render', alias: '--format', long: '--output' },
      { name: 'config', alias: '--format', long: '--output' },
    ])
  })

  test.each(aliases)('`devctl $name $alias` is parsed as $long', async ({ name, alias, long }) => {
    const { status, stderr } = await devctl(`${name} ${alias}`)
    // The parser knows the flag, and asks for its value.
    expect({ status, stderr: stderr.split('\n')[0] }).toEqual({
      status: 2,
      stderr: `error: \`${alias}\` needs a value`,
    })
    expect((await devctl(`help ${name}`)).stdout).not.toMatch(new RegExp(`${alias}\\b`))
    expect((await devctl(`help ${name}`)).stdout).toContain(long)
  })

  test.each([
    ['render --format json', 'render -o json'],
    ['render --format=yaml', 'render --output yaml'],
    ['config --format json', 'config --output json'],
    ['--loglevel error render', '--log-level error render'],
    ['render --loglevel info', 'render -v'],
    ['render --loglevel=debug', 'render -vv'],
    ['-v render -v', 'render --log-level debug'],
  ])('`devctl %s` is `devctl %s`', async (old, now) => {
    const cwd = makeFolder(WEB)
    const [before, after] = [await devctl(old, cwd), await devctl(now, cwd)]
    expect(before.status).toBe(0)
    expect(before).toEqual(after)
  })

  test('the value of an option may look like a global option', async () => {
    const { stderr } = await devctl('up --command npm --command -v --command --loglevel --nope')
    expect(stderr).toContain('unknown option `--nope`')
  })

  test('an option before a subcommand applies to it, if the subcommand has it', async () => {
    expect((await devctl('context --output json list')).stderr).toContain('unknown option `--output`')
    expect((await devctl('variables --timeout x list')).stderr).toContain('`--timeout` is `x`')
  })
})

// One line for each command: its name, and its flags as they were before options had one vocabulary, with the values
// of options that have a fixed set. Scripts use them.
const before = readFileSync(join(import.meta.dirname, 'spellings.txt'), 'utf8')
  .trimEnd()
  .split('\n')
test.each(before.map(line => line.split(' ')))('`%s` accepts its flags and values of before', (id, ...spellings) => {
  const command = commands.find(({ name }) => name.replaceAll(' ', '_') === id)
  expect(command, id).toBeDefined()
  const flags = new Map(
    optionsOf(command!).flatMap(option => {
      const { short, long } = new Option(option.flags)
      return [short ?? '', long!, ...(option.aliases ?? [])].map(flag => [flag, option] as const)
    }),
  )
  for (const spelling of spellings) {
    const [names = '', values] = spelling.split('=')
    for (const name of names.split('/')) {
      expect([...flags.keys()], `${id} ${name}`).toContain(name)
      // All flags of an option still belong to one option.
      expect(flags.get(name)).toBe(flags.get(names.split('/')[0]!))
      if (values !== undefined) expect(flags.get(name)!.choices).toEqual(expect.arrayContaining(values.split('|')))
    }
  }
})

describe('--quiet', () => {
  test('prints neither results nor warnings, and the exit status tells', async () => {
    const cwd = makeFolder({ 'compose.yaml': 'services:\n  web:\n    image: nginx:1.27\n    ports: ["80"]\n' })
    for (const name of ['render', 'config', 'validate'])
      expect(await run([name, '-q'], { cwd })).toEqual({ status: 0, stdout: '', stderr: '' })
    const broken = makeFolder({ 'compose.yaml': 'services:\n  web:\n    imag: nginx\n' })
    const { status, stdout, stderr } = await run(['--quiet', 'render'], { cwd: broken })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('error[')
  })
})

test('`devctl down -v` notes that it deletes no volumes', async () => {
  const { stderr } = await run(['down', '-v'], { cwd: root })
  expect(stderr).toContain('note: `-v` is `--verbose`; `--volumes` also deletes ')
})

describe('`devctl destroy -v`', () => {
  const destroyed = async (...words: readonly string[]) => {
    let seen: { readonly logLevel: string; readonly options: object } | undefined
    const destroy = commands.find(({ name }) => name === 'destroy')!
    const spy: Command = {
      ...destroy,
      run: async ({ logLevel }, _, options) => {
        seen = { logLevel, options }
        return 0
      },
    }
    const nowhere = { write: () => {} }
    const io = { cwd: root, env: {}, stdout: nowhere, stderr: nowhere } as unknown as Io // no command runs
    await runProgram(words, io, [spy])
    return seen
  }

  test('deletes volumes, as in Compose, and `--verbose` prints more', async () => {
    expect(await destroyed('destroy', '-v')).toMatchObject({ logLevel: 'warn', options: { volumes: true } })
    expect((await destroyed('destroy', '--verbose'))?.options).not.toHaveProperty('volumes')
    expect(await destroyed('-v', 'destroy')).toMatchObject({ logLevel: 'info' })
    expect((await destroyed('-v', 'destroy'))?.options).not.toHaveProperty('volumes')
  })

  test('`-vv`, which prints more elsewhere, is refused', async () => {
    await expect(destroyed('destroy', '-vv')).rejects.toThrow('`-v` of `destroy` is `--volumes`')
  })
})
