import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { describeWrongValues } from '../../support/cli/wrong-value-suite.ts'
import { run } from '../../support/run.ts'

describeWrongValues(8)

type Make = Readonly<Record<string, string>> | ((folder: string) => void)

/** Mistakes, each with its files (or a function that makes them) and every error with its file, line and column. */
const mistakes: readonly (readonly [what: string, files: Make, errors: readonly string[]])[] = [
  ['no file', {}, ['files/no-compose-file']],
  ['a folder', folder => mkdirSync(join(folder, 'compose.yaml')), ['files/is-a-folder']],
  ['an empty file', { 'compose.yaml': '' }, ['files/empty compose.yaml:1:1']],
  ['a NUL', service('image: a\0b'), ['yaml/syntax compose.yaml:3:13']],
  ['a tab', { 'compose.yaml': 'services:\n  web:\n\timage: x\n' }, ['yaml/syntax compose.yaml:3:1']],
  [
    'duplicate keys at every level',
    { 'compose.yaml': 'services:\n  web:\n    image: a\n    image: b\n  web:\n    image: c\nservices: {}\n' },
    [
      'yaml/duplicate-key compose.yaml:4:5',
      'yaml/duplicate-key compose.yaml:5:3',
      'yaml/duplicate-key compose.yaml:7:1',
    ],
  ],
  [
    'unknown keys at every level',
    {
      'compose.yaml': [
        'servces: {}',
        'services:',
        '  web:',
        '    image: x',
        '    imagee: x',
        '    healthcheck: {test: a, tset: a}',
        '    deploy: {resources: {limit: {cpus: 1}}}',
        '    ports: [{target: 80, publised: 80}]',
        'volumes: {d: {driveropts: {}}}',
        'networks: {n: {ipam: {confg: []}}}',
        'secrets: {s: {file: compose.yaml, fil: a}}',
        'configs: {c: {file: compose.yaml, contnt: a}}',
        'endpoints: [{path: /, service: web, port: 80, prot: 1}]',
        '',
      ].join('\n'),
    },
    [
      'compose/unknown-key compose.yaml:1:1',
      'services/unknown-key compose.yaml:5:5',
      'services/unknown-key compose.yaml:6:28',
      'services/unknown-key compose.yaml:7:26',
      'services/unknown-key compose.yaml:8:26',
      'volumes/unknown-key compose.yaml:9:15',
      'networks/unknown-key compose.yaml:10:23',
      'secrets/unknown-key compose.yaml:11:35',
      'configs/unknown-key compose.yaml:12:35',
      'endpoints/unknown-key compose.yaml:13:47',
    ],
  ],
  [
    'files that are missing or cannot be read',
    folder => {
      mkdirSync(join(folder, 'sub'))
      symlinkSync('nowhere', join(folder, 'dangling'))
      symlinkSync('loop', join(folder, 'loop'))
      writeFileSync(join(folder, 'latin'), Buffer.from('A=caf\xe9\n', 'latin1'))
      if (process.platform !== 'win32') execFileSync('mkfifo', [join(folder, 'pipe')])
      write(
        folder,
        service('image: x', 'env_file: [missing, sub, dangling, loop, latin, {path: none, required: false}]'),
      )
    },
    [
      'files/not-found compose.yaml:4:16',
      'files/is-a-folder compose.yaml:4:25',
      'files/not-found compose.yaml:4:30',
      'files/unreadable compose.yaml:4:40',
      'files/not-utf8 latin:1:6',
    ],
  ],
  [
    'configs and secrets without their files',
    {
      'sub/x': '',
      'compose.yaml': [
        'services: {web: {image: x, configs: [a, b], secrets: [c, d, e]}}',
        'configs:',
        '  a: {file: none}',
        '  b: {file: sub}',
        'secrets:',
        '  c: {file: none}',
        '  d: {file: sub}',
        '  e: {environment: NOT_SET}',
        '',
      ].join('\n'),
    },
    [
      'configs/file-not-found compose.yaml:3:13',
      'configs/file-not-found compose.yaml:4:13',
      'secrets/file-not-found compose.yaml:6:13',
      'secrets/file-not-found compose.yaml:7:13',
      'secrets/variable-not-set compose.yaml:8:20',
    ],
  ],
  [
    'an include and an extends that lead nowhere',
    {
      'compose.yaml':
        'include: [none.yaml, sub]\nservices:\n  a: {extends: {file: none.yaml, service: a}}\n  b: {extends: {service: none}}\n',
      'sub/x': '',
    },
    [
      'files/not-found compose.yaml:1:11',
      'files/is-a-folder compose.yaml:1:22',
      'files/not-found compose.yaml:3:23',
      'extends/unknown-service compose.yaml:4:26',
    ],
  ],
  [
    'a circle of includes',
    { 'compose.yaml': 'include: [b.yaml]\nservices: {a: {image: x}}\n', 'b.yaml': 'include: [compose.yaml]\n' },
    ['include/cycle b.yaml:1:11'],
  ],
  ['a circle of extends', service('extends: web'), ['extends/cycle compose.yaml:3:14']],
  [
    'variables that must be set, and bad expressions',
    service('image: ${X:?why}', 'command: ${X?}', 'hostname: ${Y!z}', 'user: "${"', 'working_dir: ${}'),
    [
      'interpolation/required compose.yaml:3:12',
      'interpolation/required compose.yaml:4:14',
      'interpolation/invalid compose.yaml:5:15',
      'interpolation/invalid compose.yaml:6:12',
      'interpolation/invalid compose.yaml:7:18',
    ],
  ],
  [
    'names that nothing has',
    service('image: x', 'volumes: [vol:/v]', 'networks: [n]', 'secrets: [s]', 'configs: [c]', 'depends_on: [d]'),
    [
      'reference/undefined compose.yaml:4:15',
      'reference/undefined compose.yaml:5:16',
      'reference/undefined compose.yaml:6:15',
      'reference/undefined compose.yaml:7:15',
      'reference/undefined compose.yaml:8:18',
    ],
  ],
  [
    'an endpoint of no service',
    { 'compose.yaml': 'services: {web: {image: x}}\nendpoints: [{path: /, service: wbe, port: 80}]\n' },
    ['reference/endpoint-service compose.yaml:2:32'],
  ],
  [
    'circles of dependencies',
    {
      'compose.yaml':
        'services:\n  a: {image: x, depends_on: [b]}\n  b: {image: x, depends_on: [a]}\n  c: {image: x, depends_on: [c]}\n',
    },
    ['depends-on/cycle compose.yaml:3:30', 'depends-on/cycle compose.yaml:4:30'],
  ],
  [
    'a job that can never be healthy',
    {
      'compose.yaml':
        'services:\n  job: {image: x, restart: "no"}\n  web: {image: x, depends_on: {job: {condition: service_healthy}}}\n',
    },
    ['depends-on/healthy-job compose.yaml:3:32'],
  ],
  [
    'names that collide',
    { 'compose.yaml': 'services:\n  a: {image: x, container_name: same}\n  b: {image: x, container_name: same}\n' },
    ['names/collision compose.yaml:3:33'],
  ],
  [
    'endpoints with one host',
    {
      'compose.yaml':
        'services: {web: {image: x}}\nendpoints:\n  A:\n    - {path: /, service: web, port: 80}\n  a:\n    - {path: /, service: web, port: 80}\n',
    },
    ['routes/host-conflict compose.yaml:5:3'],
  ],
  [
    'update policies that are not allowed',
    {
      'compose.yaml': [
        'services:',
        '  a: {image: x, labels: {dev.platform/update: on-delete}}',
        '  b: {image: x, labels: {dev.platform/update: recreate}, volumes: ["/x"]}',
        '  c: {image: x, labels: {dev.platform/update: blue-green}}',
        '',
      ].join('\n'),
    },
    [
      'update-policy/not-allowed compose.yaml:2:47',
      'update-policy/not-allowed compose.yaml:3:47',
      'update-policy/unknown compose.yaml:4:47',
    ],
  ],
  [
    'mistakes of many kinds together',
    {
      'compose.yaml': [
        'services:',
        '  a: {image: x, imagee: x}',
        '  b: {image: x, depends_on: [none], volumes: [none:/x]}',
        '  c: {image: x, restart: sometimes}',
        '  d: {image: "${D:?}"}',
        '  e: {command: x}',
        '  f: {image: x, scale: many}',
        '  g: {image: x, ports: [99999]}',
        '  h: {image: x, env_file: none.env}',
        '  i: {image: x, depends_on: [a, b, c, d, e, f, g, h, j]}',
        '  j: {image: x, extends: {service: none}}',
        'volumes: {v: {driver: [7]}}',
        '',
      ].join('\n'),
    },
    [
      'services/unknown-key compose.yaml:2:17',
      'reference/undefined compose.yaml:3:30',
      'reference/undefined compose.yaml:3:47',
      'schema/not-allowed compose.yaml:4:26',
      'interpolation/required compose.yaml:5:15',
      'services/no-image compose.yaml:6:3',
      'schema/not-convertible compose.yaml:7:24',
      'ports/bad-short-form compose.yaml:8:25',
      'files/not-found compose.yaml:9:27',
      'extends/unknown-service compose.yaml:11:36',
      'schema/wrong-type compose.yaml:12:23',
    ],
  ],
]

