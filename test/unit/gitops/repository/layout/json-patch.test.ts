import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  type Operation,
  operationsBetween,
  printOperations,
} from '../../../../../gitops/repository/layout/json-patch.ts'

/** Applies the operations of RFC 6902 that devctl uses, and is strict about what must exist. */
function applied(document: unknown, operations: readonly Pick<Operation, 'op' | 'path' | 'value'>[]): unknown {
  // The walk by keys also works for lists.
  type Walked = { [key: string]: Walked }
  const result = { root: structuredClone(document) as Walked }
  for (const { op, path, value } of operations) {
    const keys = ['root', ...path.split('/').slice(1)].map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()!
    const parent: Walked | Walked[] = keys.reduce((found, key) => found[key]!, result as Walked)
    const added = structuredClone(value) as Walked
    if (Array.isArray(parent)) {
      const index = Number(last)
      if (index > parent.length - (op === 'add' ? 0 : 1)) throw new Error(`${op} ${path} is past the end`)
      parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [added]))
    } else {
      if (op !== 'add' && !Object.hasOwn(parent, last)) throw new Error(`${op} ${path} is not there`)
      if (op === 'remove') delete parent[last]
      else parent[last] = added
    }
  }
  return result.root
}

const short = (before: object, after: object) =>
  operationsBetween(before, after).map(({ op, path, value }) => [op, path, ...(op === 'remove' ? [] : [value])])

describe('operations between two objects', () => {
  test('operations are empty if nothing differs', () => {
    expect(operationsBetween({ a: [{ b: 1 }], c: undefined }, { a: [{ b: 1 }] })).toEqual([])
  })

  test('operations escape characters that have a meaning in a pointer', () => {
    expect(
      short({ 'a/b~c': 1, x: 'long enough to be told apart' }, { 'a/b~c': 2, x: 'long enough to be told apart' }),
    ).toEqual([['replace', '/a~1b~0c', 2]])
  })

  test('operations add and remove keys that every object inherits', () => {
    const data = { data: { constructor: 'long enough to be told apart', x: 'long enough to be told apart' } }
    const other = { data: { toString: 'long enough to be told apart', x: 'long enough to be told apart' } }
    expect(applied(data, operationsBetween(data, other))).toEqual(other)
    expect(short({ data: { x: 'long enough' } }, { data: { x: 'long enough', constructor: 'y' } })).toEqual([
      ['add', '/data/constructor', 'y'],
    ])
  })

  test('operations compare items by name, and keep the order', () => {
    const env = (...names: string[]) => ({ env: names.map(name => ({ name, value: `the value of ${name}` })) })
    expect(short(env('A', 'B', 'C', 'D'), env('A', 'X', 'C', 'D'))).toEqual([
      ['replace', '/env/1', { name: 'X', value: 'the value of X' }],
    ])
    expect(short(env('A', 'B', 'C', 'D'), env('B', 'C', 'D'))).toEqual([['remove', '/env/0']])
    expect(short(env('A', 'B', 'C'), env('A', 'B', 'B2', 'C'))).toEqual([
      ['add', '/env/2', { name: 'B2', value: 'the value of B2' }],
    ])
    const changed = { env: env('A', 'B', 'C').env.map(one => (one.name === 'B' ? { ...one, value: 'new' } : one)) }
    expect(short(env('A', 'B', 'C'), changed)).toEqual([['replace', '/env/1/value', 'new']])
  })

  test('one operation replaces a whole list if many operations would be longer', () => {
    expect(short({ args: ['a', 'b', 'c'] }, { args: ['x', 'y'] })).toEqual([['replace', '/args', ['x', 'y']]])
  })

  test('operations distinguish numbers and strings', () => {
    expect(short({ a: { b: '1' } }, { a: { b: 1 } })).toEqual([['replace', '/a/b', 1]])
  })

  test('comments name the items for which a pointer has only numbers', () => {
    const pod = (value: string) => ({ containers: [{ name: 'web', env: [{ name: 'MODE', value }] }], hosts: [value] })
    expect(printOperations(operationsBetween(pod('one'), pod('two')))).toBe(`# containers[web].env[MODE].value
- op: replace
  path: /containers/0/env/0/value
  value: two
- op: replace
  path: /hosts/0
  value: two
`)
    const evil = (value: string) => ({ a: [{ name: 'x\n- op: remove', value }] })
    const text = printOperations(operationsBetween(evil('one'), evil('two')))
    expect(parse(text)).toEqual([{ op: 'replace', path: '/a/0/value', value: 'two' }])
  })

  test('operationsBetween handles lists of 4000 items', () => {
    const items = (from: number) => ({
      items: Array.from({ length: 4000 }, (_, index) => ({ key: `file-${from + index}` })),
    })
    const operations = operationsBetween(items(0), items(1))
    expect(applied(items(0), operations)).toEqual(items(1))
  })

  test('operations lead from any object to any other', () => {
    const value = fc.letrec(tie => ({
      any: fc.oneof({ maxDepth: 4 }, tie('scalar'), tie('map'), tie('list')),
      scalar: fc.oneof(fc.constantFrom('', 'a', 'true', '1', 'a\nb\n'), fc.integer(), fc.boolean(), fc.constant(null)),
      map: fc.dictionary(fc.constantFrom('name', 'value', 'a/b', '~c', '~1', '0', 'd e'), tie('any'), { maxKeys: 4 }),
      list: fc.array(
        fc.oneof(tie('any'), fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), value: tie('scalar') })),
        { maxLength: 6 },
      ),
    }))
    const map = fc.dictionary(fc.constantFrom('spec', 'data', 'x/y'), value.any)
    fc.assert(
      fc.property(map, map, (before, after) => {
        const operations = operationsBetween(before, after)
        expect(applied(before, operations)).toEqual(after)
        expect(parse(printOperations(operations)) ?? []).toEqual(
          operations.map(({ op, path, value }) => ({ op, path, ...(op !== 'remove' && { value }) })),
        )
      }),
      { numRuns: 300 },
    )
  })
})
