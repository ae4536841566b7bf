import { expect, test } from 'vitest'
import { type Json, readWeb } from '../read.ts'

test('mounts of every type are read', () => {
  const { web, found } = readWeb({
    volumes: [
      { type: 'volume', source: 'data', target: '/data/', read_only: true, volume: { nocopy: true, subpath: 'a' } },
      { type: 'volume', target: '/anon', volume: {} },
      { type: 'bind', source: '/src', target: '/app/./x/..', bind: {} },
      { type: 'bind', source: '/src', target: '/long' },
      {
        type: 'bind',
        source: '/q',
        target: '/q',
        bind: { propagation: 'rshared', create_host_path: false, recursive: 'readonly' },
      },
      { type: 'tmpfs', target: '/tm', tmpfs: { size: '10485760', mode: 1023 } },
      { type: 'image', source: 'x', target: '/im', image: { subpath: 'a' } },
      { type: 'npipe', source: 'a', target: '\\\\.\\pipe\\b' },
      { type: 'cluster', source: 'c', target: '/c' },
    ],
  })
  expect(found).toEqual([])
  expect(web.mounts).toMatchObject([
    { type: 'volume', source: 'data', target: { value: '/data' }, readOnly: true, nocopy: true, subpath: 'a' },
    { type: 'volume', target: { value: '/anon' }, readOnly: false, nocopy: false },
    { type: 'bind', source: { value: '/src' }, target: { value: '/app' }, createHostPath: true },
    { type: 'bind', createHostPath: false },
    { type: 'bind', createHostPath: false, propagation: 'rshared', recursive: 'readonly' },
    { type: 'tmpfs', size: 10485760n, mode: 1023 },
    { type: 'image', source: 'x', subpath: 'a' },
    { type: 'npipe', target: { value: '\\\\.\\pipe\\b' } },
    { type: 'cluster', source: 'c' },
  ])
})

test.each<[string, string]>([
  ['data', 'error mounts/relative-target "data"'],
  ['./data', 'error mounts/relative-target "./data"'],
  ['/', 'error mounts/root-target "/"'],
  ['/a/..', 'error mounts/root-target "/a/.."'],
  ['/a:b', 'error mounts/colon-in-target "/a:b"'],
])('a mount at %s is refused', (target, problem) => {
  expect(readWeb({ volumes: [{ type: 'volume', source: 'data', target }] }).found).toEqual([problem])
})

test.each<[Json, string]>([
  [{ type: 'volume', source: 'data' }, 'target'],
  [{ type: 'bind', target: '/x' }, 'source'],
  [{ type: 'image', target: '/x' }, 'source'],
])('the incomplete mount %j is refused', (mount, missing) => {
  const { found, messages } = readWeb({ volumes: [mount] })
  expect(found[0]).toMatch(/^error mounts\/incomplete \{/)
  expect(messages[0]).toContain(`no \`${missing}\``)
})

test.each<[Json, string, string]>([
  [{ tmpfs: ['/run/secrets/s'], secrets: [{ source: 's' }] }, '"s"', '"/run/secrets/s"'],
  [
    {
      configs: [
        { source: 'a', target: '/x' },
        { source: 'b', target: '/x/' },
      ],
    },
    '"b"',
    '"a"',
  ],
  [{ volumes: [{ type: 'volume', target: '/c' }], configs: [{ source: 'c' }] }, '"c"', '"/c"'],
])('two mounts with the same path are reported in %j', (service, at, other) => {
  const { found, related } = readWeb(service)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch('error mounts/duplicate-target')
  expect(found[0]).toContain(at)
  expect(related).toEqual([other])
})

test('the options of tmpfs are read', () => {
  const { web, found } = readWeb({ tmpfs: ['/run', '/t:size=64m,mode=755,noexec', '/p:size=50%'] })
  expect(found).toEqual([])
  expect(web.tmpfs).toMatchObject([
    { target: '/run', options: [] },
    { target: '/t', size: 67108864n, options: ['mode=755', 'noexec'] },
    { target: '/p', options: ['size=50%'] },
  ])
})

test('a diagnostic points at the size of a tmpfs', () => {
  expect(readWeb({ tmpfs: ['/t:mode=755,size=big'] }).found).toEqual(['error tmpfs/bad-size big'])
  expect(readWeb({ tmpfs: ['/t:size=-1'] }).found).toEqual(['error tmpfs/bad-size -1'])
})

test('volumes_from is read, and containers in it are refused', () => {
  const { web, found } = readWeb({ volumes_from: ['db', 'db:ro', 'container:x:ro', 'db:xy'] })
  expect(web.volumesFrom.map(({ value }) => value)).toEqual(['db', 'db:ro'])
  expect(found).toEqual(['error volumes-from/container "container:x:ro"', 'error volumes-from/bad-form "db:xy"'])
})

test('configs and secrets have the same paths as in Compose', () => {
  const { web, found } = readWeb({
    configs: [
      { source: 'a' },
      { source: 'a', target: 'etc/b' },
      { source: 'a', target: '/etc/c/', mode: '0440', uid: '1', gid: '2' },
    ],
    secrets: [
      { source: 's', target: '/run/secrets/s' },
      { source: 's', target: 'sub/t', mode: '0400' },
      { source: 'u' },
    ],
  })
  expect(found).toEqual([])
  expect(web.configs).toMatchObject([
    { source: 'a', target: '/a' },
    { source: 'a', target: '/etc/b' },
    { source: 'a', target: '/etc/c', mode: 0o440, uid: '1', gid: '2' },
  ])
  expect(web.secrets.map(({ target, mode }) => [target, mode])).toEqual([
    ['/run/secrets/s', undefined],
    ['/run/secrets/sub/t', 0o400],
    ['/run/secrets/u', undefined],
  ])
})

test('file modes that Kubernetes does not support are refused', () => {
  expect(readWeb({ secrets: [{ source: 's', mode: '04755' }] }).found).toEqual(['error file-mounts/bad-mode "04755"'])
})
