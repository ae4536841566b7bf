import { expect, test } from 'vitest'
import { joinFolders } from '../../../../../compiler/plan/storage/projected.ts'
import type { Held, StoredMount } from '../../../../../compiler/plan/storage/stored-mount.ts'

const span = {
  file: { path: 'compose.yaml', text: '', lineStarts: [0] },
  start: 0,
  end: 0,
} as unknown as StoredMount['span']
const mount = (target: string, held: Held): StoredMount => ({ target, readOnly: true, span, held })
const folder = (object: string, ...paths: string[]): Held => ({
  kind: 'configMap',
  name: object,
  object,
  items: paths.map(path => ({ key: path.replaceAll('/', '__'), path })),
})
const file = (object: string, mode?: number): Held => ({
  kind: 'secret',
  name: object,
  object,
  subPath: 'key',
  ...(mode && { mode }),
})
const memory: Held = { kind: 'memory', name: 'm' }
const claim: Held = { kind: 'claim', claim: 'c', description: '', access: 'ReadWriteOnce', fill: false }

/** `object:path` of all sources, and the created folders. */
function projected(mounts: readonly StoredMount[]) {
  return joinFolders(mounts).map(({ target, held }) => {
    if (held.kind !== 'projected') return [target, held.kind]
    const files = held.sources.flatMap(({ object, items }) => items.map(({ path }) => `${object}:${path}`))
    return [target, files.sort(), held.folders]
  })
}

test('mounts outside copied folders are unchanged', () => {
  const mounts = [mount('/a', folder('a', 'x')), mount('/b/x', file('b')), mount('/ab', claim), mount('/', memory)]
  expect(joinFolders(mounts)).toEqual(mounts)
})

test('the innermost mount of a path wins, and an inner folder hides files of the outer one', () => {
  const mounts = [
    mount('/a', folder('outer', 'one', 'two', 'sub/three')),
    mount('/a/two', file('two', 0o440)),
    mount('/a/sub', folder('inner', 'four')),
    mount('/a/sub/deep/five', file('five')),
  ]
  expect(projected(mounts)).toEqual([['/a', ['five:sub/deep/five', 'inner:sub/four', 'outer:one', 'two:two'], []]])
})

test('other mounts inside a folder get an empty folder if no file creates it', () => {
  const mounts = [
    mount('/a', folder('outer', 'one', 'data/old')),
    mount('/a/data', claim),
    mount('/a/run', memory),
    mount('/a/run/x', file('x')),
  ]
  expect(projected(mounts)).toEqual([
    ['/a', ['outer:data/old', 'outer:one'], ['run']],
    ['/a/data', 'claim'],
    ['/a/run', 'memory'],
    ['/a/run/x', 'secret'],
  ])
})

test('modes of volumes become modes of files', () => {
  const [joined] = joinFolders([mount('/a', folder('outer', 'one')), mount('/a/k', file('k', 0o440))])
  expect(joined!.held).toMatchObject({
    sources: [{ object: 'outer' }, { object: 'k', items: [{ path: 'k', mode: 0o440 }] }],
  })
})
