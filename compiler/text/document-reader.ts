import {
  type AliasEvent,
  type DocumentEvent,
  EVENT_ID,
  type Event,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Path } from './path.ts'
import { type TypedScalar, typePlainScalar, typeTaggedScalar } from './scalar.ts'
import type { SourceFile, Span } from './source.ts'
import type { Entry, MapTree, ScalarTree, Tree } from './tree.ts'
import {
  aliasCycle,
  duplicateKey,
  keyNotText,
  mergeTarget,
  syntax,
  tooLarge,
  unknownAnchor,
  unknownTag,
  wrongTag,
} from './yaml-diagnostics.ts'
import { closingEnd, skipBlanks, textOf } from './yaml-events.ts'

/** A `!reset` or `!override` tag. It drops the value that earlier files set at the path. */
export interface Reset {
  readonly path: Path
  readonly span: Span
}

/** A document of a file: its content, and its `!reset` and `!override` tags. */
export interface YamlDocument {
  /** The content. Undefined if a tag drops the entire document. */
  readonly tree: Tree | undefined
  readonly resets: readonly Reset[]
}

/** Maximum number of nodes in a document, as in the reference loader. */
const MAX_NODES = 100_000
/** Maximum number of nodes after aliases are expanded. Later stages visit the expanded nodes. */
const MAX_EXPANDED = 2_000_000

/** A value with an anchor, which its aliases refer to. */
interface Anchored {
  state: 'open' | 'done'
  tree: Tree | undefined
  resets: readonly Reset[]
  /** Number of nodes after aliases are expanded. */
  size: number
}

/** The events that can have an anchor and a tag. */
type ContentEvent = ScalarEvent | SequenceEvent | MappingEvent

interface Tag {
  /** Tag in its short form, such as `!!str`. */
  readonly name: string
  readonly span: Span
}

/**
 * Reads documents from their events into trees: resolves aliases to the single tree of their anchor, applies merge
 * keys, determines the types of plain scalars, and records the positions of `!reset` and `!override`. Reports `yaml/*`.
 */
export class DocumentReader {
  readonly #file: SourceFile
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #reporter: Reporter
  #next = 0
  /** End offset of the last part that has content. */
  #lastEnd = 0
  #visits = 0

  // State of the current document:
  #prefixes: ReadonlyMap<string, string> = new Map()
  #anchors = new Map<string, Anchored>()
  #resets: Reset[] = []
  #path: string[] = []
  #expanded = 0
  #aliased = 0
  /** Number of entries added by merge keys. */
  #merged = 0
  #failed = false

  constructor(file: SourceFile, text: string, events: readonly Event[], reporter: Reporter) {
    this.#file = file
    this.#text = text
    this.#events = events
    this.#reporter = reporter
  }

  /** Returns the documents; undefined if any of them has errors, which are reported. */
  readAll(): readonly YamlDocument[] | undefined {
    const documents: YamlDocument[] = []
    let failed = false
    try {
      while (this.#next < this.#events.length) {
        const document = this.#document(this.#take() as DocumentEvent) // what stands between documents are documents
        if (document) documents.push(document)
        else failed = true
      }
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown
      return undefined
    }
    return failed ? undefined : documents
  }

