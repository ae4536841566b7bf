import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Key, Keys } from '../../../../../compiler/compose/keys/key.ts'
import { serviceKeys } from '../../../../../compiler/compose/keys/service.ts'
import type { ReadContext } from '../../../../../compiler/compose/read/context.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { SourceFile } from '../../../../../compiler/text/source.ts'
import { type Entry, type MapTree, scalarTree } from '../../../../../compiler/text/tree.ts'
import { root } from '../../../../support/cases.ts'

/**
 * Checks the rows of service keys against their readers: a mapped key has a reader, and a key that
 * is read has a row. `key-walk` checks that it also changes the manifests.
 */
const keys: Keys = serviceKeys

/** Keys whose content the loader puts into another key. */
const loadedInto: Readonly<Record<string, string>> = { env_file: 'environment', label_file: 'labels' }

/** Keys that the loader uses. */
const usedByTheLoader = new Set(['extends', 'profiles'])

const rows = Object.entries(keys)
const isLost = ({ fate, loss }: Key) => fate === 'refused' || (fate === 'none' && loss !== undefined)

describe('keys that are not lost', () => {
  test.each(rows.filter(([name, key]) => !isLost(key) && !usedByTheLoader.has(name)))('%s is read', (_, { read }) => {
    expect(read).toBeDefined()
  })
})

describe('readers of the rows', () => {
  test.each(rows.filter(([, { read }]) => read !== undefined))('the readers of %s read its value', (name, key) => {
    const read = keysRead(name, key)
    expect(read).toContain(loadedInto[name] ?? name)
  })
})

describe('rows of the keys that readers access', () => {
  test.each(rows.filter(([, { read }]) => read !== undefined))('the readers of %s read only own keys', (name, key) => {
    const own = new Set(readersOf(key))
    const unnamed = keysRead(name, key).filter(other => !readersOf(keys[other]).some(reader => own.has(reader)))
    expect(unnamed).toEqual([])
  })
})

describe('properties of a service', () => {
  const used = ['compiler/plan', 'compiler/manifest', 'operations', 'cli']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.ts'))
        .map(path => readFileSync(join(root, folder, path), 'utf8')),
    )
    .join('\n')
  const properties = rows.flatMap(([, { read }]) => (typeof read === 'object' ? Object.keys(read) : []))
  test.each([...new Set(properties)])('a module uses %s', property => {
    const isUsed = new RegExp(`\\b${property}\\b`).test(used)
    expect(isUsed, `no module of compiler/plan, operations or cli uses \`${property}\` of a service`).toBe(true)
  })
})

type Reader = (service: MapTree, context: ReadContext, key: string) => unknown

function readersOf(key: Key | undefined): readonly Reader[] {
  if (!key?.read) return []
  return typeof key.read === 'function' ? [key.read] : (Object.values(key.read) as Reader[]) // values of Readers
}

/** The keys of a service that the readers of a row access. */
function keysRead(name: string, key: Key): readonly string[] {
  const { service, looked } = watchedService()
  for (const reader of readersOf(key)) reader(service, contextOf(service), name)
  return [...looked].filter(other => other in keys)
}

/**
 * A service that has every key, with a value that no reader can use, and records the keys accessed.
 */
function watchedService(): { readonly service: MapTree; readonly looked: ReadonlySet<string> } {
  const span = { file: new SourceFile('/compose.yaml', 'web: {}\n'), start: 0, end: 3 }
  const looked = new Set<string>()
  class Watched extends Map<string, Entry> {
    override get(key: string) {
      looked.add(key)
      return super.get(key)
    }
    override has(key: string) {
      looked.add(key)
      return super.has(key)
    }
  }
  const entries = new Watched(Object.keys(keys).map(key => [key, { key: span, value: scalarTree(span, null) }]))
  return { service: { kind: 'map', span, entries }, looked }
}

const contextOf = ({ span }: MapTree): ReadContext => ({
  reporter: new Reporter(),
  service: 'web',
  span,
  implicitDependencies: new Set(),
  baseImages: [],
  models: new Map(),
  isFromSecret: () => false,
  directory: '/project',
})
