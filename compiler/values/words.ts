import { type Failed, failed, type Parsed, parsed } from './parsed.ts'

/**
 * Splits the text of a `command` or `entrypoint` into arguments like a shell, without running one. Single and double
 * quotes group, a backslash escapes the next character except inside single quotes, and `$(…)` and backquotes stay as
 * written. Variables, patterns and comments are not supported. Blank text has no arguments. A shell operator (`&&`,
 * `|`, `>` …) is an error; the reference loader silently drops the rest of the command at an operator. (Compose
 * Specification, services, command)
 */
export function splitWords(text: string): Parsed<string[]> {
  const split = splitWordsAt(text)
  return split.ok ? parsed(split.value.map(({ word }) => word)) : split
}

/** An argument, and the part of the text that it was written in, with its quotes. */
export interface SplitWord {
  readonly word: string
  /** Offset of the first character of the argument. `end` is the offset after its last character. */
  readonly start: number
  readonly end: number
}

/** Splits a text like `splitWords`, and returns where each argument was written. */
export function splitWordsAt(text: string): Parsed<SplitWord[]> {
  const words: SplitWord[] = []
  let word = ''
  let inWord = false
  let start = 0
  /**
   * The quote and the substitution that are open at the current position, each with the offset at which it was opened;
   * undefined if none is open.
   */
  let quote: { readonly char: string; readonly at: number } | undefined
  let substitution: { readonly char: '`' | '('; readonly at: number } | undefined

  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (!inWord && word === '') start = at
    if (char === '\\' && quote?.char !== "'") {
      if (at + 1 === text.length)
        return failed('it ends with a backslash', 'write `\\\\` for a backslash', [at, at + 1])
      word += text[++at]!
      inWord = true
    } else if (quote?.char === char) {
      quote = undefined
    } else if (quote) {
      word += char
    } else if ((char === '"' || char === "'") && substitution?.char !== '(') {
      quote = { char, at }
      inWord = true
    } else if (char === '`' && substitution?.char !== '(') {
      substitution = substitution ? undefined : { char, at }
      word += char
      inWord = true
    } else if ((char === '(' || char === ')') && substitution?.char !== '`') {
      const opens = char === '(' && !substitution && word.endsWith('$')
      const closes = char === ')' && substitution
      if (!opens && !closes) return operator(text, at, char)
      substitution = opens ? { char: '(', at } : undefined
      word += char
    } else if (substitution) {
      word += char
    } else if (BLANK.test(char)) {
      if (inWord) words.push({ word, start, end: at })
      word = ''
      inWord = false
    } else if (OPERATORS.test(char)) {
      return operator(text, at, operatorAt(text, at))
    } else {
      word += char
      inWord = true
    }
  }
  const open = quote ?? substitution
  if (open) return failed(`a ${OPENED[open.char]} is not closed`, undefined, [open.at, text.length])
  if (inWord) words.push({ word, start, end: text.length })
  return parsed(words)
}

const BLANK = /[ \t\r\n]/
const OPERATORS = /[;&|<>]/
const OPENED: Record<string, string> = {
  "'": 'single quote',
  '"': 'double quote',
  '`': 'backquote',
  '(': 'bracket',
}

/** Returns the complete operator at an offset: `&&`, `>>`, `>&1`. */
function operatorAt(text: string, at: number): string {
  return /^(>&[0-9]?|[;&|<>]+)/.exec(text.slice(at, at + 8))![0]
}

function operator(text: string, at: number, operator: string): Failed {
  const descriptor = operator.startsWith('>') ? /(?<=^|\s)[0-9]$/.exec(text.slice(Math.max(0, at - 2), at)) : null
  const start = at - (descriptor ? 1 : 0)
  return failed(
    `\`${text.slice(start, at)}${operator}\` needs a shell, and commands run without one`,
    'run a shell with `["sh", "-c", "…"]`, or put the character in quotes',
    [start, at + operator.length],
  )
}
