/**
 * An error that prevents reading a file, worded for the author of the file. `start` and `end` are offsets into the
 * text.
 */
export class YamlMistake {
  readonly message: string
  readonly start: number
  readonly end: number
  readonly hint: string | undefined

  constructor(message: string, start: number, end: number = start + 1, hint?: string) {
    this.message = message
    this.start = start
    this.end = end
    this.hint = hint
  }
}

/** A document whose nesting exceeds the maximum depth. */
export class TooDeep extends YamlMistake {}

interface Words {
  readonly message: string
  readonly hint?: string
}

const INDENT: Words = { message: 'the indentation does not match the lines around it' }
const TAB: Words = { message: 'a tab cannot be used for indentation', hint: 'indent with spaces' }
const MISPLACED: Words = { message: 'unexpected content' }
const COLON: Words = {
  message: 'a value cannot have a mapping on the same line',
  hint: 'put quotes around text that contains `: `',
}
const KEY: Words = { message: 'a key must be on one line', hint: 'check for a missing colon or quote' }
const TAG: Words = { message: 'invalid tag', hint: 'quote text that begins with `!`' }
const ALIAS: Words = { message: 'invalid alias', hint: 'quote text that begins with `*`' }
const ANCHOR: Words = { message: 'invalid anchor', hint: 'quote text that begins with `&`' }
const HEADER: Words = { message: MISPLACED.message, hint: 'the text of a block begins on the next line' }
const DIRECTIVE: Words = { message: 'unknown YAML directive', hint: 'remove the line' }

