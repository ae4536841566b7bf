import type { CompletionItem, CompletionItemKind } from 'vscode-languageserver-protocol'
import { shapeAt } from '../../compiler/compose/keys/lookup.ts'
import { isRow } from '../../compiler/schema/row.ts'
import type { Shape } from '../../compiler/schema/shape.ts'
import { nodeAt } from '../text/outline-node.ts'
import { type Place, placeAt } from '../text/place.ts'
import { keysOfShape, keyText, startOfValue, wordsOf } from './key-text.ts'
import { namesIn, profilesIn, variablesIn } from './known-names.ts'
import { rangeOf } from './positions.ts'
import { type AskedDocument, tableOf } from './question.ts'
import { referenceAt } from './references.ts'

// CompletionItemKind of the protocol.
const VARIABLE: CompletionItemKind = 6
const PROPERTY: CompletionItemKind = 10
const VALUE: CompletionItemKind = 12
const REFERENCE: CompletionItemKind = 18

/** Matches the start of a variable at the end of a text. In `$$NAME`, `$$` is a literal dollar sign. */
const VARIABLE_BEFORE = /(?<!\$)(?:\$\$)*\$\{?([A-Za-z_]\w*)?$/

/** A proposal without the range that it replaces. `insert` is the text to insert if it differs from the label. */
type Proposal = Pick<CompletionItem, 'label' | 'kind' | 'documentation' | 'sortText'> & { readonly insert?: string }

/** Returns the proposals for the text at an offset: variables, keys, words, and names of the project. */
export function completionsAt(asked: AskedDocument, offset: number): readonly CompletionItem[] {
  const text = asked.document.getText()
  const variable = VARIABLE_BEFORE.exec(text.slice(Math.max(0, offset - 200), offset))
  if (variable) {
    const names = variablesIn(asked).filter(name => name !== variable[1])
    const proposals = names.map(label => ({ label, kind: VARIABLE }))
    return toItems(proposals, asked, { start: offset - (variable[1]?.length ?? 0), end: offset })
  }
  const place = placeAt(asked.outline, offset)
  if (!place) return []
  if (place.kind === 'key') return toItems(forKey(asked, place), asked, replacedPart(place, text, offset))
  const name = partBeforeColon(asked, place)
  if (offset > name.end && name.end < place.end) return []
  return toItems(forValue(asked, place), asked, replacedPart(name, text, offset))
}

/** Part of a document, as offsets. */
type Part = Pick<Place, 'start' | 'end'>

/**
 * Returns the part of the text that a proposal replaces. It contains the cursor, and does not extend beyond the line of
 * the cursor.
 */
function replacedPart({ start, end }: Part, text: string, offset: number): Part {
  const isApart = start > offset || text.slice(start, Math.max(end, offset)).includes('\n')
  return isApart ? { start: offset, end: offset } : { start, end: Math.max(end, offset) }
}

/** Returns the part of a value that is a name: `data` of `data:/var/lib`, `db` of `db:alias`. */
function partBeforeColon(asked: AskedDocument, { path, text, start, end }: Place): Part {
  const kind = referenceAt(asked, path)
  const colon = kind === 'mount' || kind === 'services' ? text.indexOf(':') : -1
  return { start, end: colon < 0 ? end : start + colon }
}

function forKey(asked: AskedDocument, place: Place): readonly Proposal[] {
  const shape = shapeAt(place.path, tableOf(asked))
  const around = nodeAt(asked.outline, place.path)
  const siblings = around?.children ?? (place.path.length === 0 ? asked.outline.top : [])
  const hasColon = place.node?.kind === 'key' && place.node.valueFrom !== undefined && place.text !== ''
  const taken = new Set(siblings.filter(one => one !== place.node || place.text === '').map(({ step }) => step))
  const keys = shape ? keyProposals(asked, shape, hasColon) : []
  const names = namesFor(asked, [...place.path, place.text || 'NAME'])
  const isMapping = shape?.map !== undefined
  const named = names.map(label => ({
    label,
    kind: REFERENCE,
    insert: isMapping && siblings.every(({ kind }) => kind === 'key') && !shape.list ? `${label}:` : `- ${label}`,
  }))
  const isList = shape?.list !== undefined && place.text === ''
  const items = isList ? wordsOf(shape.list.items).map(label => ({ label, kind: VALUE, insert: `- ${label}` })) : []
  return [...keys, ...named, ...items].filter(({ label }) => !taken.has(label))
}

const keyProposals = ({ kind }: AskedDocument, shape: Shape, hasColon: boolean): readonly Proposal[] =>
  Object.entries(keysOfShape(shape)).map(([label, field]) => ({
    label,
    kind: PROPERTY,
    ...(!hasColon && { insert: `${label}${startOfValue(field)}` }),
    // Keys that have no effect, or are refused, come last.
    ...(isRow(field) && (field.fate === 'none' || field.fate === 'refused') && { sortText: `~${label}` }),
    ...(isRow(field) && { documentation: { kind: 'markdown' as const, value: keyText(label, field, kind) } }),
  }))

function forValue(asked: AskedDocument, place: Place): readonly Proposal[] {
  const shape = shapeAt(place.path, tableOf(asked))
  const words = shape ? wordsOf(shape).map(label => ({ label, kind: VALUE })) : []
  const names = namesFor(asked, place.path).map(label => ({ label, kind: REFERENCE }))
  // A mapping can begin after the dash of an item.
  const keys = shape && place.node?.kind === 'item' ? keyProposals(asked, shape, false) : []
  const siblings = nodeAt(asked.outline, place.path.slice(0, -1))?.children ?? []
  const others = siblings.filter(one => one !== place.node && one.kind === 'item')
  const taken = new Set(others.map(({ scalar }) => scalar?.text))
  return [...words, ...names.filter(({ label }) => !taken.has(label)), ...keys]
}

/**
 * Returns the names that can be written at a path that contains a reference; empty for any other path. Does not propose
 * that a service refers to itself.
 */
function namesFor(asked: AskedDocument, path: readonly string[]): readonly string[] {
  const kind = referenceAt(asked, path)
  const services = () => namesIn(asked, 'services').filter(name => path[0] !== 'services' || name !== path[1])
  switch (kind) {
    case undefined:
    case 'file':
      return []
    case 'mount':
      return namesIn(asked, 'volumes')
    case 'service-after-colon':
      return services().map(name => `service:${name}`)
    case 'services':
      return services()
    case 'profiles':
      return profilesIn(asked)
    default:
      return namesIn(asked, kind)
  }
}

function toItems(
  proposals: readonly Proposal[],
  { document }: AskedDocument,
  { start, end }: Part,
): readonly CompletionItem[] {
  const range = rangeOf(document, start, end)
  return proposals.map(({ insert, ...item }) => ({ ...item, textEdit: { range, newText: insert ?? item.label } }))
}
