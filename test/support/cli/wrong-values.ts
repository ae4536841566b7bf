import { composeShape } from '../../../compiler/compose/keys/compose.ts'
import { shapeOf } from '../../../compiler/schema/row.ts'
import type { MapForm, ScalarForm, Shape, ValueType } from '../../../compiler/schema/shape.ts'

/** A Compose file with a value in question, and where that value is. */
export interface Trial extends Place {
  /** `services.web.ports[0].target: a list`. */
  readonly name: string
  readonly text: string
  /** True if the table does not allow a value of this kind for the key. */
  readonly wrong: boolean
}

/** Offsets of a key (or item) and behind its value. */
export interface Place {
  readonly start: number
  readonly end: number
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

/**
 * Yields a file for each key of the table and each kind of value. Everything that the keys around it need exists and is
 * valid.
 */
export function* trials(): Generator<Trial> {
  for (const { path, shape, forms } of slots(composeShape, [], []))
    for (const [name, [value, kind]] of Object.entries(VALUES)) {
      const { text, places } = print(fileWith(path, forms, value), [path])
      yield { name: `${spell(path)}: ${name}`, text, ...places[0]!, wrong: !takes(shape, kind) }
    }
}

/** Returns one file with a service for each wrong value that a service can have, and the positions of the values. */
export function everythingWrong(): { readonly text: string; readonly places: readonly Place[] } {
  const wrong: [path: Path, service: Json][] = []
  for (const { path, shape, forms } of slots(composeShape, [], [])) {
    const [family, name, key] = path
    // Messages about refused and special keys are not about their values; a mapping by `<<` and a service itself have
    // no name to report.
    if (family !== 'services' || name !== 'web' || key === undefined || !isPlain(key)) continue
    if (path.includes('x-kubernetes')) continue
    const bad = Object.values(VALUES).find(([, kind]) => !takes(shape, kind))
    if (!bad) continue
    const file = fileWith(path, forms, bad[0]) as { services: Readonly<Record<string, Json>> } // made with services
    wrong.push([['services', `s${wrong.length}`, ...path.slice(2)], file.services['web']!])
  }
  const services = Object.fromEntries(wrong.map(([[, name], service]) => [String(name), service]))
  return print(
    {
      ...(fileWith(['services'], [composeShape.map!], {}) as object),
      services: { db: { image: 'postgres' }, ...services },
    },
    wrong.map(([path]) => path),
  )
}

const isPlain = (key: string | number) => !['extends', 'models', 'provider'].includes(String(key))

interface Slot {
  readonly path: Path
  readonly shape: Shape
  /** The mappings on the way, from the top; undefined for lists. */
  readonly forms: readonly (MapForm | undefined)[]
}

function* slots(shape: Shape, path: Path, forms: Slot['forms']): Generator<Slot> {
  if (path.length > 0) yield { path, shape, forms }
  if (shape.list) yield* slots(shape.list.items, [...path, 0], [...forms, undefined])
  if (!shape.map) return
  for (const [key, field] of Object.entries(shape.map.keys)) {
    // `rules` and `labels` belong to one notation of endpoints, names to another.
    yield* slots(shapeOf(field), [...path, key], [...forms, withRules(shape.map)])
  }
  const name =
    path.length > 1 && /^(services|jobs)$/.test(String(path[0])) ? 'db' : path[0] === 'services' ? 'web' : 'other'
  if (shape.map.others) yield* slots(shapeOf(shape.map.others.row), [...path, name], [...forms, shape.map])
}

const withRules = (form: MapForm): MapForm => ('rules' in form.keys ? { ...form, required: ['rules'] } : form)

function takes(shape: Shape, kind: ValueType | 'list' | 'map'): boolean {
  if (kind === 'list') return shape.list !== undefined
  if (kind === 'map') return shape.map !== undefined
  const types = shape.scalar?.types ?? []
  return types.includes(kind) || (kind === 'integer' && types.includes('number'))
}

/** The whole file: the value at its path, and what else its surroundings need. */
function fileWith(path: Path, forms: Slot['forms'], value: Json): Json {
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

/**
 * Returns the keys that a mapping needs besides those that the table requires, so that a valid value in it causes no
 * error: `db` is defined in every section.
 */
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
  if (path.length === 2 && step === 'x-autoscale')
    return { image: 'nginx', resources: { requests: { cpu: 1, memory: '1Gi' } } }
  if (path.length === 2 && family === 'services') return { image: 'nginx' }
  if (path.length === 2 && family === 'jobs') return { image: 'nginx', triggers: { manual: true } }
  if (path.length === 2 && (family === 'secrets' || family === 'configs') && !CONTENTS.has(step)) return resource
  if (typeof path.at(-1) === 'number' && /^(secrets|configs)$/.test(String(path.at(-2)))) return { source: 'db' }
  const [last, parent] = [path.at(-1), path.at(-2)]
  if (step !== 'name' && /^(x-)?host$/.test(String(typeof last === 'number' ? parent : last)))
    return { name: 'a.example.com' }
  if (key === 'x-autoscale') return { max: 9, cpu: '70%' }
  return key === 'extends' ? { service: 'db' } : {}
}

/** The only file that exists, besides the Compose file itself. */
export const FILE = '/x'

const CONTENTS = new Set(['file', 'content', 'environment', 'external'])

function sample(key: string, shape: Shape): Json {
  if (key === 'service') return 'web'
  if (key === 'source') return 'db'
  if ((key === 'target' || key === 'path') && !shape.scalar?.types.includes('integer')) return FILE
  if (key === 'type') return shape.scalar?.words?.includes('LoadBalancer') ? 'LoadBalancer' : 'tmpfs'
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

/** The file as YAML (JSON is YAML), and where the values at the paths are in it. */
function print(file: Json, targets: readonly Path[]): { text: string; places: readonly Place[] } {
  let text = ''
  const wanted = new Map(targets.map((path, index) => [JSON.stringify(path), index]))
  const places: Place[] = []
  const write = (value: Json, path: Path, head: number) => {
    const indent = `\n${'  '.repeat(path.length + 1)}`
    if (typeof value !== 'object' || value === null) text += JSON.stringify(value)
    else {
      const isList = Array.isArray(value)
      text += isList ? '[' : '{'
      for (const [index, [key, inner]] of Object.entries(value).entries()) {
        text += `${index > 0 ? ',' : ''}${indent}`
        const start = text.length
        if (!isList) text += `${JSON.stringify(key)}: `
        write(inner, [...path, isList ? Number(key) : key], start)
      }
      text += isList ? ']' : '}'
    }
    const target = wanted.get(JSON.stringify(path))
    if (target !== undefined) places[target] = { start: head, end: text.length }
  }
  write(file, [], 0)
  return { text: `${text}\n`, places }
}

function spell(path: Path): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1)
}
