import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LIMITS, parseLimits } from '../../../compiler/diagnostics/budget.ts'
import { compile } from '../../../compiler/index.ts'
import { createHost } from '../../../project/node-host.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { measureProcessor } from '../../support/processor-time.ts'
import { run } from '../../support/run.ts'

const web = 'name: shop\nservices:\n  web:\n    image: nginx\n'
const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join('')
const render = (cwd: string, limits = '') =>
  run(['render', '--namespace', 'shop', '--registry', 'r.example'], { cwd, env: { DEVCTL_LIMITS: limits } })

/** A project that reaches a limit which is lowered, with the smallest number that is enough for it. */
const reaching: readonly [string, number, Readonly<Record<string, string>>][] = [
  ['bytes', web.length, { 'compose.yaml': web }],
  [
    'loads',
    3,
    { 'compose.yaml': `include: [a.yaml, b.yaml, c.yaml]\n${web}`, 'a.yaml': web, 'b.yaml': web, 'c.yaml': web },
  ],
  ['loads', 2, { 'compose.yaml': `${web}---\n${web}---\n${web}` }],
  ['values', 2, { 'compose.yaml': `${web}  api: {extends: web, command: x}\n` }],
  [
    'values',
    2,
    {
      'compose.yaml': `${web}    volumes: [/a]\n  b: {image: x, volumes_from: [web]}\n  c: {image: x, volumes_from: [b]}\n`,
    },
  ],
  ['output', 1_000, { 'compose.yaml': web }],
  ['ports', 9, { 'compose.yaml': `${web}    ports: ["1-10"]\n` }],
  ['ports', 18, { 'compose.yaml': `${web}    expose: ["1-10", "21-30"]\n` }],
  ['variables', 2, { 'compose.yaml': `${web}    env_file: [a.env]\n`, 'a.env': 'A=1\nB=2\n' }],
  ['text', 512, { 'compose.yaml': `${web}    environment: {B: "$A$A"}\n`, '.env': 'A=1234\n' }],
  [
    'files',
    3,
    { 'compose.yaml': 'name: shop\nservices: {web: {build: b}}\n', 'b/Dockerfile': 'FROM x\n', 'b/x': '', 'b/y': '' },
  ],
  ['context', 14, { 'compose.yaml': 'name: shop\nservices: {web: {build: b}}\n', 'b/Dockerfile': 'FROM x\n' }],
  [
    'patterns',
    4,
    {
      'compose.yaml': 'name: shop\nservices: {web: {build: b}}\n',
      'b/Dockerfile': 'FROM x\n',
      'b/.dockerignore': 'a\nb',
    },
  ],
]

describe('a limit', () => {
  test.each(reaching)('the limit of %s (%i) is checked, and can be raised', async (limit, enough, files) => {
    const folder = makeFolder(files)
    const stopped = await render(folder, `${limit}=${enough - 1}`)
    expect(stopped).toMatchObject({ status: 1, stdout: '' })
    expect(stopped.stderr).toContain(`error[limits/exceeded]: more than ${enough - 1} `)
    expect(stopped.stderr).toContain(`raise the limit: \`DEVCTL_LIMITS=${limit}=NUMBER\``)
    const raised = await render(folder, `${limit}=${enough + 100_000}`)
    expect(raised.stderr).not.toContain('limits/')
  })

  test.each(['ports', 'ports=x', 'port=3', 'ports=3 x'])('the invalid limit %j is reported', async text => {
    const { status, stderr } = await render(makeFolder({ 'compose.yaml': web }), text)
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[limits/invalid]') })
  })

  test('a limit may have a unit', () => {
    expect(parseLimits('context=4g, bytes=1Mi')).toEqual({ limits: { context: 4 * 2 ** 30, bytes: 2 ** 20 } })
    expect(Object.keys(LIMITS)).toContain('seconds')
  })
})

test('the limit of time is checked while manifests are planned', () => {
  const folder = makeFolder({
    'compose.yaml': 'name: shop\nservices:\n  a: {build: .}\n  b: {build: .}\n',
    Dockerfile: 'FROM x\n',
  })
  let now = 0
  const host = createHost({ env: {} })
  // The first image takes more than a minute.
  const hashBuild = () => {
    now = 61_000
    return undefined
  }
  const slow = { ...host, now: () => now, hashBuild }
  const { plan, diagnostics } = compile({ files: [join(folder, 'compose.yaml')], workingDirectory: folder }, slow)
  expect(plan).toBeUndefined()
  expect(diagnostics).toContainEqual(
    expect.objectContaining({ code: 'limits/exceeded', message: expect.stringContaining('60 seconds') }),
  )
})