/** Replacements for the js-yaml messages that need no context. */
const WORDS: readonly (readonly [reason: RegExp, words: Words])[] = [
  [/^tab characters/, TAB],
  [/^deficient indentation/, INDENT],
  [/^expected the node content/, { message: 'a value is missing before this comma' }],
  [/within a \w+ quoted scalar/, { message: 'a closing quote is missing before this' }],
  [/^duplication of a tag/, { message: 'a value can have only one tag' }],
  [/^duplication of an anchor/, { message: 'a value can have only one anchor' }],
  [/^alias node should not/, { message: 'an alias cannot have an anchor or a tag' }],
  [/^name of an alias/, ALIAS],
  [/^name of an anchor/, ANCHOR],
  [/tag handle "|^tag |^verbatim|named tag|verbatim tag/, TAG],
  [/chomping mode|indentation width|^a line break is expected/, HEADER],
  [/directive|directives/i, DIRECTIVE],
  [/^a whitespace character is expected after/, { message: 'a space is missing after this colon' }],
  [/multiline key|^expected ':'/, KEY],
]

/** Returns the error for a js-yaml message (`reason`) about an offset in a text. */
export function mistakeOf(reason: string, text: string, at: number): YamlMistake {
  if (reason.startsWith('nesting exceeded')) return new TooDeep('', at)
  if (/end of the stream within a (?:single|double) quoted/.test(reason))
    return say(
      { message: 'the closing quote is missing' },
      openQuote(text, reason.includes('single') ? "'" : '"') ?? at,
    )
  if (/end of the stream within a flow/.test(reason)) {
    const opening = openBracket(text) ?? at
    return say({ message: `the closing \`${text[opening] === '{' ? '}' : ']'}\` is missing` }, opening)
  }
  if (/escape sequence|hexadecimal/.test(reason)) {
    const start = Math.max(0, text.lastIndexOf('\\', at))
    const hint = 'double the backslash, or use single quotes'
    return new YamlMistake('this is no escape sequence of YAML', start, Math.max(at + 1, start + 2), hint)
  }
  const control = /non-printable|JSON character/.test(reason) ? text.charCodeAt(at) : undefined
  if (control !== undefined) return controlCharacter(control, at)
  if (reason.startsWith('missed comma')) {
    const start = text[at] === ':' ? wordBefore(text, at) : at
    return say({ message: 'a comma or a closing bracket is missing before this' }, start, Math.max(at, start + 1))
  }
  const words = WORDS.find(([pattern]) => pattern.test(reason))?.[1]
  if (words === TAG) return say(TAG, tagStart(text, at), at)
  if (words && words !== KEY) return say(words, at)
  return misplaced(text, at, words)
}

/** Returns the error for a character that YAML does not allow anywhere. */
export function controlCharacter(code: number, at: number): YamlMistake {
  const name = code.toString(16).toUpperCase().padStart(4, '0')
  return new YamlMistake(`the control character U+${name} is not allowed in YAML`, at, at + 1, 'is this a text file?')
}

/** Returns the error for a tab in a position where only spaces are allowed. */
export const misplacedTabAt = (at: number): YamlMistake => say(TAB, at)

const say = ({ message, hint }: Words, at: number, end = at + 1) => new YamlMistake(message, at, end, hint)

/** Returns the error for content in a position where it is not allowed. The message depends on the content. */
function misplaced(text: string, at: number, words: Words = MISPLACED): YamlMistake {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const before = text.slice(lineStart, at)
  if (/^ *\t/.test(before) || (before.trim() === '' && text[at] === '\t'))
    return say(TAB, text.indexOf('\t', lineStart))
  const rest = text.slice(at, lineEnd(text, at))
  if (/^[@`%]/.test(rest))
    return say({ message: 'text cannot begin with this character', hint: 'put quotes around it' }, at)
  if (/^:(?:\s|$)/.test(rest)) {
    if (/:\s/.test(before)) return say(COLON, at)
    const start = wordBefore(text, at)
    return start < at
      ? (colonAbove(text, lineStart) ?? say(words === KEY ? KEY : INDENT, start, at))
      : say(MISPLACED, at)
  }
  if (/^-(?:\s|$)/.test(rest) && before.trim() !== '')
    return say(
      { message: 'a list cannot begin on this line', hint: 'begin it on the next line, or quote the dash' },
      at,
    )
  if (before.trim() === '') return say(words === KEY ? KEY : INDENT, at, at + Math.max(1, rest.trimEnd().length))
  if (/["']\s*$/.test(before))
    return say(
      { message: 'unexpected text after the closing quote', hint: 'put the quotes around the whole value' },
      at,
    )
  return say(words, at)
}

/** Returns the offset of the word that ends at an offset and is the only text before the offset in its line. */
function wordBefore(text: string, at: number): number {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return at - before.trimStart().length
}

/** Returns the start of the tag that contains the offset or ends at it. */
function tagStart(text: string, at: number): number {
  let start = at
  while (start > 0 && !/\s/.test(text[start - 1]!)) start--
  return start
}

/**
 * Returns the error for a key in the line above whose colon, or the space after the colon, is missing. YAML reads such
 * a key as text, together with the following lines. Returns undefined if the line has no such key.
 */
function colonAbove(text: string, lineStart: number): YamlMistake | undefined {
  const above = text.slice(0, lineStart).trimEnd()
  const start = above.lastIndexOf('\n') + 1
  const [, indent, key, colon] = /^((?: |- )*)([\w.-]+)(:?)(?! )(?:$|(?<=:).)/.exec(above.slice(start)) ?? []
  if (indent === undefined || key === undefined) return undefined
  const at = start + indent.length
  return colon === ''
    ? new YamlMistake(`a colon is missing behind \`${key}\``, at, at + key.length)
    : new YamlMistake('a space is missing after this colon', at + key.length)
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** Returns the offset of the unclosed quote, which is the last one that is not escaped. */
function openQuote(text: string, quote: string): number | undefined {
  for (let at = text.lastIndexOf(quote); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(quote, at - 1)) {
    let first = at
    const doubling = quote === '"' ? '\\' : quote
    while (first > 0 && text[first - 1] === doubling) first--
    if ((at - first) % 2 === 0) return quote === '"' ? at : first
    at = first
  }
  return undefined
}

/** Returns the offset of the unclosed bracket. It is a guess if texts in the file contain brackets. */
function openBracket(text: string): number | undefined {
  const open: number[] = []
  for (const { 0: token, index } of text.matchAll(
    /"(?:\\.|[^"\\])*"|'[^']*'|(?<=^|\s)#.*|(?<=[\s[{,:]|^)[[{]|[\]}]/gm,
  )) {
    if (token === '[' || token === '{') open.push(index)
    else if (token === ']' || token === '}') open.pop()
  }
  return open.at(-1)
}
