import { FlowReader } from './flow.ts'
import { newNode, type Outline, type OutlineNode } from './outline-node.ts'
import { closingQuote, commentIn, match, skip } from './scan.ts'

/**
 * Reads the keys and items of a YAML text by the indentation of its lines. Accepts text that is being typed: unreadable
 * lines do not affect the other lines.
 */
export function outlineOf(text: string): Outline {
  return new OutlineReader(text).read()
}

/** A key with its colon: in quotes, or plain text. */
const KEY = /(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\n]|'')*)'|((?![-?](?:\s|$))[^\s#"'{}[\]&*!|>%@`,][^\n]*?)):(?=\s|$)/y
/** Anchors and tags before a value. */
const PROPERTIES = /(?:[&!][^\s,[\]{}]*(?:[ \t]+|(?=\r?\n|$)))+/y
const BLOCK_SCALAR = /[|>][-+\d]*[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)/y
const DASH = /-(?=\s|$)/y

/** Maximum nesting depth of the outline. Deeper lines are ignored. */
const DEPTH = 200

class OutlineReader {
  readonly #text: string
  readonly #top: OutlineNode[] = []
  readonly #all: OutlineNode[] = []
  /** The nodes around the current line, outermost first. */
  #open: OutlineNode[] = []

  constructor(text: string) {
    this.#text = text
  }

  read(): Outline {
    for (let at = this.#text.startsWith('\ufeff') ? 1 : 0; at < this.#text.length; ) at = this.#line(at)
    return { text: this.#text, top: this.#top, all: this.#all }
  }

  /** Reads the line that starts at an offset, and returns the start of the next unread line. */
  #line(start: number): number {
    const end = this.#lineEnd(start)
    const from = skip(this.#text, start)
    if (from >= end || this.#text[from] === '#' || this.#text[from] === '%' || this.#text[from] === '\r') return end + 1
    if (from === start && /^(?:---|\.\.\.)(?:\s|$)/.test(this.#text.slice(start, start + 4))) {
      this.#open = []
      return end + 1
    }
    return Math.max(this.#content(from, start), end) + 1
  }

  /**
   * Reads the content of a line from an offset, and returns the end of the content. A value can end on a later line.
   */
  #content(from: number, lineStart: number): number {
    const column = from - lineStart
    if (this.#open.length >= DEPTH) this.#close(column, false)
    if (this.#open.length >= DEPTH) return this.#lineEnd(from)
    if (match(DASH, this.#text, from)) {
      this.#close(column, true)
      const parent = this.#open.at(-1)
      const index = (parent?.children ?? this.#top).length
      const item = this.#add({ step: String(index), kind: 'item', start: from, end: from + 1, column }, from + 1)
      this.#open.push(item)
      const next = skip(this.#text, from + 1)
      return next >= this.#lineEnd(from) || this.#text[next] === '#' ? next : this.#afterDash(item, next, lineStart)
    }
    this.#close(column, false)
    const key = match(KEY, this.#text, from)
    if (key && !/\s#/.test(key[3] ?? '')) return this.#key(key, from, column)
    return this.#word(from, column)
  }

  #afterDash(item: OutlineNode, from: number, lineStart: number): number {
    const properties = this.#properties(item, from)
    if (match(DASH, this.#text, properties) || match(KEY, this.#text, properties))
      return this.#content(properties, lineStart)
    return this.#value(item, properties)
  }

  #key(key: RegExpExecArray, from: number, column: number): number {
    const quoted = key[3] === undefined ? 1 : 0
    const written = (key[3] ?? key[1] ?? key[2]!).trimEnd()
    const step = key[2] === undefined ? written : written.replaceAll("''", "'")
    const start = from + quoted
    const colon = from + key[0].length
    const node = this.#add({ step, kind: 'key', start, end: start + written.length, column }, colon)
    this.#open.push(node)
    return this.#value(node, this.#properties(node, skip(this.#text, colon)))
  }

  /** Reads a line that has no key: a key that is being typed, or the continuation of a text. */
  #word(from: number, column: number): number {
    const end = this.#plainEnd(from)
    const around = this.#open.at(-1)
    const isContinued = around?.scalar !== undefined
    if (isContinued) around.last = end
    else if (/[{["'|>&*!]/.test(this.#text[from]!)) {
      if (around) return this.#value(around, this.#properties(around, from))
    } else this.#open.push(this.#add({ step: this.#text.slice(from, end), kind: 'key', start: from, end, column }))
    return end
  }

  /** Reads the value of a node at an offset, and returns its end. */
  #value(node: OutlineNode, from: number): number {
    const text = this.#text
    const char = text[from]
    if (char === undefined || char === '\n' || char === '\r' || char === '#') return from
    if (match(BLOCK_SCALAR, text, from)) return this.#end(node, this.#limitOf(node, from))
    if (char === '{' || char === '[') {
      const flow = new FlowReader(text, this.#limitOf(node, from), one => this.#all.push(one))
      return this.#end(node, flow.read(node, from))
    }
    if (char === '"' || char === "'") {
      const sameLine = closingQuote(text, from, this.#lineEnd(from))
      const end = sameLine ?? closingQuote(text, from, this.#limitOf(node, from))
      const inner = end === undefined ? this.#lineEnd(from) : end - 1
      node.scalar = { text: text.slice(from + 1, inner), start: from + 1, end: inner }
      return this.#end(node, end ?? inner)
    }
    const end = this.#plainEnd(from)
    node.scalar = { text: text.slice(from, end), start: from, end }
    return this.#end(node, end)
  }

  #end(node: OutlineNode, end: number): number {
    for (let at: OutlineNode | undefined = node; at !== undefined; at = at.parent) at.last = Math.max(at.last, end)
    return end
  }

  #properties(node: OutlineNode, from: number): number {
    const properties = match(PROPERTIES, this.#text, from)
    if (!properties) return from
    const anchor = /&([^\s]+)/.exec(properties[0])?.[1]
    if (anchor !== undefined) node.anchor = anchor
    return from + properties[0].length
  }

  #add(node: Pick<OutlineNode, 'step' | 'kind' | 'start' | 'end' | 'column'>, valueFrom?: number): OutlineNode {
    const parent = this.#open.at(-1)
    const added = newNode(node, parent, valueFrom)
    ;(parent?.children ?? this.#top).push(added)
    this.#all.push(added)
    this.#end(added, added.end)
    return added
  }

  /**
   * Closes the open nodes that cannot contain a line with this indentation. A list item may have the same indentation
   * as the key of its list.
   */
  #close(column: number, isItem: boolean): void {
    while (this.#open.length > 0) {
      const { column: own = 0, kind } = this.#open.at(-1)!
      if (own < column || (own === column && isItem && kind === 'key')) return
      this.#open.pop()
    }
  }

  /**
   * Returns the end of a node's lines, which are all indented further than the node. A closing bracket may have the
   * same indentation as the node.
   */
  #limitOf({ column = 0 }: OutlineNode, from: number): number {
    let end = this.#lineEnd(from)
    while (end < this.#text.length) {
      const start = skip(this.#text, end + 1)
      const isBlank = start >= this.#text.length || /[\r\n]/.test(this.#text[start]!)
      // A closing bracket may be as far left as its key.
      if (!isBlank && start - end - 1 <= column && !(start - end - 1 === column && /[\]}]/.test(this.#text[start]!)))
        break
      end = this.#lineEnd(start)
    }
    return end
  }

  #lineEnd(from: number): number {
    const end = this.#text.indexOf('\n', from)
    return end < 0 ? this.#text.length : end
  }

  /**
   * Returns the end of a plain text that starts at an offset: the end of the line, without a comment and the spaces
   * before it.
   */
  #plainEnd(from: number): number {
    const line = this.#text.slice(from, this.#lineEnd(from))
    return from + line.slice(0, commentIn(line)).trimEnd().length
  }
}