  #document({ directives, explicitStart }: DocumentEvent): YamlDocument | undefined {
    if (!explicitStart && this.#next > 1) {
      const start = skipBlanks(this.#text, this.#lastEnd, '.')
      const hint = 'begin another document with `---`'
      this.#reporter.report(syntax, this.#span(start, start + 1), { message: 'unexpected content', hint })
      throw new Unreadable()
    }
    this.#prefixes = new Map(directives.flatMap(one => (one.kind === 'tag' ? [[one.handle, one.prefix]] : [])))
    this.#anchors = new Map()
    this.#resets = []
    this.#path = []
    this.#visits = 0
    this.#expanded = 0
    this.#aliased = 0
    this.#merged = 0
    this.#failed = false
    const tree = this.#node(undefined)
    this.#take()
    if (this.#failed) return undefined
    if (this.#isBomb()) {
      this.#reporter.report(tooLarge, this.#span(0, 0), { what: 'the aliases of this file expand to too many nodes' })
      return undefined
    }
    return { tree, resets: this.#resets }
  }

  /**
   * True if the document is an alias bomb. Follows the reference loader's protection: aliases must not make up nearly
   * all of a large document.
   */
  #isBomb(): boolean {
    const allowed =
      this.#expanded <= 400_000
        ? 0.99
        : this.#expanded >= 4_000_000
          ? 0.1
          : 0.99 - (0.89 * (this.#expanded - 400_000)) / 3_600_000
    return (
      this.#expanded > MAX_EXPANDED ||
      (this.#aliased > 100 && this.#expanded > 1000 && this.#aliased / this.#expanded > allowed)
    )
  }

  #span(start: number, end: number): Span {
    return { file: this.#file, start, end }
  }

  #take(): Event {
    return this.#events[this.#next++]!
  }

  #tooMany(what: string, at: number): Unreadable {
    this.#reporter.report(tooLarge, this.#span(at, at + 1), { what })
    return new Unreadable()
  }

  /**
   * Reads a value. `key` is the position of its key, which serves as the position of an empty value. Returns undefined
   * for a value that is reset or in error.
   */
  #node(key: Span | undefined): Tree | undefined {
    if (++this.#visits > MAX_NODES)
      throw this.#tooMany(`the document has more than ${MAX_NODES} nodes`, key?.start ?? this.#lastEnd)
    const event = this.#take()
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event)
    return this.#valueOf(event as ContentEvent, key) // a document or an end is no value
  }

  #valueOf(event: ContentEvent, key: Span | undefined): Tree | undefined {
    const tag = this.#tagOf(event)
    const resetsBefore = this.#resets.length
    const anchored = this.#anchor(event)
    const before = this.#expanded
    if (tag && (tag.name === '!reset' || tag.name === '!override'))
      this.#resets.push({ path: [...this.#path], span: tag.span })
    let tree = this.#content(event, tag, key)
    if (tag?.name === '!reset') {
      // Tags inside a value that is reset are ignored.
      this.#resets.length = resetsBefore + 1
      tree = undefined
    }
    if (anchored) {
      const depth = this.#path.length
      anchored.tree = tree
      anchored.size = this.#expanded - before
      anchored.resets = this.#resets.slice(resetsBefore).map(reset => ({ ...reset, path: reset.path.slice(depth) }))
      anchored.state = 'done'
    }
    return tree
  }

