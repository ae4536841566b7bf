import type { ScalarTree, Tree } from '../text/tree.ts'
import type { MapForm, ScalarForm, Shape, ValueType } from './shape.ts'

/** Describes the values that a shape accepts, such as `text` or `a list or a mapping`. */
export function describeShape(shape: Shape): string {
  const forms: string[] = []
  if (shape.scalar) forms.push(...scalarForms(shape.scalar))
  if (shape.list) forms.push('a list')
  if (shape.map) forms.push('a mapping')
  return joinWords(forms, 'or')
}

const names: Readonly<Record<ValueType, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  null: 'nothing',
}

function scalarForms({ types, words, pattern, digitsOnly }: ScalarForm): string[] {
  if (types.length > 3) return ['a single value']
  // Text is left out if a reader converts it to a number or boolean.
  const converts = (types[0] === 'integer' || types[0] === 'boolean') && !pattern
  if (words) return [words.length === 1 ? `the word \`${words[0]}\`` : 'one of a few words']
  return types
    .filter(type => type !== 'null' && !(type === 'string' && converts))
    .map(type => names[type === 'number' && digitsOnly ? 'integer' : type])
}

/** Joins words with commas, and the last two with `or` or `and`. */
export function joinWords(words: readonly string[], conjunction: 'or' | 'and'): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}

/**
 * Describes a value, such as `a list` or `the number 5`. Shows a value with variables before substitution, because it
 * may be secret.
 */
export function describeValue(tree: Tree): string {
  if (tree.kind !== 'scalar') return tree.kind === 'map' ? 'a mapping' : 'a list'
  if (tree.type === 'null') return 'nothing'
  if (tree.template !== undefined || tree.type === 'bool') return quoted(tree)
  if (tree.type === 'int' || tree.type === 'float') return `the number ${quoted(tree)}`
  return tree.value === '' ? 'empty text' : `the text ${quoted(tree)}`
}

/** Returns the value as written, in backticks: numbers with all their zeros, variables with their braces. */
export function quoted(tree: ScalarTree): string {
  return tree.value === '' && tree.template === undefined ? 'empty' : `\`${shorten(written(tree))}\``
}

/** Returns the source text of a scalar if it is plain or has variables, otherwise its value. */
export function written(tree: ScalarTree): string {
  if (tree.template !== undefined) return tree.template
  const { file, start, end } = tree.span
  return tree.style === 'plain' ? file.text.slice(start, end) : String(tree.value)
}

/** Shortens text to one line of at most 40 characters. */
function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ').replaceAll('`', "'")
  return line.length > 40 ? `${line.slice(0, 39)}…` : line
}

/** Returns the defined keys of a mapping, without extensions. */
export const knownKeys = (form: MapForm): readonly string[] => Object.keys(form.keys)