describe('a sparse file of 10 GB', () => {
  const uses: Readonly<Record<string, string>> = {
    env_file: `${web}    env_file: big\n`,
    label_file: `${web}    label_file: big\n`,
    include: `include: [big]\n${web}`,
    extends: `${web}    extends: {file: big, service: web}\n`,
    'a config': `${web}    configs: [c]\nconfigs: {c: {file: big}}\n`,
    'a Dockerfile': 'name: shop\nservices: {web: {build: {context: ., dockerfile: big}}}\n',
    'a file of a build': 'name: shop\nservices: {web: {build: .}}\n',
    'a host volume': `${web}    volumes: ["./big:/x:ro"]\n`,
  }
  test.each(Object.entries(uses))('a file of 10 GB is not read as %s', async (_, compose) => {
    const folder = makeFolder({ 'compose.yaml': compose, big: '', Dockerfile: 'FROM x\n' })
    truncateSync(join(folder, 'big'), 10 * 2 ** 30)
    const used = measureProcessor()
    const { status, stderr } = await render(folder)
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/error\[(limits\/exceeded|volumes\/host-too-large)\]/),
    })
    expect(used()).toBeLessThan(5000)
  })
})

test('a limit stops files that include each other twice with other variables', async () => {
  const twice = (n: number) =>
    `include:\n  - {path: f${n}.yaml, env_file: a.env}\n  - {path: f${n}.yaml, env_file: b.env}\n`
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}.yaml`, n === 19 ? web : twice(n + 1)]))
  const folder = makeFolder({ 'compose.yaml': twice(0), ...files, 'a.env': 'A=1\n', 'b.env': 'A=2\n' })
  const { status, stderr } = await render(folder)
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[limits/exceeded]') })
})

test('ten thousand unknown keys are reported', async () => {
  const folder = makeFolder({ 'compose.yaml': `${web}${many(10_000, n => `    kye${n}: 1\n`)}` })
  const { status, stderr } = await render(folder)
  expect(status).toBe(1)
  expect(stderr).toContain('services/unknown-key')
})

describe('malicious ignore files', () => {
  test.each([
    ['stars', '**a**a**a**a**a**a**a**a**a**b'],
    ['stars of one folder', '*a*a*a*a*a*a*a*a*b'],
    ['folders', `${'**/'.repeat(40)}x`],
    ['a regular expression', '(a+a+)+b'],
    ['brackets', 'foo(bar\n[\n+\n[z-a]'],
  ])('an ignore file takes little time and causes no crash: %s', async (_, rules) => {
    const [name, deep] = ['a'.repeat(200), 'a/'.repeat(60)]
    const folder = makeFolder({
      'compose.yaml': 'name: shop\nservices: {web: {build: b, volumes: ["./b:/src"]}}\n',
      'b/Dockerfile': 'FROM x\nCOPY . /src\n',
      'b/.dockerignore': rules,
      [`b/${name}/${name}/${name}`]: '',
      [`b/${deep}a`]: '',
    })
    const used = measureProcessor()
    const { status, stderr } = await render(folder)
    expect({ status, stderr }).toMatchObject({ status: 0 })
    expect(used()).toBeLessThan(3_000)
  })
})

describe('values that a few lines multiply', () => {
  // An eighth of the defaults; `npm run test:long` has such projects with the defaults.
  const env = { DEVCTL_LIMITS: 'output=4Mi,values=40000' }
  const limited = (text: string) => {
    const folder = makeFolder({ 'compose.yaml': text })
    const { diagnostics } = compile({ workingDirectory: folder }, createHost({ env }))
    return diagnostics.map(({ code, message }) => `${code}: ${message}`)
  }
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)
  const borrow = (n: number) =>
    `  s${n}: {image: x, volumes: ["/v${n}"]${n > 0 ? `, volumes_from: [s${n - 1}]` : ''}}\n`

  test.each([
    [
      'ports of the services of one Pod',
      `${web}${many(1_000, n => `  m${n}: {image: x, network_mode: "service:web", expose: [${n + 1_000}]}\n`)}`,
      'characters of manifests',
    ],
    [
      'ports of a service with many aliases',
      `${web}    expose: ["1000-2999"]\n    networks: {default: {aliases: [${names(2_000, 'a')}]}}\n`,
      'characters of manifests',
    ],
    [
      'labels of a service with many aliases',
      `${web}    labels: [${names(700, 'label')}]\n    networks: {default: {aliases: [${names(700, 'a')}]}}\n`,
      'characters of manifests',
    ],
    [
      'volumes that services borrow from each other',
      `name: shop\nservices:\n${many(1_000, borrow)}`,
      'values that `extends` and `volumes_from` take over',
    ],
  ])('a limit stops %s', (_, text, what) => {
    const used = measureProcessor()
    const found = limited(text).find(one => one.startsWith('limits/exceeded: more than '))
    expect(found).toContain(what)
    expect(used(), 'milliseconds').toBeLessThan(20_000)
  })
})
