import { composeShape } from '../../compiler/schema/compose.ts'
import { shapeOf } from '../../compiler/schema/row.ts'
import type { MapForm, ScalarForm, Shape, ValueType } from '../../compiler/schema/shape.ts'

/** A Compose file with one value in question, and where that value is. */
export interface Trial {
  /** `services.web.ports[0].target: a list`. */
  readonly name: string
  readonly text: string
  /** Offsets of the key (or item) in question and behind its value. */
  readonly start: number
  readonly end: number
  /** Whether the table says that a value of this kind cannot stand there. */
  readonly wrong: boolean
}

type Path = readonly (string | number)[]
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

const VALUES: Readonly<Record<string, readonly [Json, ValueType | 'list' | 'map']>> = {
  text: ['zz', 'string'],
  'a whole number': [7, 'integer'],
  'a number': [7.5, 'number'],
  'a switch': [true, 'boolean'],
  nothing: [null, 'null'],
  'a list': [['zz'], 'list'],
  'a mapping': [{ zz: 'zz' }, 'map'],
}

/** A file for each key of the table and each kind of value. What the keys around it need is there and right. */
export function* trials(): Generator<Trial> {
  for (const { path, shape, forms } of places(composeShape, [], []))
    for (const [name, [value, kind]] of Object.entries(VALUES))
      yield {
        name: `${spell(path)}: ${name}`,
        ...print(fileWith(path, forms, value), path),
        wrong: !takes(shape, kind),
      }
}

interface Place {
  readonly path: Path
  readonly shape: Shape
  /** The mappings on the way, from the top; undefined for lists. */
  readonly forms: readonly (MapForm | undefined)[]
}

function* places(shape: Shape, path: Path, forms: Place['forms']): Generator<Place> {
  if (path.length > 0) yield { path, shape, forms }
  if (shape.list) yield* places(shape.list.items, [...path, 0], [...forms, undefined])
  if (!shape.map) return
  for (const [key, field] of Object.entries(shape.map.keys)) {
    // `rules` and `labels` belong to one notation of endpoints, names to another.
    yield* places(shapeOf(field), [...path, key], [...forms, shape.map.choose ? object(shape.map) : shape.map])
  }
  const name = path[0] === 'services' ? (path.length === 1 ? 'web' : 'db') : 'other'
  if (shape.map.others) yield* places(shapeOf(shape.map.others.row), [...path, name], [...forms, shape.map])
}

const object = (form: MapForm): MapForm => ({ ...form, required: ['rules'] })

function takes(shape: Shape, kind: ValueType | 'list' | 'map'): boolean {
  if (kind === 'list') return shape.list !== undefined
  if (kind === 'map') return shape.map !== undefined
  const types = shape.scalar?.types ?? []
  return types.includes(kind) || (kind === 'integer' && types.includes('number'))
}

/** The whole file: the value at its path, and what else its surroundings need. */
function fileWith(path: Path, forms: Place['forms'], value: Json): Json {
  const at = (depth: number): Json => {
    if (depth === path.length) return value
    const step = path[depth]!
    if (typeof step === 'number') return [at(depth + 1)]
    const form = forms[depth]!
    const needed = form.required.filter(key => key !== step).map(key => [key, sample(key, shapeOf(form.keys[key]!))])
    return { ...Object.fromEntries(needed), ...around(path.slice(0, depth), step), [step]: at(depth + 1) }
  }
  return at(0)
}

/** What a mapping needs beside what the table requires, so that a right value in it is no mistake: `db` is defined everywhere. */
function around(path: Path, step: string): Readonly<Record<string, Json>> {
  const [family, , key] = path
  const resource = { file: FILE }
  if (path.length === 0)
    return {
      name: 'app',
      services: { web: { image: 'nginx' }, db: { image: 'postgres' } },
      volumes: { db: null },
      networks: { db: null },
      secrets: { db: resource },
      configs: { db: resource },
      models: { db: { model: 'x' } },
    }
  if (path.length === 1 && family === 'services') return { web: { image: 'nginx' }, db: { image: 'postgres' } }
  if (path.length === 1 && (family === 'secrets' || family === 'configs')) return { db: resource }
  if (path.length === 1 && (family === 'volumes' || family === 'networks')) return { db: null }
  if (path.length === 2 && family === 'services') return { image: 'nginx' }
  if (path.length === 2 && (family === 'secrets' || family === 'configs') && !CONTENTS.has(step)) return resource
  if (typeof path.at(-1) === 'number' && /^(secrets|configs)$/.test(String(path.at(-2)))) return { source: 'db' }
  return key === 'extends' ? { service: 'db' } : {}
}

/** The one file that is there, but for the Compose file itself. */
export const FILE = '/x'

const CONTENTS = new Set(['file', 'content', 'environment', 'external'])

function sample(key: string, shape: Shape): Json {
  if (key === 'service') return 'web'
  if ((key === 'target' || key === 'path') && !shape.scalar?.types.includes('integer')) return FILE
  if (key === 'type') return 'tmpfs'
  if (shape.list) return [sample('', shape.list.items)]
  if (shape.map)
    return Object.fromEntries(shape.map.required.map(name => [name, sample(name, shapeOf(shape.map!.keys[name]!))]))
  return sampleScalar(shape.scalar!)
}

function sampleScalar({ types, words, minimum }: ScalarForm): Json {
  if (words) return words.find(word => word !== '')!
  if (types.includes('integer') || types.includes('number')) return Math.max(1, minimum ?? 1)
  if (types.includes('string')) return 'x'
  return true
}

/** The file as YAML (JSON is YAML), and where the value at the path is in it. */
function print(file: Json, target: Path): { text: string; start: number; end: number } {
  let text = ''
  let start = 0
  let end = 0
  const write = (value: Json, path: Path, isOnTheWay: boolean) => {
    const isThere = isOnTheWay && path.length === target.length
    if (Array.isArray(value) && isOnTheWay && typeof path.at(-1) === 'number') start = text.length
    const indent = `\n${'  '.repeat(path.length + 1)}`
    if (typeof value !== 'object' || value === null) text += JSON.stringify(value)
    else {
      const entries = Object.entries(value)
      const isList = Array.isArray(value)
      text += isList ? '[' : '{'
      for (const [index, [key, inner]] of entries.entries()) {
        text += `${index > 0 ? ',' : ''}${indent}`
        const step = isList ? Number(key) : key
        const leads = isOnTheWay && target[path.length] === step
        if (leads) start = text.length
        if (!isList) text += `${JSON.stringify(key)}: `
        write(inner, [...path, step], leads)
      }
      text += isList ? ']' : '}'
    }
    if (isThere) end = text.length
  }
  write(file, [], true)
  return { text: `${text}\n`, start, end }
}

function spell(path: Path): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1)
}
