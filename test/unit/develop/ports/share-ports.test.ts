import { expect, test } from 'vitest'
import type { Forward } from '../../../../compiler/manifest/forward.ts'
import { sharePorts } from '../../../../develop/ports/share-ports.ts'
import type { FoundDevelopment } from '../../../../develop/select/find-development.ts'

const forward = (localPort: number, remotePort: number, service?: string): Forward =>
  ({ localPort, remotePort, ...(service && { service: { value: service } }) }) as Forward // places are not read

const found = (name: string, own: readonly Forward[], global: readonly Forward[] = []): FoundDevelopment =>
  ({ development: { name, forward: own }, forward: global }) as unknown as FoundDevelopment // only these are read

const ports = (all: readonly Forward[]) => all.map(({ localPort, remotePort }) => `${localPort}:${remotePort}`)

test('the second container that wants a port gets the next port that no other wants', () => {
  const { found: all, notes } = sharePorts([
    found('api', [forward(8080, 80), forward(8081, 81)]),
    found('web', [forward(8080, 3000)]),
    found('worker', [forward(80, 80), forward(8080, 9)]),
  ])
  expect(all.map(one => ports(one.development.forward))).toEqual([
    ['8080:80', '8081:81'],
    ['8082:3000'],
    ['80:80', '8083:9'],
  ])
  expect(notes).toEqual([
    { dev: 'web', text: 'localhost:8082 leads to 3000, since api has port 8080' },
    { dev: 'worker', text: 'localhost:8083 leads to 9, since api has port 8080' },
  ])
})

test('a container that wants the last port, which another one has, gets a port that exists', () => {
  const { found: all } = sharePorts([found('api', [forward(65535, 80)]), found('web', [forward(65535, 3000)])])
  expect(ports(all[1]!.development.forward)).toEqual(['1024:3000'])
})

test('forwards of the manifest are opened once, and a second container has them as a spare', () => {
  const global = [forward(5432, 5432, 'db'), forward(9000, 9000, 'cache')]
  const { found: all, notes } = sharePorts([found('api', [forward(9000, 1)], global), found('web', [], global)])
  expect(notes).toEqual([])
  expect(all.map(one => [ports(one.forward), one.isSpare])).toEqual([
    [['5432:5432'], false],
    [['5432:5432'], true],
  ])
})

test('two forwards to the same port of a Service become one', () => {
  const { found: all, notes } = sharePorts([
    found('api', [forward(5432, 5432, 'db')]),
    found('web', [forward(5432, 5432, 'db')]),
  ])
  expect(notes).toEqual([])
  expect(all.map(one => [ports(one.development.forward), ports(one.forward)])).toEqual([
    [['5432:5432'], []],
    [[], ['5432:5432']],
  ])
})
