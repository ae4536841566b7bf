import { isDeepStrictEqual } from 'node:util'
import { printYaml } from '../../../constructs/yaml.ts'
import { isMap, type JsonMap } from '../../agents/json-values.ts'

/** An operation of a JSON Patch (RFC 6902). */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace'
  /** JSON Pointer (RFC 6901). */
  readonly path: string
  readonly value?: unknown
  /** Readable form of the path: `spec.template.spec.containers[web].env[LOG_LEVEL].value`. */
  readonly place: string
}

/**
 * Returns the operations that turn one object into the other, in the order in which they must be applied. Both objects
 * are plain JSON; undefined values are treated as absent.
 */
export function operationsBetween(before: object, after: object): readonly Operation[] {
  return between(plain(before), plain(after), ROOT)
}

/** Returns the text of a patch file. Comments name the list items that a pointer refers to only by index. */
export function printOperations(operations: readonly Operation[]): string {
  return operations
    .map(({ place, ...operation }) => `${NAMED_ITEM.test(place) ? `# ${place}\n` : ''}${printYaml([operation])}`)
    .join('')
}

const NAMED_ITEM = /\[[\w./-]*[a-z][\w./-]*\]/i

interface Place {
  readonly pointer: string
  readonly words: string
}

const ROOT: Place = { pointer: '', words: '' }

/**
 * Returns the operations that turn one value into another; a single replacement if the individual operations would take
 * more text.
 */
function between(before: unknown, after: unknown, at: Place): readonly Operation[] {
  if (isDeepStrictEqual(before, after)) return []
  const whole = [operation('replace', at, after)]
  const parts =
    isMap(before) && isMap(after)
      ? betweenMaps(before, after, at)
      : Array.isArray(before) && Array.isArray(after)
        ? betweenLists(before, after, at)
        : whole
  return at === ROOT || size(parts) <= size(whole) ? parts : whole
}

function betweenMaps(before: JsonMap, after: JsonMap, at: Place): readonly Operation[] {
  const removed = Object.keys(before).filter(key => !Object.hasOwn(after, key))
  return [
    ...removed.map(key => operation('remove', inMap(at, key))),
    ...Object.entries(after).flatMap(([key, value]) =>
      Object.hasOwn(before, key)
        ? between(before[key], value, inMap(at, key))
        : [operation('add', inMap(at, key), value)],
    ),
  ]
}

/**
 * Returns the operations between two lists. Items that are in both lists are kept, in the same order. Between the kept
 * items, removed items are paired with added ones. The index in an operation refers to the list as it is when the
 * operation is applied.
 */
function betweenLists(before: readonly unknown[], after: readonly unknown[], at: Place): readonly Operation[] {
  const operations: Operation[] = []
  let left = 0
  let right = 0
  for (const [nextLeft, nextRight] of [...common(before, after), [before.length, after.length] as const]) {
    while (left < nextLeft && right < nextRight) {
      operations.push(...replacing(before[left++], after[right], inList(at, right, after[right])))
      right++
    }
    while (left < nextLeft) operations.push(operation('remove', inList(at, right, before[left++])))
    for (; right < nextRight; right++) operations.push(operation('add', inList(at, right, after[right]), after[right]))
    if (nextLeft === before.length && nextRight === after.length) break
    operations.push(...between(before[nextLeft], after[nextRight], inList(at, nextRight, after[nextRight])))
    left = nextLeft + 1
    right = nextRight + 1
  }
  return operations
}

/**
 * Returns the operations that turn a list item into the item in its place. An item whose name differs is replaced as a
 * whole, even if the rest is equal.
 */
function replacing(before: unknown, after: unknown, at: Place): readonly Operation[] {
  return nameOf(before) === nameOf(after) ? between(before, after, at) : [operation('replace', at, after)]
}

/**
 * Maximum product of two list lengths for which lists are aligned. Longer lists are compared item by item, since no
 * user reads thousands of items.
 */
const MOST_COMPARISONS = 1_000_000

/** Returns the longest common subsequence of two lists, as pairs of indices. Items with names are compared by name. */
function common(before: readonly unknown[], after: readonly unknown[]): readonly (readonly [number, number])[] {
  if (before.length * after.length > MOST_COMPARISONS) return []
  const left = before.map(identity)
  const right = after.map(identity)
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0))
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i]![j] =
        left[i] === right[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) pairs.push([i++, j++])
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++
    else j++
  }
  return pairs
}

function identity(item: unknown): string {
  return nameOf(item) ?? JSON.stringify(item)
}

function nameOf(item: unknown): string | undefined {
  const name = isMap(item) ? item['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

function operation(op: Operation['op'], { pointer, words }: Place, value?: unknown): Operation {
  return { op, path: pointer, ...(op !== 'remove' && { value }), place: words }
}

function inMap({ pointer, words }: Place, key: string): Place {
  const word = /[^\w-]/.test(key) ? `[${JSON.stringify(key)}]` : `${words && '.'}${key}`
  return { pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, words: words + word }
}

function inList({ pointer, words }: Place, index: number, item: unknown): Place {
  const name = nameOf(item)
  // Only characters that cannot end the comment are used.
  const word = name !== undefined && /^[\w./-]+$/.test(name) ? name : String(index)
  return { pointer: `${pointer}/${index}`, words: `${words}[${word}]` }
}

const size = (operations: readonly Operation[]) =>
  printYaml(operations.map(({ op, path, value }) => ({ op, path, value }))).length

function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value))
}