  #anchor({ anchorStart, anchorEnd }: ContentEvent): Anchored | undefined {
    if (anchorStart < 0) return undefined
    const anchored: Anchored = { state: 'open', tree: undefined, resets: [], size: 0 }
    this.#anchors.set(this.#text.slice(anchorStart, anchorEnd), anchored)
    return anchored
  }

  #tagOf({ tagStart, tagEnd }: ContentEvent): Tag | undefined {
    if (tagStart < 0) return undefined
    const written = this.#text.slice(tagStart, tagEnd)
    const handle = /^![\w-]*!|^!/.exec(written)?.[0]
    const prefix = handle && this.#prefixes.get(handle)
    const long = prefix === undefined ? written.replace(/^!<(.*)>$/, '$1') : prefix + written.slice(handle!.length)
    return { name: long.replace('tag:yaml.org,2002:', '!!'), span: this.#span(tagStart, tagEnd) }
  }

  #content(event: ContentEvent, tag: Tag | undefined, key: Span | undefined): Tree | undefined {
    this.#expanded++
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event, tag, key)
      case EVENT_ID.SEQUENCE:
        return this.#seq(event)
      case EVENT_ID.MAPPING:
        return this.#map(event)
    }
  }

  #alias({ anchorStart, anchorEnd }: AliasEvent): Tree | undefined {
    const span = this.#span(anchorStart - 1, anchorEnd)
    this.#lastEnd = anchorEnd
    const name = this.#text.slice(anchorStart, anchorEnd)
    const anchored = this.#anchors.get(name)
    if (!anchored || anchored.state === 'open') {
      this.#reporter.report(anchored ? aliasCycle : unknownAnchor, span, { name })
      this.#failed = true
      return undefined
    }
    for (const reset of anchored.resets)
      this.#resets.push({
        path: [...this.#path, ...reset.path],
        span: reset.path.length === 0 ? span : reset.span,
      })
    this.#expanded += anchored.size
    this.#aliased += anchored.size
    return anchored.tree
  }

  #atEnd(): boolean {
    if (this.#events[this.#next]!.type !== EVENT_ID.POP) return false
    this.#next++
    return true
  }

  /** Returns the position of the collection that was just read. */
  #spanFrom(start: number): Span {
    const opening = this.#text[start]
    if (opening === '[' || opening === '{') this.#lastEnd = closingEnd(this.#text, Math.max(this.#lastEnd, start + 1))
    return this.#span(start, this.#lastEnd)
  }

  #seq({ start, style }: SequenceEvent): Tree {
    const items: Tree[] = []
    this.#lastEnd = start
    for (let index = 0; !this.#atEnd(); index++) {
      this.#path.push(String(index))
      const tree = this.#node(style === 1 ? this.#dash() : undefined)
      this.#path.pop()
      if (tree) items.push(tree)
    }
    return { kind: 'seq', span: this.#spanFrom(start), items }
  }

  /** Returns the position for an empty item: its dash. */
  #dash(): Span | undefined {
    const next = this.#events[this.#next]!
    if (next.type !== EVENT_ID.SCALAR || next.valueStart >= 0) return undefined
    const at = skipBlanks(this.#text, this.#lastEnd)
    this.#lastEnd = at + 1
    return this.#span(at, at + 1)
  }

  #map({ start }: MappingEvent): Tree {
    const entries = new Map<string, Entry>()
    const seen = new Map<string, Span>()
    const merged: MapTree[] = []
    this.#lastEnd = start
    while (!this.#atEnd()) {
      const key = this.#key()
      if (key && !key.isMerge) this.#path.push(key.name)
      const value = this.#node(key?.span)
      if (!key) continue
      if (!key.isMerge) this.#path.pop()
      const earlier = seen.get(key.name)
      if (earlier) {
        this.#reporter.report(duplicateKey, key.span, { key: key.name }, [
          { span: earlier, message: 'first defined here' },
        ])
        this.#failed = true
        continue
      }
      seen.set(key.name, key.span)
      if (value === undefined) continue
      if (key.isMerge) this.#collectMerge(value, merged)
      else entries.set(key.name, { key: key.span, value })
    }
    const span = this.#spanFrom(start)
    // Explicit keys take precedence, wherever they are. Of several merged mappings, the first one takes precedence.
    for (const source of merged) {
      this.#merged += source.entries.size
      if (this.#merged > MAX_EXPANDED)
        throw this.#tooMany('the merge keys of this file expand to too many entries', start)
      for (const [name, entry] of source.entries) if (!entries.has(name)) entries.set(name, entry)
    }
    return { kind: 'map', span, entries }
  }

  #collectMerge(value: Tree, into: MapTree[]): void {
    for (const source of value.kind === 'seq' ? value.items : [value]) {
      if (source.kind === 'map') into.push(source)
      else {
        this.#reporter.report(mergeTarget, source.span, { found: source.kind === 'seq' ? 'a list' : 'a single value' })
        this.#failed = true
      }
    }
  }

  /** Reads a key. Returns undefined if the key is not a string, and reports it. */
  #key(): Key | undefined {
    const event = this.#take()
    if (event.type !== EVENT_ID.ALIAS) {
      const tree = this.#keyContent(event as ContentEvent) // a document or an end is no key
      return tree && this.#named(tree, tree.span, event.type === EVENT_ID.SCALAR)
    }
    const tree = this.#alias(event)
    return tree && this.#named(tree, this.#span(event.anchorStart - 1, event.anchorEnd), false)
  }

  /** Reads the content of a key. A tag before the key does not apply to the value of the entry. */
  #keyContent(event: ContentEvent): Tree | undefined {
    const isWritten = event.type !== EVENT_ID.SCALAR || event.valueStart >= 0
    const anchored = this.#anchor(event)
    const tree = this.#content(event, this.#tagOf(event), isWritten ? undefined : this.#colon())
    if (anchored) Object.assign(anchored, { tree, size: 1, state: 'done' })
    return tree
  }

  /** Returns the position for an empty key: its colon. */
  #colon(): Span {
    const at = skipBlanks(this.#text, this.#lastEnd, ',')
    return this.#span(at, at + 1)
  }

  #named(tree: Tree, span: Span, mayMerge: boolean): Key | undefined {
    if (tree.kind !== 'scalar') return this.#complain(span, 'not a single value')
    if (tree.type !== 'string') return this.#complain(span, KEY_TYPES[tree.type])
    const name = tree.value as string // type 'string' says so
    return { name, span, isMerge: mayMerge && tree.style === 'plain' && name === '<<' }
  }

  #complain(span: Span, type: string): undefined {
    const written = this.#text.slice(span.start, Math.min(span.end, span.start + 40))
    this.#reporter.report(keyNotText, span, { key: type === 'null' ? 'null' : written, type })
    this.#failed = true
  }

  #scalar(event: ScalarEvent, tag: Tag | undefined, key: Span | undefined): ScalarTree {
    const text = textOf(this.#text, event)
    const style = STYLES[event.style]
    const span = this.#placeOf(event, key)
    if (style === 'double') this.#checkEscapes(event)
    const make = ({ type, value }: TypedScalar): ScalarTree => ({ kind: 'scalar', span, style, type, value })
    const string: TypedScalar = { type: 'string', value: text }
    if (!tag || tag.name === '!' || tag.name === '!override' || tag.name === '!reset')
      return make(style === 'plain' && tag?.name !== '!' ? typePlainScalar(text) : string)
    const typed = typeTaggedScalar(text, tag.name)
    if (typed === undefined) this.#reporter.report(unknownTag, tag.span, { tag: tag.name })
    if (typed !== 'wrong') return make(typed ?? string)
    this.#reporter.report(wrongTag, span, { tag: tag.name, text })
    this.#failed = true
    return make(string)
  }

  /**
   * Returns the position of a scalar, from the quote or the block header to the end. For an empty value, returns the
   * position of the key, or the end of the anchor or tag.
   */
  #placeOf({ valueStart, valueEnd, anchorEnd, tagEnd, style }: ScalarEvent, key: Span | undefined): Span {
    const properties = Math.max(anchorEnd, tagEnd)
    if (valueStart < 0) {
      if (properties >= 0) this.#lastEnd = properties
      return key ?? this.#span(this.#lastEnd, this.#lastEnd)
    }
    const from = this.#lastEnd
    let start = valueStart
    this.#lastEnd = valueEnd
    if (style === 2 || style === 3) {
      start--
      this.#lastEnd++
    } else if (style === 4 || style === 5) {
      const header = skipBlanks(this.#text, Math.max(from, properties), ':?-')
      start = '|>'.includes(this.#text[header] ?? ' ') ? header : this.#text.lastIndexOf('\n', valueStart - 2) + 1
    }
    return this.#span(start, this.#lastEnd)
  }

  /** Reports `\/`. The escape is valid only in YAML 1.2, and the reference loader refuses it. */
  #checkEscapes({ valueStart, valueEnd }: ScalarEvent): void {
    const raw = this.#text.slice(valueStart, valueEnd)
    if (!raw.includes('\\/')) return
    for (const { 0: sequence, index } of raw.matchAll(/\\./gs)) {
      if (sequence !== '\\/') continue
      const at = valueStart + index
      this.#reporter.report(syntax, this.#span(at, at + 2), {
        message: '`\\/` is not a valid escape sequence',
        hint: 'write `/`',
      })
      this.#failed = true
    }
  }
}

interface Key {
  readonly name: string
  readonly span: Span
  readonly isMerge: boolean
}

const KEY_TYPES = { null: 'null', bool: 'a boolean', date: 'a date', int: 'a number', float: 'a number' } as const

const STYLES = { 1: 'plain', 2: 'single', 3: 'double', 4: 'literal', 5: 'folded' } as const

/** Thrown within this module to stop reading the file. */
class Unreadable extends Error {}
