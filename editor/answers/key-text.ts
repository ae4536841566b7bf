import { fateText } from '../../compiler/compose/keys/fate-text.ts'
import { shapeOf } from '../../compiler/schema/row.ts'
import type { Row, Shape } from '../../compiler/schema/shape.ts'
import { keyRows } from '../../compiler/schema/tables.ts'

/**
 * Returns the documentation of a key in Markdown: the level of its support (`fate`), the forms of its value, its result
 * in Kubernetes, and what to write instead if the key is not supported.
 */
export function keyText(name: string, row: Row, file: 'manifest' | 'compose'): string {
  const forms = keyRows(name, row).next().value?.forms
  const head = [`**${name}**`, fateText(row), ...(forms ? [forms] : [])].join(' · ')
  return [head, meaningOf(row, file), row.loss?.hint && `Instead: ${row.loss.hint}.`].filter(Boolean).join('\n\n')
}

/**
 * Returns the result of a key in Kubernetes, and the note in the row of the key. For a key of the manifest, the note is
 * the default of the key.
 */
function meaningOf({ fate, becomes, note }: Row, file: 'manifest' | 'compose'): string {
  const becoming = becomes === '' || fate === 'cli' ? becomes : `becomes ${becomes}`
  const added = file === 'manifest' && note !== undefined ? `default: ${note}` : note
  const text = [becoming, added].filter(Boolean).join('; ').replace(/\.$/, '')
  return text === '' ? '' : `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

/**
 * Returns the keys that a mapping of this shape can have, with the row or shape of each; empty if the shape accepts no
 * mapping.
 */
export const keysOfShape = (shape: Shape | undefined): Readonly<Record<string, Row | Shape>> => shape?.map?.keys ?? {}

/** Returns the words that a value can be: the words of the shape, and `true` and `false` if the value is a boolean. */
export function wordsOf({ scalar }: Shape): readonly string[] {
  if (!scalar) return []
  const isSwitch = scalar.types.includes('boolean') && !scalar.types.includes('number')
  return [...(scalar.words ?? []).filter(word => word !== ''), ...(isSwitch ? ['true', 'false'] : [])]
}

/** Returns the text to insert after a key: a colon, with a space if the value can start on the same line. */
export function startOfValue(field: Row | Shape): ':' | ': ' {
  const shape = shapeOf(field)
  return shape.scalar || shape.any ? ': ' : ':'
}
