import { expect, test } from 'vitest'
import { compile } from '../../../../../compiler/index.ts'
import type { LoadOptions, SecretRules } from '../../../../../compiler/options.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'
import { at, span } from '../../../../support/plan/project.ts'

const resources = 'secrets: {a: {file: a}, b: {file: b}}\nconfigs: {a: {file: a}, b: {file: b}}'

/** Compiles a service or job `nightly` with these keys, beside a service `web`. */
function compiled(section: 'services' | 'jobs', keys: string, options: Partial<LoadOptions> = {}) {
  const nightly =
    section === 'jobs' ? `}\njobs: {nightly: {${keys}, triggers: {manual: true}}}` : `, nightly: {${keys}}}`
  const files = { 'compose.yaml': `services: {web: {image: x}${nightly}\n${resources}`, a: 'a', b: 'b' }
  return compile({ workingDirectory: '/project', name: 'app', namespace: 'shop', ...options }, memoryHost(files))
}

/** The codes of the diagnostics, each with the text at its position. */
const found = (...given: Parameters<typeof compiled>) =>
  compiled(...given)
    .diagnostics.filter(({ code }) => !code.startsWith('secrets/'))
    .map(({ code, span: place }) => `${code} ${place?.file.text.slice(place.start, place.end)}`)

test.each<[string, readonly string[]]>([
  ['image: x, secrets: [{source: a, target: y}, {source: b, target: y}]', ['mounts/duplicate-target y']],
  ['image: x, configs: [{source: a, target: /y}, {source: b, target: /y}]', ['mounts/duplicate-target /y']],
  [
    'image: x, environment: {VERSION: 1.10, MODE: 0644, DAY: 2024-01-01}',
    ['yaml/rewritten-value 1.10', 'yaml/rewritten-value 0644', 'yaml/date 2024-01-01'],
  ],
  ['image: x, environment: [DEVCTL_TOKEN]', ['interpolation/token DEVCTL_TOKEN']],
  ['image: x, environment: {DEVCTL_TOKEN: }', ['interpolation/token DEVCTL_TOKEN']],
  [
    'image: x, build: {context: ., args: [DEVCTL_TOKEN]}',
    ['image/official-name x', 'interpolation/token DEVCTL_TOKEN'],
  ],
  ['image: "${NOPE:?}", mem_limit: 5zz', ['interpolation/required ${NOPE:?}', 'schema/bad-value zz']],
  ['image: x, ports: ["${NOPE:?}", 99999]', ['interpolation/required ${NOPE:?}', 'ports/bad-short-form 99999']],
  ['image: 5, mem_limit: 5zz', ['schema/wrong-type 5', 'schema/bad-value zz']],
])('a job with {%s} has the diagnostics of a service', (keys, expected) => {
  expect(found('services', keys)).toEqual(expected)
  expect(found('jobs', keys)).toEqual(expected)
})

test.each([
  ['services', 'image: "${NOPE:?}"', 'interpolation/required ${NOPE:?}'],
  ['services', 'image: 5', 'schema/wrong-type 5'],
  ['jobs', 'image: "${NOPE:?}"', 'interpolation/required ${NOPE:?}'],
  ['jobs', 'image: 5', 'schema/wrong-type 5'],
] as const)(
  'with a mistake in `%s`, naming the entry with {%s} reports only the mistake',
  (section, keys, expected) => {
    expect(found(section, keys, { services: ['nightly'] })).toEqual([expected])
  },
)

test.each([
  'jobs: {nightly: {image: x, triggers: []}}',
  'jobs: {nightly: {image: x, triggers: {manual: "${NOPE:?}"}}}',
  'jobs: {nightly: []}',
])('a job that cannot be read is not reported as unknown when it is named: %s', text => {
  const host = memoryHost({ 'compose.yaml': `services: {web: {image: x}}\n${text}` })
  const { diagnostics } = compile({ workingDirectory: '/project', services: ['nightly'] }, host)
  expect(diagnostics.map(({ code }) => code)).toEqual([expect.not.stringMatching('project/unknown-service')])
})

test('a service that is not a mapping is not reported as unknown when it is named', () => {
  const host = memoryHost({ 'compose.yaml': 'services: {web: {image: x}, api: []}' })
  const { diagnostics } = compile({ workingDirectory: '/project', services: ['api'] }, host)
  expect(diagnostics.map(({ code }) => code)).toEqual(['schema/wrong-type'])
})

test.each(['services', 'jobs'] as const)('a required variable in a volume of `%s` is assumed to be a path', section => {
  const { plan, diagnostics } = compiled(section, 'image: x, volumes: ["${DATA:?}:/data"]', { assumesRequired: 'all' })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(plan).toBeDefined()
})

const rules: SecretRules = {
  backend: 'reference',
  storeKind: 'SecretStore',
  age: [],
  public: [],
  values: new Map([['services.nightly.environment.DB_PASSWORD', { secret: at('db'), key: at('password'), span }]]),
}

test.each([
  ['services', '{DB_PASSWORD: "${DB_PASSWORD:?}"}'],
  ['services', '["DB_PASSWORD=${DB_PASSWORD:?}"]'],
  ['jobs', '{DB_PASSWORD: "${DB_PASSWORD:?}"}'],
  ['jobs', '["DB_PASSWORD=${DB_PASSWORD:?}"]'],
] as const)('a variable in `%s` with a value from a Secret need not be set: %s', (section, environment) => {
  expect(found(section, `image: x, environment: ${environment}`, { secretRules: rules })).toEqual([])
})

test('a variable below an anchor for a job, with a value from a Secret, need not be set', () => {
  const text = `x-db: &db {DB_PASSWORD: "\${DB_PASSWORD:?}"}
services: {web: {image: x}}
jobs: {nightly: {image: x, environment: *db, triggers: {manual: true}}}`
  const { diagnostics } = compile(
    { workingDirectory: '/project', secretRules: rules },
    memoryHost({ 'compose.yaml': text }),
  )
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
})
