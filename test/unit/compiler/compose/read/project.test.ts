import { expect, test } from 'vitest'
import { type Json, plain, read } from './read.ts'

const web = { services: { web: { image: 'nginx' }, api: { image: 'nginx' } } }
const endpointsOf = (endpoints: Json) => {
  const { project, found } = read({ ...web, endpoints }, { absentServices: ['off'] })
  return {
    found,
    endpoints: project.endpoints?.endpoints.map(({ name, rules }) => [
      name?.value,
      ...rules.map(({ path, service, port }) => `${path.value} ${service.value}:${port.value}`),
    ]),
    labels: project.endpoints?.labels.map(({ name, value }) => [name, value]),
  }
}
const rule = { path: '/', service: 'web', port: 80 }
const api = { path: '/api', service: 'api', port: '8080' }

test.each<[string, Json, unknown[], unknown[]]>([
  ['a list of rules', [rule, api], [[undefined, '/ web:80', '/api api:8080']], []],
  [
    'names of lists',
    { shop: [rule], admin: [api] },
    [
      ['shop', '/ web:80'],
      ['admin', '/api api:8080'],
    ],
    [],
  ],
  [
    'an object',
    { labels: { a: 1, b: null }, rules: [rule] },
    [[undefined, '/ web:80']],
    [
      ['a', '1'],
      ['b', ''],
    ],
  ],
  ['an object without labels', { rules: [rule] }, [[undefined, '/ web:80']], []],
  [
    'endpoints that are called labels and rules',
    { labels: [rule], rules: [api] },
    [
      ['labels', '/ web:80'],
      ['rules', '/api api:8080'],
    ],
    [],
  ],
  [
    'a rule to a service that is left out',
    [rule, { path: '/x', service: 'off', port: 1 }],
    [[undefined, '/ web:80']],
    [],
  ],
])('endpoints are read from %s', (_name, written, endpoints, labels) => {
  expect(endpointsOf(written)).toEqual({ found: [], endpoints, labels })
})

test.each<[Json, string]>([
  [[], 'error endpoints/empty "endpoints"'],
  [{}, 'error endpoints/empty "endpoints"'],
  [{ shop: [] }, 'error endpoints/empty "shop"'],
  [{ rules: [] }, 'error endpoints/empty "rules"'],
  [[{ ...rule, path: 'x' }], 'error endpoints/bad-path "x"'],
  [[{ ...rule, path: '/a b' }], 'error endpoints/bad-path "/a b"'],
  [[{ ...rule, port: 70000 }], 'error ports/out-of-range 70000'],
  [[{ ...rule, service: 'wbe' }], 'error reference/endpoint-service "wbe"'],
  [[rule, { ...api, path: '/' }], 'error endpoints/duplicate-path "/"'],
  [[{ ...rule, path: '/api/' }, api], 'error endpoints/duplicate-path "/api"'],
  [
    [
      { ...api, host: 'a.example.com' },
      { ...rule, path: '/api/', host: 'a.example.com' },
    ],
    'error endpoints/duplicate-path "/api/"',
  ],
])('the endpoints %j are refused', (endpoints, problem) => {
  expect(endpointsOf(endpoints).found).toEqual([problem])
})

test('an unknown service of an endpoint gets a hint with the nearest service', () => {
  expect(read({ ...web, endpoints: [{ ...rule, service: 'wbe' }] }).hints).toEqual(['did you mean `web`?'])
})

const mounting = (kind: 'configs' | 'secrets', objects: Json, mounts: readonly string[] = ['a']): Json => ({
  services: { web: { image: 'nginx', [kind]: mounts.map(source => ({ source, target: `/${source}` })) } },
  [kind]: objects,
})
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

test('the content of a config is read if a service mounts it', () => {
  const { project, found } = read(
    mounting(
      'configs',
      {
        a: { name: 'test_a', file: '/project/a.txt', labels: { l: 'x' } },
        b: { name: 'test_b', content: 'hi' },
        c: { name: 'test_c', environment: 'C' },
        d: { name: 'given', external: true },
        unused: { name: 'test_unused', file: '/project/missing' },
      },
      ['a', 'b', 'c', 'd'],
    ),
    { files: { '/project/a.txt': 'text\n' }, environmentContents: { 'configs.c': '' }, namedResources: ['configs.d'] },
  )
  expect(found).toEqual([])
  expect(
    [...project.configs.values()].map(({ key, name, external, content }) => [
      key,
      name?.value,
      external,
      text(content),
    ]),
  ).toEqual([
    ['a', undefined, false, 'text\n'],
    ['b', undefined, false, 'hi'],
    ['c', undefined, false, ''],
    ['d', 'given', true, undefined],
    ['unused', undefined, false, undefined],
  ])
  expect(project.configs.get('a')?.labels).toMatchObject([{ name: 'l', value: 'x' }])
})

test('binary content of a secret is unchanged', () => {
  const bytes = new Uint8Array([0, 255, 13, 10])
  const { project } = read(mounting('secrets', { a: { file: '/a' } }), { files: { '/a': bytes } })
  expect(project.secrets.get('a')?.content).toEqual(bytes)
})

test.each<[Json, string]>([
  [{ file: '/nowhere' }, 'error secrets/file-not-found "/nowhere"'],
  [{ file: '/folder' }, 'error secrets/file-not-found "/folder"'],
  [{ file: '/locked' }, 'error secrets/file-not-found "/locked"'],
  [{ environment: 'TOKEN' }, 'error secrets/variable-not-set "TOKEN"'],
])('the secret %j is refused', (secret, problem) => {
  const { found } = read(mounting('secrets', { a: secret }), {
    files: {
      '/folder': { kind: 'folder' },
      '/locked': { kind: 'unreadable', reason: 'permission denied' },
    },
  })
  expect(found).toEqual([problem])
})

test('volumes and networks are read', () => {
  const { project } = read(
    {
      services: {},
      volumes: {
        data: { name: 'test_data', driver_opts: { size: '2Gi', class: 'fast' }, labels: { a: null } },
        other: { name: 'given', external: true },
        bare: null,
      },
      networks: { back: { name: 'test_back', internal: true, driver: 'bridge' }, default: { name: 'test_default' } },
    },
    { namedResources: ['volumes.other'] },
  )
  expect([...project.volumes.values()].map(({ key, name, external }) => [key, name?.value, external])).toEqual([
    ['data', undefined, false],
    ['other', 'given', true],
    ['bare', undefined, false],
  ])
  expect(project.volumes.get('data')?.driverOpts.map(({ name, value }) => [name, value])).toEqual([
    ['class', 'fast'],
    ['size', '2Gi'],
  ])
  expect(project.networks.get('back')).toMatchObject({ name: 'test_back', internal: true, external: false })
  expect([project.networks.get('back')?.driver].map(plain)).toEqual(['bridge'])
})