function service(...lines: readonly string[]): Readonly<Record<string, string>> {
  return { 'compose.yaml': `services:\n  web:\n${lines.map(line => `    ${line}\n`).join('')}` }
}

describe('mistakes in Compose files', () => {
  test.each(mistakes)(
    'validate reports %s with each place, and render prints and writes nothing',
    async (_what, files, expected) => {
      const folder = makeFolder({ 'good/compose.yaml': 'name: app\nservices: {web: {image: x}}\n' })
      const output = ['--output-dir', join(folder, 'k8s'), '--name', 'app']
      await run(['render', ...output], { cwd: join(folder, 'good') })
      const before = read(join(folder, 'k8s'))
      expect(Object.keys(before)).toContain('web/deployment-web.yaml')

      const cwd = join(folder, 'bad')
      mkdirSync(cwd)
      if (typeof files === 'function') files(cwd)
      else write(cwd, files)
      const { stdout } = await run(['validate', '--output', 'json'], { cwd })
      const found = JSON.parse(stdout) as readonly Found[]
      expect(found.filter(({ severity }) => severity === 'error').map(placed)).toEqual(expected)

      for (const more of [output, ['--format', 'json'], ['--format', 'kustomize', ...output, '--take-over']])
        expect(await run(['render', ...more], { cwd })).toMatchObject({ status: 1, stdout: '' })
      expect(read(join(folder, 'k8s'))).toEqual(before)
      expect(await run(['config'], { cwd })).toMatchObject({ stdout: expect.not.stringMatching(/^error/) })
    },
  )

  test('the last line counts the errors', async () => {
    const cwd = makeFolder(service('imagee: x', 'restrat: no'))
    const { stderr } = await run(['render'], { cwd })
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^\d errors in 1 file; nothing was rendered\. `devctl explain /)
  })
})

/** Diagnostic of `--output json`. */
interface Found {
  readonly code: string
  readonly severity: string
  readonly file?: string
  readonly range?: { readonly start: { readonly line: number; readonly column: number } }
}

const placed = ({ code, file, range }: Found) =>
  range ? `${code} ${file}:${range.start.line}:${range.start.column}` : code
