import { newNode, type OutlineNode } from './outline-node.ts'
import { closingQuote, match } from './scan.ts'

const BLANK = /(?:\s|#[^\n]*(?=\n|$))+/y
const PROPERTIES = /(?:[&!][^\s,[\]{}]*\s*)+/y
/** Matches text without quotes, up to a bracket, a comma, or a colon that ends a key. */
const PLAIN = /(?:[^\s,[\]{}:]|:(?=[^\s,[\]{}])|[ \t]+(?=[^\s,[\]{}:#]))+/y

/** Maximum nesting depth of brackets. */
const DEPTH = 200

/** Reads mappings in braces and lists in brackets, also if their ends are missing. */
export class FlowReader {
  readonly #text: string
  /** Offset at which an unclosed bracket ends. */
  readonly #limit: number
  readonly #onNode: (node: OutlineNode) => void

  constructor(text: string, limit: number, onNode: (node: OutlineNode) => void) {
    this.#text = text
    this.#limit = limit
    this.#onNode = onNode
  }

  #depth = 0

  /** Reads the bracket at an offset as the value of a node, and returns the offset after its end. */
  read(node: OutlineNode, from: number): number {
    const closing = this.#text[from] === '{' ? '}' : ']'
    node.flow = { start: from, end: this.#limit, isClosed: false }
    for (let at = this.#skip(from + 1); at < this.#limit; ) {
      const char = this.#text[at]!
      if (char === closing) {
        node.flow = { start: from, end: at + 1, isClosed: true }
        return at + 1
      }
      if (char === ',' || char === '}' || char === ']') at = this.#skip(at + 1)
      else at = this.#skip(closing === '}' ? this.#entry(node, at) : this.#item(node, at))
    }
    return this.#limit
  }

  #entry(node: OutlineNode, from: number): number {
    const start = this.#afterProperties(from)
    const { text, from: inner, to, end } = this.#word(start)
    const colon = this.#skip(end)
    const hasValue = this.#text[colon] === ':'
    const entry = newNode(
      { step: text, kind: 'key', start: inner, end: to, column: undefined },
      node,
      hasValue ? colon + 1 : undefined,
    )
    this.#add(node, entry)
    return hasValue ? this.#value(entry, this.#skip(colon + 1)) : end
  }

  #item(node: OutlineNode, from: number): number {
    const index = String(node.children.length)
    const item = newNode({ step: index, kind: 'item', start: from, end: from, column: undefined }, node, from)
    this.#add(node, item)
    return this.#value(item, from)
  }

  #add(node: OutlineNode, child: OutlineNode): void {
    node.children.push(child)
    this.#onNode(child)
  }

  #value(node: OutlineNode, from: number): number {
    const start = this.#afterProperties(from)
    const anchor = /&([^\s,]+)/.exec(this.#text.slice(from, start))?.[1]
    if (anchor !== undefined) node.anchor = anchor
    const char = this.#text[start]
    if (char === undefined || start >= this.#limit || /[,}\]]/.test(char)) return start
    const isNested = (char === '{' || char === '[') && this.#depth < DEPTH
    const word = isNested ? undefined : this.#word(start)
    if (word) node.scalar = { text: word.text, start: word.from, end: word.to }
    this.#depth++
    node.last = word ? word.end : this.read(node, start)
    this.#depth--
    return node.last
  }

  /**
   * Reads a text with or without quotes that starts at an offset. Returns the text without its quotes, the offsets of
   * its beginning (`from`) and end (`to`), and the offset after the closing quote (`end`), which is always after
   * `start`.
   */
  #word(start: number): { readonly text: string; readonly from: number; readonly to: number; readonly end: number } {
    const char = this.#text[start]
    if (char === '"' || char === "'") {
      const end = closingQuote(this.#text, start, this.#limit)
      const to = end === undefined ? this.#limit : end - 1
      return { text: this.#text.slice(start + 1, to), from: start + 1, to, end: end ?? this.#limit }
    }
    const length = match(PLAIN, this.#text, start)?.[0].length ?? 0
    const to = start + length
    return { text: this.#text.slice(start, to), from: start, to, end: Math.max(to, start + 1) }
  }

  #skip(at: number): number {
    return at + (match(BLANK, this.#text, at)?.[0].length ?? 0)
  }

  #afterProperties(at: number): number {
    return at + (match(PROPERTIES, this.#text, at)?.[0].length ?? 0)
  }
}
