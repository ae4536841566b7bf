import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { type Difference, type FieldKey, isMap } from './comparison.ts'

/** Difference without known secrets; `isHidden` is true if nothing remains that may be shown. */
export interface HiddenDifference extends Difference {
  readonly isHidden?: true
}

const MASK = '***'

/**
 * Returns the differences without known secrets. If the new value contains a secret, the old value most likely contains
 * an older secret, which is unknown here, so only those lines of the old value are shown that also appear in the new
 * value. The items of a list are treated together, because they move when an item is added or removed.
 */
export function withoutKnown(
  differences: readonly Difference[],
  secrets: Pick<KnownSecrets, 'maskValue'>,
): readonly HiddenDifference[] {
  const groups = new Map<string, Difference[]>()
  for (const one of differences) {
    const key = groupOf(one.keys)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const hidden = new Map([...groups.values()].flatMap(group => hide(group, secrets)))
  return differences.map(one => hidden.get(one) ?? one)
}

/** Returns the path up to the first list whose items have no names, as JSON; the full path if there is no such list. */
function groupOf(keys: readonly FieldKey[]): string {
  const index = keys.findIndex(key => typeof key === 'number')
  return JSON.stringify(index < 0 ? keys : keys.slice(0, index))
}

function hide(
  group: readonly Difference[],
  secrets: Pick<KnownSecrets, 'maskValue'>,
): readonly (readonly [Difference, HiddenDifference])[] {
  const all = group.map(one => ({ one, before: mask(one.before, secrets), after: mask(one.after, secrets) }))
  if (all.every(({ one, before, after }) => before === one.before && after === one.after)) return []
  const shown = new Set(all.flatMap(({ after }) => [...linesOf(after)]))
  return all.map(({ one, before: known, after }) => {
    const before = mapTexts(known, text => onlyShown(text, shown))
    const isEqual = JSON.stringify(before) === JSON.stringify(after)
    return [one, { keys: one.keys, before, after, ...(isEqual && { isHidden: true as const }) }] as const
  })
}

/** Returns a text with all lines masked except those in `shown`. */
const onlyShown = (text: string, shown: ReadonlySet<string>): string =>
  text
    .split('\n')
    .map(line => (shown.has(line) ? line : MASK))
    .join('\n')

/** Returns a value with its secrets masked; the unchanged value if it contains no secret. */
function mask(value: unknown, secrets: Pick<KnownSecrets, 'maskValue'>): unknown {
  let any = false
  const masked = mapTexts(value, text => {
    const shown = secrets.maskValue(text)
    any ||= shown !== text
    return shown
  })
  return any ? masked : value
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  // A number is masked as a whole if it is a secret.
  if (typeof value === 'number') return change(String(value)) === String(value) ? value : MASK
  if (Array.isArray(value)) return value.map(one => mapTexts(one, change))
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]))
}

function* linesOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* value.split('\n')
  else if (typeof value === 'number') yield String(value)
  else if (Array.isArray(value)) for (const one of value) yield* linesOf(one)
  else if (isMap(value)) for (const one of Object.values(value)) yield* linesOf(one)
}
