import type { DocumentSymbol, SymbolKind } from 'vscode-languageserver-protocol'
import type { OutlineNode } from '../text/outline-node.ts'
import { rangeOf } from './positions.ts'
import type { AskedDocument } from './question.ts'

// SymbolKind of the protocol.
const [NAMESPACE, CLASS, PROPERTY] = [3, 5, 7] as const
/** Depth of the deepest keys that are listed, such as `services.web.image`. */
const DEPTH = 3

/** Returns the keys of a document in three levels: the sections, their entries, and the keys of the entries. */
export function symbolsOf({ outline, document }: AskedDocument): readonly DocumentSymbol[] {
  const list = (nodes: readonly OutlineNode[], depth: number): DocumentSymbol[] =>
    nodes
      .filter(({ kind, step }) => kind === 'key' && step !== '')
      .map(node => ({
        name: node.step,
        kind: ([NAMESPACE, CLASS, PROPERTY][depth] ?? PROPERTY) as SymbolKind,
        ...(node.scalar && depth > 0 && { detail: shortened(node.scalar.text) }),
        range: rangeOf(document, node.start, Math.max(node.last, node.end)),
        selectionRange: rangeOf(document, node.start, node.end),
        ...(depth + 1 < DEPTH && { children: list(node.children, depth + 1) }),
      }))
  return list(outline.top, 0)
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
