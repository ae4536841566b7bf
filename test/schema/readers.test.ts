import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Key, Keys } from '../../compiler/compose/keys/key.ts'
import { serviceKeys } from '../../compiler/compose/keys/service.ts'
import type { ReadContext } from '../../compiler/compose/read/context.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { type Entry, type MapTree, scalarTree } from '../../compiler/text/tree.ts'

/**
 * The rows of a service's keys and their readers, in both directions: what is mapped is read, and what is read has a row.
 * That what is read also makes a difference in the manifests, `field-walk` shows.
 */
const keys: Keys = serviceKeys
const root = join(import.meta.dirname, '..', '..')

/** The loader puts their content into another key. */
const loadedInto: Readonly<Record<string, string>> = { env_file: 'environment', label_file: 'labels' }

/** Used before services are read, or only in the files themselves. */
const usedByTheLoader = new Set(['extends', 'profiles'])

const rows = Object.entries(keys)
const isLost = ({ fate, loss }: Key) => fate === 'refused' || (fate === 'none' && loss !== undefined)

describe('a key that means something has a reader', () => {
  test.each(rows.filter(([name, key]) => !isLost(key) && !usedByTheLoader.has(name)))('%s', (_, { read }) => {
    expect(read).toBeDefined()
  })
})

describe('a reader reads its keys', () => {
  test.each(rows.filter(([, { read }]) => read !== undefined))('%s', (name, key) => {
    const read = keysRead(name, key)
    expect(read).toContain(loadedInto[name] ?? name)
  })
})

describe('what a reader reads has a row that names the reader', () => {
  test.each(rows.filter(([, { read }]) => read !== undefined))('%s', (name, key) => {
    const own = new Set(readersOf(key))
    const unnamed = keysRead(name, key).filter(other => !readersOf(keys[other]).some(reader => own.has(reader)))
    expect(unnamed).toEqual([])
  })
})

describe('what is read of a service is used', () => {
  const used = ['compiler/plan', 'compiler/manifest', 'operations', 'cli']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.ts'))
        .map(path => readFileSync(join(root, folder, path), 'utf8')),
    )
    .join('\n')
  const properties = rows.flatMap(([, { read }]) => (typeof read === 'object' ? Object.keys(read) : []))
  /** Commands that need them are not there yet. */
  const waiting = new Set(['develop', 'models'])
  test.each([...new Set(properties)].filter(property => !waiting.has(property)))('%s', property => {
    expect(used).toMatch(new RegExp(`\\b${property}\\b`))
  })
})

type Reader = (service: MapTree, context: ReadContext, key: string) => unknown

function readersOf(key: Key | undefined): readonly Reader[] {
  if (!key?.read) return []
  return typeof key.read === 'function' ? [key.read] : (Object.values(key.read) as Reader[]) // values of Readers
}

/** The keys of a service that the readers of a row look at. */
function keysRead(name: string, key: Key): readonly string[] {
  const { service, looked } = watchedService()
  for (const reader of readersOf(key)) reader(service, contextOf(service), name)
  return [...looked].filter(other => other in keys)
}

/** A service that has every key, with a value that no reader can use, and tells which are looked at. */
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
  isFromSecret: () => false,
})
