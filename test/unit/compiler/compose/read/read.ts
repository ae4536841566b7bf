import type { Loaded } from '../../../../../compiler/compose/load/loaded.ts'
import type { Project, Service } from '../../../../../compiler/compose/project.ts'
import { readProject } from '../../../../../compiler/compose/read-project.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import type { CompilerHost, FileContent } from '../../../../../compiler/host.ts'
import { SecretPlaces } from '../../../../../compiler/text/secret-places.ts'
import { SourceFile, type Span } from '../../../../../compiler/text/source.ts'
import { type Entry, isMap, type Tree } from '../../../../../compiler/text/tree.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Writes a value as JSON into a source file and gives its tree, with spans in that file. */
export function treeOf(value: Json): Tree {
  let text = ''
  // Spans refer to the file before its text is complete.
  const file = new SourceFile('compose.yaml', '')
  const write = (part: string): Span => {
    const start = text.length
    text += part
    return { file, start, end: text.length }
  }
  const scalar = (part: string): Span => write(JSON.stringify(part))
  const node = (of: Json): Tree => {
    if (of === null) return { kind: 'scalar', span: write('null'), type: 'null', value: null }
    if (typeof of === 'string') return { kind: 'scalar', span: scalar(of), type: 'string', style: 'double', value: of }
    if (typeof of === 'boolean')
      return { kind: 'scalar', span: write(String(of)), type: 'bool', style: 'plain', value: of }
    if (typeof of === 'number')
      return {
        kind: 'scalar',
        span: write(String(of)),
        type: Number.isInteger(of) ? 'int' : 'float',
        style: 'plain',
        value: of,
      }
    const start = text.length
    if (Array.isArray(of)) {
      write('[')
      const items = of.map(item => {
        const tree = node(item)
        write(', ')
        return tree
      })
      write(']')
      return { kind: 'seq', span: { file, start, end: text.length }, items }
    }
    const entries = new Map<string, Entry>()
    write('{')
    for (const [key, item] of Object.entries(of)) {
      const span = scalar(key)
      write(': ')
      entries.set(key, { key: span, value: node(item) })
      write(', ')
    }
    write('}')
    return { kind: 'map', span: { file, start, end: text.length }, entries }
  }
  const tree = node(value)
  Object.assign(file, { text })
  return tree
}

export interface Found {
  readonly project: Project
  /** The diagnostics as `severity code "excerpt"`, in order. */
  readonly found: readonly string[]
  readonly messages: readonly string[]
  readonly hints: readonly (string | undefined)[]
  /** The excerpts of related spans. */
  readonly related: readonly string[]
}

export interface World {
  readonly files?: Readonly<Record<string, string | Uint8Array | FileContent>>
  readonly environmentContents?: Readonly<Record<string, string>>
  readonly absentServices?: readonly string[]
  readonly namedResources?: readonly string[]
  readonly implicitDependencies?: readonly string[]
}

/** Reads a canonical model given as JSON. */
export function read(model: Json, world: World = {}): Found {
  const tree = treeOf(model)
  if (!isMap(tree)) throw new Error('a model is a mapping')
  const loaded: Loaded = {
    name: 'test',
    directory: '/project',
    files: [],
    sources: [],
    variableFiles: [],
    dropped: [],
    documents: [],
    tree,
    absentServices: new Set(world.absentServices),
    contextServices: new Map(),
    baseImages: () => [],
    incompleteServices: new Map(),
    invalidResources: new Set(),
    namedResources: new Set(world.namedResources),
    environmentContents: new Map(Object.entries(world.environmentContents ?? {})),
    secrets: new SecretPlaces(),
    implicitDependencies: new Set(world.implicitDependencies),
  }
  const reporter = new Reporter()
  const project = readProject(loaded, hostWith(world.files ?? {}), reporter)
  const diagnostics = reporter.diagnostics()
  const at = (span: Span | undefined) => (span ? span.file.text.slice(span.start, span.end) : '-')
  return {
    project,
    found: diagnostics.map(({ severity, code, span }) => `${severity} ${code} ${at(span)}`),
    messages: diagnostics.map(({ message }) => message),
    hints: diagnostics.map(({ hint }) => hint),
    related: diagnostics.flatMap(({ related = [] }) => related.map(({ span }) => at(span))),
  }
}

/** Reads a service `web`. */
export function readWeb(service: Json, world?: World): Found & { readonly web: Service } {
  const result = read({ services: { web: service } }, world)
  const web = result.project.services.get('web')
  if (!web) throw new Error('the service is gone')
  return { ...result, web }
}

function hostWith(files: NonNullable<World['files']>): CompilerHost {
  return {
    readFile(path) {
      const file = files[path]
      if (file === undefined) return { kind: 'missing' }
      if (typeof file === 'string') return { kind: 'file', bytes: new TextEncoder().encode(file) }
      return file instanceof Uint8Array ? { kind: 'file', bytes: file } : file
    },
    readDirectory: () => undefined,
    stat: () => undefined,
    realPath: path => path,
    variable: () => undefined,
    environment: new Map(),
    hashBuild: () => undefined,
    homeDirectory: undefined,
    checkout: () => undefined,
  }
}

/** The value of an `At`, if defined. */
export const plain = <T>(at: { readonly value: T } | undefined): T | undefined => at?.value
