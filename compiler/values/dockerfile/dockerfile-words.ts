/**
 * Variables and their values. The value is undefined if the file does not set the variable, in which case the base
 * image may set it.
 */
export type Variables = Pick<ReadonlyMap<string, string>, 'get'>

/** Splits a text at blanks that are neither quoted nor escaped. Keeps quotes and escapes. */
export function dockerfileWords(text: string, escapeChar: string): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === escapeChar && quote !== "'" && at + 1 < text.length) {
      word += char + text[++at]!
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else {
      if (quote === char) quote = ''
      else if (quote === '' && (char === '"' || char === "'")) quote = char
      word += char
    }
  }
  return word === '' ? words : [...words, word]
}

/**
 * Removes quotes and escapes from a text and expands its variables. Returns undefined if the text uses an unknown
 * variable or an operator other than `-`, `+` and `?`, or if it expands without limit.
 * (https://docs.docker.com/reference/dockerfile/#environment-replacement)
 */
export function expandWord(text: string, variables: Variables, escapeChar: string, depth = 0): string | undefined {
  let value = ''
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    const next = text[at + 1]
    if (quote === "'") {
      if (char === "'") quote = ''
      else value += char
    } else if (char === escapeChar && next !== undefined) {
      // The escape character is literal in double quotes unless a quote, a dollar sign or another escape character
      // follows.
      value += quote === '"' && !['"', '$', escapeChar].includes(next) ? char + next : next
      at++
    } else if (char === quote) {
      quote = ''
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char
    } else if (char === '$') {
      const expression = expandVariable(text, at, variables, escapeChar, depth)
      if (!expression) return undefined
      value += expression.value
      at = expression.end - 1
    } else {
      value += char
    }
    if (value.length > MOST_LENGTH) return undefined
  }
  return value
}

const PLAIN = /\$([A-Za-z_][A-Za-z0-9_]*)/y
const BRACED = /\$\{([A-Za-z_][A-Za-z0-9_]*)(:?[-+?]|\})/y
/**
 * Maximum nesting depth of defaults, more than any real file has; a limit keeps hostile input from exhausting the
 * stack.
 */
const MAX_DEPTH = 20
/**
 * Maximum length of an expanded text in characters. Variables that refer to each other twice double in length with
 * every line.
 */
const MOST_LENGTH = 1 << 16

function expandVariable(
  text: string,
  at: number,
  variables: Variables,
  escapeChar: string,
  depth: number,
): { value: string; end: number } | undefined {
  PLAIN.lastIndex = at
  const plain = PLAIN.exec(text)
  if (plain) return known(variables.get(plain[1]!), PLAIN.lastIndex)
  BRACED.lastIndex = at
  const braced = BRACED.exec(text)
  if (!braced) return text[at + 1] === '{' ? undefined : { value: '$', end: at + 1 }
  const [, name = '', operator = ''] = braced
  const value = variables.get(name)
  const start = BRACED.lastIndex
  if (operator === '}') return known(value, start)
  const end = closing(text, start, escapeChar)
  if (end < 0 || depth >= MAX_DEPTH) return undefined
  const isSet = value !== undefined && (operator.length === 1 || value !== '')
  const word = () => known(expandWord(text.slice(start, end), variables, escapeChar, depth + 1), end + 1)
  if (operator.endsWith('+')) return isSet ? word() : { value: '', end: end + 1 }
  if (isSet) return { value, end: end + 1 }
  return operator.endsWith('-') ? word() : undefined
}

const known = (value: string | undefined, end: number) => (value === undefined ? undefined : { value, end })

/** Returns the offset of the brace that closes an expression, or -1. */
function closing(text: string, from: number, escapeChar: string): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    if (text[at] === escapeChar) at++
    else if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return -1
}
