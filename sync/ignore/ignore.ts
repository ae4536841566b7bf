import { posix } from 'node:path'
import { parseGlob } from './glob.ts'
import { PatternGraph } from './graph.ts'
import { PatternMatcher } from './matcher.ts'

/**
 * Rules that decide which paths of a folder are not synchronized. Paths are relative to the folder, with `/` as
 * separator but not at the start or end.
 */
export interface IgnoreRules {
  ignores(path: string, isFolder: boolean): boolean
  /** Returns true if an ignored folder may contain included paths, so that it must be read. */
  mayHoldIncluded(folder: string): boolean
  /** Returns true if an ignored path is deleted together with its folder: `(?d)`. */
  deletable(path: string): boolean
}

export interface IgnoreProblem {
  readonly line: number
  readonly message: string
  /** Included file that contains the line, relative to the folder; undefined for the ignore file itself. */
  readonly file?: string
}

export interface ParsedIgnores {
  readonly rules: IgnoreRules
  /** Problems with lines that are not valid patterns. Such lines have no effect. */
  readonly problems: readonly IgnoreProblem[]
}

/**
 * Function that returns the text of an included file, or the reason why it is not read; undefined if the file does not
 * exist.
 */
export type Include = (name: string) => string | { readonly problem: string } | undefined

export interface IgnoreOptions {
  /** True if all patterns ignore case, as on macOS and Windows. */
  readonly foldCase?: boolean
  /** Character that escapes the character after it. */
  readonly escapeCharacter?: string
}

interface Rule {
  readonly index: number
  readonly includes: boolean
  readonly foldsCase: boolean
  readonly deletable: boolean
}

/**
 * Parses an ignore file in Syncthing's syntax; the first matching pattern decides. `include` returns the text of a file
 * named by `#include`, relative to the folder, or the reason why it is not read. Syncthing's own files (`.stignore`,
 * `.stfolder`, `.stversions`, `.syncthing.*.tmp`) are always ignored, as in Syncthing.
 *
 * https://docs.syncthing.net/users/ignoring.html
 */
export function parseIgnores(
  text: string,
  include: Include,
  { foldCase = false, escapeCharacter = '\\' }: IgnoreOptions = {},
): ParsedIgnores {
  const reader = new IgnoreReader(include, foldCase, escapeCharacter)
  for (const pattern of OWN_FILES) reader.addPattern(pattern)
  reader.read(text, undefined)
  return { rules: reader.rules(), problems: reader.problems }
}

const OWN_FILES = ['/.stignore', '/.stfolder', '/.stversions', '.syncthing.*.tmp', '~syncthing~*.tmp']

class IgnoreReader {
  readonly problems: IgnoreProblem[] = []
  readonly #rules: Rule[] = []
  readonly #exact = new PatternGraph()
  readonly #folded = new PatternGraph()
  readonly #lines = new Set<string>()
  readonly #files = new Set<string>()
  readonly #include: Include
  readonly #foldCase: boolean
  #escape: string

  constructor(include: Include, foldCase: boolean, escapeCharacter: string) {
    this.#include = include
    this.#foldCase = foldCase
    this.#escape = escapeCharacter
  }

