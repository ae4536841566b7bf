import {
  type Alias,
  type Document,
  isAlias,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import { composeDocuments } from './documents.ts'
import type { Path } from './path.ts'
import { typePlainScalar } from './scalar.ts'
import type { SourceFile, Span } from './source.ts'
import { misplacedTab } from './tabs.ts'
import type { Entry, MapTree, ScalarTree, ScalarType, Tree } from './tree.ts'

/** One document of a file: what it says, and where it says `!reset` or `!override`. */
export interface YamlDocument {
  /** Undefined for a document without content. */
  readonly tree: Tree | undefined
  readonly resets: readonly Reset[]
}

/** A `!reset` or `!override`: what an earlier file says at the path is dropped. */
export interface Reset {
  readonly path: Path
  readonly span: Span
}

/** Nodes a document may have, as in the reference loader. */
const MAX_NODES = 100_000
/** Nodes after aliases are expanded: what later stages walk. */
const MAX_EXPANDED = 2_000_000
const MAX_DEPTH = 500
/** Characters of a file. A Compose file of 100,000 nodes is smaller. */
const MAX_LENGTH = 10_000_000

/** What YAML allows nowhere, not even in a comment. */
const CONTROL = /[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/
const DIRECTIVE = /^%YAML[ \t]+(\S+)/m
const LONE_RETURN = /\r(?!\n)/
const LONE_RETURNS = new RegExp(LONE_RETURN, 'g')

const syntax = diagnostic({
  code: 'yaml/syntax',
  severity: 'error',
  explain:
    'The file is not valid YAML. Nothing of it was read. The place is where the reader could not go on; the mistake is often a line above: a missing quote, a tab, or a wrong indentation.',
  text: (p: { message: string; hint?: string | undefined }) => ({ message: p.message, hint: p.hint }),
})
const duplicateKey = diagnostic({
  code: 'yaml/duplicate-key',
  severity: 'error',
  explain:
    'A mapping has the same key twice, so one of the two values would be lost silently. Remove one. For several merge keys write one with a list: `<<: [*a, *b]`.',
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` is already defined in this mapping`,
    hint: p.key === '<<' ? 'write one merge key with a list: `<<: [*a, *b]`' : undefined,
  }),
})
const keyNotText = diagnostic({
  code: 'yaml/key-not-a-string',
  severity: 'error',
  explain: 'Keys in a Compose file are strings. A number, a boolean or `null` as a key has to be quoted: `"8080": x`.',
  text: (p: { key: string; type: string }) => ({
    message: `the key \`${p.key}\` is ${p.type}, not a string`,
    hint: /^[\w.-]+$/.test(p.key) ? `quote it: \`"${p.key}"\`` : undefined,
  }),
})
const unknownAnchor = diagnostic({
  code: 'yaml/unknown-anchor',
  severity: 'error',
  explain:
    'An alias (`*name`) needs an anchor (`&name`) that stands before it in the same document. Anchors do not reach into other files or into the next document after `---`.',
  text: (p: { name: string }) => ({ message: `no anchor \`&${p.name}\` stands before this alias in the document` }),
})
const aliasCycle = diagnostic({
  code: 'yaml/alias-cycle',
  severity: 'error',
  explain: 'An alias stands inside the value of its own anchor, which would make the value endless.',
  text: (p: { name: string }) => ({ message: `the alias \`*${p.name}\` stands inside its own anchor` }),
})
const mergeTarget = diagnostic({
  code: 'yaml/merge-target',
  severity: 'error',
  explain:
    'The merge key `<<` takes a mapping, an alias of a mapping, or a list of those. A list of `KEY=value` strings cannot be merged: write it as a mapping (`KEY: value`) where it is anchored.',
  text: (p: { found: string }) => ({
    message: `\`<<\` merges mappings, and this is ${p.found}`,
    hint: p.found === 'a list' ? 'write the anchored list as a mapping' : undefined,
  }),
})
const unknownTag = diagnostic({
  code: 'yaml/unknown-tag',
  severity: 'warning',
  explain:
    'Compose knows the tags `!reset` and `!override` and those of YAML itself (`!!str` and the like). Other tags mean nothing and are ignored.',
  text: (p: { tag: string }) => ({ message: `the tag \`${p.tag}\` is unknown and is ignored` }),
})
const wrongTag = diagnostic({
  code: 'yaml/wrong-tag',
  severity: 'error',
  explain:
    'A tag of YAML itself (`!!int`, `!!float`, `!!bool`, `!!null`, `!!timestamp`) says what type a value has, and the value is not of that type. Remove the tag, or correct the value.',
  text: (p: { tag: string; text: string }) => ({
    message: `\`${p.text}\` is not what \`${p.tag}\` says`,
    hint: 'remove the tag',
  }),
})
const version = diagnostic({
  code: 'yaml/version',
  severity: 'error',
  explain:
    'The directive `%YAML` says which version of YAML a file is written in. Docker Compose reads version 1.1 and refuses files that name another one. Remove the line: it changes nothing in how devctl reads the file.',
  text: (p: { version: string }) => ({
    message: `Compose files are not YAML ${p.version}`,
    hint: 'remove the line',
  }),
})
const tooLarge = diagnostic({
  code: 'yaml/too-large',
  severity: 'error',
  explain:
    'The file is larger than any Compose file: more than 10 million characters, 100,000 nodes in a document, or far more nodes than that after its aliases are expanded. This protects against files made to exhaust memory.',
  text: (p: { what: string }) => ({ message: p.what }),
})
const tooDeep = diagnostic({
  code: 'yaml/too-deep',
  severity: 'error',
  explain: `Mappings and lists are nested more than ${MAX_DEPTH} levels deep. No Compose file is; the limit protects against files made to exhaust memory.`,
  text: (_: Record<never, never>) => ({ message: `nested more than ${MAX_DEPTH} levels deep` }),
})
/** Reads the documents of a YAML file. Reports `yaml/*`; returns undefined when the file cannot be used. */
export function parseYaml(file: SourceFile, reporter: Reporter): readonly YamlDocument[] | undefined {
  const { text } = file
  if (text.length > MAX_LENGTH) {
    reporter.report(tooLarge, { file, start: 0, end: 0 }, { what: 'the file has more than 10 million characters' })
    return undefined
  }
  const control = text.search(CONTROL)
  if (control >= 0) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, '0')
    reporter.report(
      syntax,
      { file, start: control, end: control + 1 },
      { message: `the control character U+${code} is not allowed in YAML`, hint: 'is this a text file?' },
    )
    return undefined
  }
  const directive = DIRECTIVE.exec(text)
  if (directive && directive[1] !== '1.1' && /^(?:[%#].*|\s)*$/.test(text.slice(0, directive.index))) {
    const start = directive.index
    reporter.report(version, { file, start, end: start + directive[0].length }, { version: directive[1]! })
    return undefined
  }
  // A carriage return alone ends a line, too.
  const documents = composeDocuments(LONE_RETURN.test(text) ? text.replaceAll(LONE_RETURNS, '\n') : text)
  if (documents === 'too large') {
    reporter.report(tooLarge, { file, start: 0, end: 0 }, { what: `the file has more than ${MAX_NODES} nodes` })
    return undefined
  }
  if (documents.every(document => document.errors.length === 0)) {
    const tab = misplacedTab(text, documents)
    if (tab !== undefined) {
      reporter.report(syntax, { file, start: tab, end: tab + 1 }, WORDS['TAB_AS_INDENT']!)
      return undefined
    }
  }
  const result: YamlDocument[] = []
  let failed = false
  for (const document of documents) {
    const read = new DocumentReader(file, reporter).read(document)
    if (read) result.push(read)
    else failed = true
  }
  return failed ? undefined : result
}

/** What the yaml package calls its errors, in our words; other codes keep the package's message. */
const WORDS: Readonly<Record<string, { message: string; hint?: string }>> = {
  TAB_AS_INDENT: { message: 'a tab cannot be used for indentation', hint: 'indent with spaces' },
  MISSING_CHAR: { message: 'a closing quote or bracket is missing' },
  BAD_INDENT: { message: 'the indentation does not fit what stands around it' },
  UNEXPECTED_TOKEN: { message: 'this does not belong here' },
  MULTILINE_IMPLICIT_KEY: { message: 'a key must be on one line', hint: 'is a colon missing, or a quote?' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a value cannot have a mapping on the same line',
    hint: 'put quotes around text that contains `: `',
  },
  BAD_ALIAS: { message: 'this is no valid alias', hint: 'quote text that begins with `*`' },
  BAD_SCALAR_START: { message: 'text cannot begin with this character', hint: 'put quotes around it' },
  BAD_PROP_ORDER: { message: 'anchors and tags must stand before the value' },
  MULTIPLE_ANCHORS: { message: 'a value can have one anchor' },
  MULTIPLE_TAGS: { message: 'a value can have one tag' },
  BAD_DQ_ESCAPE: { message: 'this is no escape sequence of YAML', hint: 'double the backslash, or use single quotes' },
}

interface Anchored {
  readonly node: Node
  state: 'open' | 'done'
  tree: Tree | undefined
  resets: readonly Reset[]
  /** Nodes after expansion. */
  size: number
}

class DocumentReader {
  readonly #file: SourceFile
  readonly #reporter: Reporter
  readonly #anchors = new Map<string, Anchored>()
  #resets: Reset[] = []
  #path: string[] = []
  #visits = 0
  #expanded = 0
  #aliased = 0
  #failed = false

  constructor(file: SourceFile, reporter: Reporter) {
    this.#file = file
    this.#reporter = reporter
  }

  read(document: Document): YamlDocument | undefined {
    const [error] = document.errors
    if (error) {
      const span = this.#span(error.pos[0], Math.max(error.pos[1], error.pos[0] + 1))
      if (/call stack/.test(error.message)) this.#reporter.report(tooDeep, span, {})
      else {
        const words = WORDS[error.code]
        this.#reporter.report(syntax, span, { message: words?.message ?? lowerFirst(error.message), hint: words?.hint })
      }
      return undefined
    }
    const root = document.contents
    let tree: Tree | undefined
    try {
      tree = root ? this.#node(root, undefined) : undefined
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown
      this.#failed = true
    }
    if (this.#failed) return undefined
    // The reference loader's protection against alias bombs: aliases may not make nearly all of a large document.
    const allowed =
      this.#expanded <= 400_000
        ? 0.99
        : this.#expanded >= 4_000_000
          ? 0.1
          : 0.99 - (0.89 * (this.#expanded - 400_000)) / 3_600_000
    if (
      this.#expanded > MAX_EXPANDED ||
      (this.#aliased > 100 && this.#expanded > 1000 && this.#aliased / this.#expanded > allowed)
    ) {
      this.#reporter.report(tooLarge, this.#span(0, 0), { what: 'the aliases of this file expand to too many nodes' })
      return undefined
    }
    return { tree, resets: this.#resets }
  }

  #span(start: number, end: number): Span {
    return { file: this.#file, start, end }
  }

  #spanOf(node: Node, key?: Span): Span {
    const range = node.range
    if (!range) return key ?? this.#span(0, 0)
    // A value that is not written down is shown at its key.
    if (range[0] === range[1] && key) return key
    return this.#span(range[0], range[1])
  }

  #node(node: Node, key: Span | undefined): Tree | undefined {
    if (++this.#visits > MAX_NODES) {
      this.#reporter.report(tooLarge, this.#spanOf(node, key), {
        what: `the document has more than ${MAX_NODES} nodes`,
      })
      throw new Unreadable()
    }
    if (this.#path.length > MAX_DEPTH) {
      this.#reporter.report(tooDeep, this.#spanOf(node, key), {})
      throw new Unreadable()
    }
    if (node.tag === '!reset' || node.tag === '!override') {
      this.#resets.push({ path: [...this.#path], span: this.#tagSpan(node) })
      if (node.tag === '!reset') {
        if ('anchor' in node && node.anchor)
          this.#anchors.set(node.anchor, { node, state: 'done', tree: undefined, resets: [], size: 1 })
        return undefined
      }
    }
    if (isAlias(node)) return this.#alias(node, key)
    const anchor = 'anchor' in node ? node.anchor : undefined
    if (!anchor) return this.#content(node, key)
    const anchored: Anchored = { node, state: 'open', tree: undefined, resets: [], size: 0 }
    this.#anchors.set(anchor, anchored)
    const before = this.#expanded
    const resetsBefore = this.#resets.length
    anchored.tree = this.#content(node, key)
    anchored.size = this.#expanded - before
    const depth = this.#path.length
    anchored.resets = this.#resets.slice(resetsBefore).map(reset => ({ ...reset, path: reset.path.slice(depth) }))
    anchored.state = 'done'
    return anchored.tree
  }

  #alias(node: Alias, key: Span | undefined): Tree | undefined {
    const anchored = this.#anchors.get(node.source)
    if (!anchored) {
      this.#reporter.report(unknownAnchor, this.#spanOf(node, key), { name: node.source })
      this.#failed = true
      return undefined
    }
    if (anchored.state === 'open') {
      this.#reporter.report(aliasCycle, this.#spanOf(node, key), { name: node.source })
      this.#failed = true
      return undefined
    }
    const tag = anchored.node.tag
    if (tag === '!reset' || tag === '!override')
      this.#resets.push({ path: [...this.#path], span: this.#spanOf(node, key) })
    for (const reset of anchored.resets) this.#resets.push({ ...reset, path: [...this.#path, ...reset.path] })
    this.#expanded += anchored.size
    this.#aliased += anchored.size
    return anchored.tree
  }

  #content(node: Node, key: Span | undefined): Tree | undefined {
    this.#expanded++
    if ('items' in node)
      return isSeq(node) ? this.#seq(node as YAMLSeq, key) : this.#map(node as YAMLMap<Node, Node | null>, key)
    return this.#scalar(node as Scalar, key)
  }

  #seq(node: YAMLSeq, key: Span | undefined): Tree {
    const items: Tree[] = []
    node.items.forEach((item, index) => {
      this.#path.push(String(index))
      // The failsafe schema makes nodes of everything, empty items included.
      const tree = this.#node(item as Node, undefined)
      this.#path.pop()
      if (tree) items.push(tree)
    })
    return { kind: 'seq', span: this.#spanOf(node, key), items }
  }

  #map(node: YAMLMap<Node, Node | null>, key: Span | undefined): Tree {
    const entries = new Map<string, Entry>()
    const seen = new Map<string, Span>()
    const merged: MapTree[] = []
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const name = this.#key(pair.key)
      if (name === undefined) continue
      const keySpan = this.#spanOf(pair.key)
      const earlier = seen.get(name)
      if (earlier) {
        this.#reporter.report(duplicateKey, keySpan, { key: name }, [{ span: earlier, message: 'first defined here' }])
        this.#failed = true
        continue
      }
      seen.set(name, keySpan)
      const isMerge = name === '<<' && (pair.key as Scalar).type === 'PLAIN'
      if (!isMerge) this.#path.push(name)
      const value = pair.value === null ? nullTree(keySpan) : this.#node(pair.value, keySpan)
      if (!isMerge) this.#path.pop()
      if (value === undefined) continue
      if (isMerge) this.#collectMerge(value, merged)
      else entries.set(name, { key: keySpan, value })
    }
    if (merged.length > 0) {
      // Explicit keys win wherever they stand; of several merged mappings the first one wins.
      for (const source of merged)
        for (const [name, entry] of source.entries) if (!entries.has(name)) entries.set(name, entry)
    }
    return { kind: 'map', span: this.#spanOf(node, key), entries }
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

  /** The text of a key, or undefined when it is no string (reported). */
  #key(node: Node): string | undefined {
    const resolved = isAlias(node) ? this.#anchors.get(node.source)?.node : node
    const complain = (key: string, type: string) => {
      this.#reporter.report(keyNotText, this.#spanOf(node), { key, type })
      this.#failed = true
      return undefined
    }
    if (!resolved || 'items' in resolved)
      return complain(this.#file.text.slice(...(node.range ?? [0, 0])).slice(0, 40), 'not a single value')
    if ('anchor' in resolved && resolved.anchor && resolved === node)
      this.#anchors.set(resolved.anchor, {
        node,
        state: 'done',
        tree: this.#scalar(resolved as Scalar, undefined),
        resets: [],
        size: 1,
      })
    const scalar = resolved as Scalar
    const text = String(scalar.value ?? '')
    if (scalar.type !== 'PLAIN' || scalar.tag === '!!str' || scalar.tag === 'tag:yaml.org,2002:str') return text
    const { type } = typePlainScalar(text)
    if (type === 'string') return text
    return complain(
      text === '' ? 'null' : text,
      type === 'null' ? 'null' : type === 'bool' ? 'a boolean' : type === 'date' ? 'a date' : 'a number',
    )
  }

  #scalar(node: Scalar, key: Span | undefined): ScalarTree {
    const span = this.#spanOf(node, key)
    const style = STYLES[node.type ?? 'PLAIN'] ?? 'plain'
    const text = this.#textOf(node, style)
    const tag = node.tag?.replace('tag:yaml.org,2002:', '!!')
    const string: ScalarTree = { kind: 'scalar', span, style, type: 'string', value: text }
    if (tag === undefined || tag === '!override')
      return style === 'plain' ? { ...string, ...typePlainScalar(text) } : string
    if (tag === '!' || tag === '!!str') return string
    if (tag === '!!binary') return { ...string, value: Buffer.from(text, 'base64').toString() }
    const types = TYPES_OF_TAGS[tag]
    if (!types) {
      this.#reporter.report(unknownTag, this.#tagSpan(node), { tag })
      return string
    }
    const typed = typePlainScalar(text)
    if (!types.includes(typed.type)) {
      this.#reporter.report(wrongTag, span, { tag, text })
      this.#failed = true
    }
    return { ...string, ...typed }
  }

  /** The text of a scalar. A block at the end of a file that has no last line end does not get one, which the yaml package would give it. */
  #textOf(node: Scalar, style: ScalarTree['style']): string {
    // The package makes dates and bytes of some tagged texts; `source` is the text itself.
    const value = node.source ?? String(node.value ?? '')
    if (style === 'double') this.#checkEscapes(node)
    if (style !== 'literal' && style !== 'folded') return value
    const { text } = this.#file
    const isLast = (node.range?.[1] ?? 0) >= text.length && /\S[^\S\n]*$/.test(text.slice(text.lastIndexOf('\n') + 1))
    return isLast && value.endsWith('\n') ? value.slice(0, -1) : value
  }

  /** The escape of a slash is one of YAML 1.2 only, and the reference loader refuses it. */
  #checkEscapes(node: Scalar): void {
    const [start, end] = node.range ?? [0, 0]
    const raw = this.#file.text.slice(start, end)
    if (!raw.includes('\\/')) return
    for (const { 0: sequence, index } of raw.matchAll(/\\./gs)) {
      if (sequence !== '\\/') continue
      const at = start + index
      this.#reporter.report(syntax, this.#span(at, at + 2), {
        message: '`\\/` is no escape sequence',
        hint: 'write `/`',
      })
      this.#failed = true
    }
  }

  /** The place of a node's tag, which stands before it. */
  #tagSpan(node: Node): Span {
    const start = node.range?.[0] ?? 0
    const tag = node.tag ?? ''
    const at = this.#file.text.lastIndexOf(tag, start)
    return at >= 0 && start - at < 200 ? this.#span(at, at + tag.length) : this.#spanOf(node)
  }
}

/** Thrown inside this module only, to leave a document whose walk must not go on. */
class Unreadable extends Error {}

const STYLES: Readonly<Record<string, NonNullable<ScalarTree['style']>>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
}
/** What the tags of YAML itself make of a text. */
const TYPES_OF_TAGS: Readonly<Record<string, readonly ScalarType[]>> = {
  '!!int': ['int'],
  '!!float': ['int', 'float'],
  '!!bool': ['bool'],
  '!!null': ['null'],
  '!!timestamp': ['date'],
}

const nullTree = (span: Span): ScalarTree => ({ kind: 'scalar', span, type: 'null', value: null, style: 'plain' })
const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '')
