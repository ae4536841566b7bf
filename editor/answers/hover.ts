import type { Hover } from 'vscode-languageserver-protocol'
import { rowOf } from '../../compiler/compose/keys/lookup.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'
import { placeAt } from '../text/place.ts'
import { effectiveAt } from './effective.ts'
import { keyText } from './key-text.ts'
import { rangeOf } from './positions.ts'
import { type AskedDocument, tableOf } from './question.ts'

/**
 * Returns the documentation of the key at an offset, with its meaning in Kubernetes, and the final value of the key
 * after substitution of variables and merging of files. Undefined if there is nothing to show.
 */
export function hoverAt(asked: AskedDocument, offset: number): Hover | undefined {
  const place = placeAt(asked.outline, offset)
  if (!place || place.text === '') return undefined
  const path = place.kind === 'key' ? [...place.path, place.text] : place.path
  const row = rowOf(path, tableOf(asked))
  const name = path.findLast(step => !/^\d+$/.test(step)) ?? place.text
  const isKey = row !== undefined && !isChosenName(path, asked)
  const parts = [isKey ? keyText(name, row, asked.kind) : undefined, valueText(asked, offset, name)].filter(Boolean)
  if (parts.length === 0) return undefined
  return {
    contents: { kind: 'markdown', value: parts.join('\n\n') },
    range: rangeOf(asked.document, place.start, place.end),
  }
}

/**
 * True for the name of a variable, label or build argument. Users choose such names, so the table of keys has a row
 * only for the key that contains the name.
 */
const isChosenName = (path: readonly string[], asked: AskedDocument): boolean =>
  path.length > 1 &&
  /^(?:environment|labels|args)$/.test(path.at(-2)!) &&
  rowOf(path.slice(0, -1), tableOf(asked)) !== undefined

function valueText(asked: AskedDocument, offset: number, name: string): string | undefined {
  const found = effectiveAt(asked, offset)
  if (!found) return undefined
  const { scalar, isReplaced } = found
  const { variables = [], span, replaced } = scalar
  if (variables.length === 0 && !isReplaced && !replaced?.length) return undefined
  const text = String(scalar.value)
  const isSecret =
    variables.some(one => one.isSecret || isVariableWithSecret(one.name, text)) || isVariableWithSecret(name, text)
  const shown = isSecret ? '***' : asked.project!.secrets.maskValue(text)
  const origins = variables.map(({ name, origin }) => `\`${name}\` from ${origin}`)
  return [
    `Value: \`${shown.replaceAll('`', '’').slice(0, 300)}\`${origins.length > 0 ? ` (${[...new Set(origins)].join(', ')})` : ''}`,
    ...(isReplaced ? [`Set in ${shownPlace(span)}.`] : []),
    ...(!isReplaced && replaced?.[0] ? [`Replaces the value in ${shownPlace(replaced[0])}.`] : []),
  ].join('\n\n')
}