  rules(): IgnoreRules {
    return createRules(this.#rules, new PatternMatcher(this.#exact), new PatternMatcher(this.#folded))
  }

  read(text: string, file: string | undefined): void {
    let mayHaveEscape = file === undefined
    text.split('\n').forEach((raw, at) => {
      const line = raw.trim()
      if (line === '' || line.startsWith('//') || this.#lines.has(line)) return
      this.#lines.add(line)
      const problem = line.startsWith('#escape')
        ? this.#readEscape(line, mayHaveEscape)
        : line.startsWith('#include')
          ? this.#readInclude(line, file)
          : this.addPattern(line)
      mayHaveEscape = false
      if (problem !== undefined) this.problems.push({ line: at + 1, message: problem, ...(file && { file }) })
    })
  }

  /**
   * Parses a line such as `#escape=|`, which must precede all patterns and replaces the escape character `\`. On
   * Windows, `\` separates folders. Returns the problem if the line is invalid.
   */
  #readEscape(line: string, isAllowed: boolean): string | undefined {
    const [, character] = /^#escape\s*=\s*(\S)$/u.exec(line) ?? []
    if (character === undefined) return 'write the escape character after `#escape=`, such as `#escape=|`'
    if (!isAllowed) return '`#escape` must come before all patterns'
    this.#escape = character
    return undefined
  }

  #readInclude(line: string, from: string | undefined): string | undefined {
    const name = /^#include\s(.*)$/u.exec(line)?.[1]?.trim()
    if (!name) return 'write the name of a file after `#include`'
    if (/^([/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes('..'))
      return `\`${name}\` leads out of the folder`
    const file = posix.join(posix.dirname(from ?? ''), name)
    if (this.#files.has(file)) return `\`${file}\` is included more than once`
    this.#files.add(file)
    const text = this.#include(file)
    if (text === undefined) return `the included file \`${file}\` does not exist`
    if (typeof text !== 'string') return `\`${file}\` ${text.problem}`
    this.read(text, file)
    return undefined
  }

  /** Adds the pattern of a line. Returns a problem if the line is invalid. */
  addPattern(line: string): string | undefined {
    const { flags, pattern } = readPrefixes(line)
    if (pattern === '') return `\`${line}\` has no pattern`
    const foldsCase = this.#foldCase || flags.has('(?i)')
    const rule = {
      index: this.#rules.length,
      includes: flags.has('!'),
      foldsCase,
      deletable: flags.has('(?d)'),
    }
    const graph = foldsCase ? this.#folded : this.#exact
    const isRooted = pattern.startsWith('/')
    const body = isRooted ? pattern.slice(1) : pattern.replace(/^\*\*\//, '')
    for (const variant of variants(foldsCase ? lowerCase(body) : body)) {
      const tokens = parseGlob(normalize(variant), this.#escape)
      if (typeof tokens === 'string') return tokens
      graph.add(isRooted ? graph.rooted : graph.floating, tokens, rule)
    }
    this.#rules.push(rule)
    return undefined
  }
}

/**
 * Returns the patterns that a line stands for: `foo` matches the path and everything below it, `foo/` matches only what
 * is below it.
 */
function variants(body: string): readonly string[] {
  if (body === '' || body.endsWith('/')) return [`${body}**`]
  return body === '**' || body.endsWith('/**') ? [body] : [body, `${body}/**`]
}

/** Separates the prefixes of a line from its pattern. Prefixes may come in any order, each at most once. */
function readPrefixes(line: string): { readonly flags: ReadonlySet<string>; readonly pattern: string } {
  const flags = new Set<string>()
  let pattern = line
  for (;;) {
    const prefix = ['!', '(?i)', '(?d)'].find(one => pattern.startsWith(one) && !flags.has(one))
    if (prefix === undefined) return { flags, pattern }
    flags.add(prefix)
    pattern = pattern.slice(prefix.length)
  }
}

function createRules(rules: readonly Rule[], exact: PatternMatcher, folded: PatternMatcher): IgnoreRules {
  const hasFolded = rules.some(({ foldsCase }) => foldsCase)
  const first = (path: string): Rule | undefined => {
    const normal = normalize(path)
    const one = exact.match(normal) ?? Infinity
    const other = hasFolded ? (folded.match(lowerCase(normal)) ?? Infinity) : Infinity
    return rules[Math.min(one, other)]
  }
  const ignores = (path: string) => first(path)?.includes === false
  return {
    ignores,
    mayHoldIncluded: folder => {
      const normal = normalize(folder)
      const all = [exact.below(normal), ...(hasFolded ? [folded.below(lowerCase(normal))] : [])]
      const settled = Math.min(...all.map(one => one.settled ?? Infinity))
      const including = Math.min(...all.map(one => one.including ?? Infinity))
      return including < settled || rules[settled]?.includes !== false
    },
    deletable: path => ignores(path) && first(path)!.deletable,
  }
}

/** Normalizes accented letters to one form: macOS stores them as two characters. */
const normalize = (text: string): string => (/[^\0-\x7f]/.test(text) ? text.normalize('NFC') : text)

/** Converts to lowercase character by character and keeps the number of characters, because `?` matches exactly one. */
const lowerCase = (text: string): string =>
  /[^\0-\x7f]/.test(text) ? [...text].map(one => [...one.toLowerCase()][0]).join('') : text.toLowerCase()
