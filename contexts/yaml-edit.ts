import type { MappingEvent, ScalarEvent } from 'js-yaml'

/** A step into a document: the value of a key, or the item of a list that has this name. */
export type Step = string | { readonly name: string }

/**
 * The YAML text with one value written or added: `key` of the map that the steps lead to. Every other byte stays as it is, comments among
 * them. Undefined when there is no such map, or the text is of a form that this cannot do, an alias for one. Throws what js-yaml throws.
 */
export async function setValue(
  text: string,
  steps: readonly Step[],
  key: string,
  value: string,
): Promise<string | undefined> {
  const yaml = await import('js-yaml')
  const map = steps.reduce<Place | undefined>((place, step) => place && into(place, step), readPlaces(yaml, text))
  if (map?.kind !== 'map') return undefined
  const edited = edit(text, map, key, JSON.stringify(value))
  return edited !== undefined && saysSo(yaml, edited, [...steps, key], value) ? edited : undefined
}

/** The proof of what was written: a value over several lines, for one, has no place that can be replaced so. */
function saysSo({ load, YAMLException }: Yaml, text: string, steps: readonly Step[], value: string): boolean {
  try {
    return valueAt(load(text), steps) === value
  } catch (error) {
    if (error instanceof YAMLException) return false
    throw error
  }
}

type Yaml = typeof import('js-yaml')

type Place =
  | { readonly kind: 'scalar'; readonly event: ScalarEvent; readonly value: string }
  | { readonly kind: 'list'; readonly items: Place[] }
  | { readonly kind: 'map'; readonly event: MappingEvent; readonly entries: { key: Place; value: Place }[] }
  | { readonly kind: 'other' }

/** The first document, with the place of everything in it; an empty one is undefined. */
function readPlaces({ parseEvents, getScalarValue, EVENT_ID }: Yaml, text: string): Place | undefined {
  const events = parseEvents(text, {})
  let next = 1
  const read = (): Place | undefined => {
    const event = events[next++]
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return { kind: 'scalar', event, value: getScalarValue(text, event) }
      case EVENT_ID.SEQUENCE: {
        const items: Place[] = []
        for (let item = read(); item; item = read()) items.push(item)
        return { kind: 'list', items }
      }
      case EVENT_ID.MAPPING: {
        const entries: { key: Place; value: Place }[] = []
        for (let key = read(); key; key = read()) entries.push({ key, value: read() ?? { kind: 'other' } })
        return { kind: 'map', event, entries }
      }
      case EVENT_ID.ALIAS:
        return { kind: 'other' }
      default:
        return undefined
    }
  }
  return events.length === 0 ? undefined : read()
}

function into(place: Place, step: Step): Place | undefined {
  if (typeof step === 'string') return entryOf(place, step)?.value
  if (place.kind !== 'list') return undefined
  return place.items.find(item => {
    const name = entryOf(item, 'name')?.value
    return name?.kind === 'scalar' && name.value === step.name
  })
}

function entryOf(place: Place, key: string) {
  if (place.kind !== 'map') return undefined
  return place.entries.find(entry => entry.key.kind === 'scalar' && entry.key.value === key)
}

function edit(text: string, map: Place & { kind: 'map' }, key: string, value: string): string | undefined {
  const put = (from: number, to: number, written: string) => text.slice(0, from) + written + text.slice(to)
  const entry = entryOf(map, key)
  if (entry?.value.kind === 'scalar' && entry.key.kind === 'scalar') {
    const [from, to] = rangeOf(text, entry.value.event)
    if (from >= 0) return put(from, to, value)
    const colon = text.indexOf(':', rangeOf(text, entry.key.event)[1])
    return put(colon + 1, colon + 1, ` ${value}`)
  }
  if (entry) return undefined
  const first = map.entries[0]?.key
  // `{}`
  if (first === undefined) return put(map.event.start + 1, map.event.start + 1, `${key}: ${value}`)
  if (first.kind !== 'scalar') return undefined
  const [at] = rangeOf(text, first.event)
  // JSON is YAML, too, and shall stay JSON.
  const name = text[at] === '"' ? JSON.stringify(key) : key
  const isFlow = text[map.event.start] === '{'
  const column = at - (text.lastIndexOf('\n', at - 1) + 1)
  return put(at, at, `${name}: ${value}${isFlow ? ', ' : `\n${' '.repeat(column)}`}`)
}

/** From where to where a scalar stands, with its quotes; -1 for one that is empty. */
function rangeOf(text: string, { valueStart, valueEnd }: ScalarEvent): readonly [from: number, to: number] {
  const quote = text[valueStart - 1]
  const isQuoted = (quote === '"' || quote === "'") && text[valueEnd] === quote
  return isQuoted ? [valueStart - 1, valueEnd + 1] : [valueStart, valueEnd]
}

function valueAt(value: unknown, steps: readonly Step[]): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  if (typeof step === 'string') return valueAt(Reflect.get(value, step), rest)
  const found = Array.isArray(value) ? value.find(item => Reflect.get(Object(item), 'name') === step.name) : undefined
  return valueAt(found, rest)
}
