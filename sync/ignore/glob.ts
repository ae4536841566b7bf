/** Token of a pattern. `open`, `or` and `close` are `{`, `,` and `}`. */
export type GlobToken =
  | { readonly kind: 'literal'; readonly code: number }
  | { readonly kind: 'class'; readonly class: CharacterClass }
  | { readonly kind: 'single' | 'star' | 'globstar' | 'open' | 'or' | 'close' }

/** Character class such as `[a-z]` or `[!abc]`: ranges of code points. */
export interface CharacterClass {
  readonly not: boolean
  readonly ranges: readonly (readonly [low: number, high: number])[]
}

/**
 * Splits a pattern into tokens as Syncthing does, or returns the problem with it. `*` and `?` do not match a `/`, `**`
 * does. `escapeCharacter` makes the next character a literal.
 *
 * https://docs.syncthing.net/users/ignoring.html
 */
export function parseGlob(text: string, escapeCharacter: string): readonly GlobToken[] | string {
  const characters = [...text]
  const tokens: GlobToken[] = []
  let depth = 0
  let at = 0
  while (at < characters.length) {
    const character = characters[at++]!
    if (character === escapeCharacter) {
      // An escape character at the end is ignored, as in Syncthing.
      const escaped = characters[at++]
      if (escaped !== undefined) tokens.push(literal(escaped))
    } else if (character === '[') {
      const found = parseClass(characters, at, escapeCharacter)
      if (typeof found === 'string') return found
      tokens.push({ kind: 'class', class: found.class })
      at = found.end
    } else if (character === '*' && characters[at] === '*') {
      at++
      tokens.push({ kind: 'globstar' })
    } else {
      const kind = kindOf(character, depth)
      if (kind === 'open') depth++
      if (kind === 'close') depth--
      tokens.push(kind === undefined ? literal(character) : { kind })
    }
  }
  return depth === 0 ? tokens : '`{` is not closed; to match a brace, write `\\{`'
}

const literal = (character: string): GlobToken => ({ kind: 'literal', code: character.codePointAt(0)! })

function kindOf(character: string, depth: number): 'single' | 'star' | 'open' | 'or' | 'close' | undefined {
  switch (character) {
    case '?':
      return 'single'
    case '*':
      return 'star'
    case '{':
      return 'open'
    case ',':
      return depth > 0 ? 'or' : undefined
    case '}':
      return depth > 0 ? 'close' : undefined
    default:
      return undefined
  }
}

/**
 * Parses a class from the character after its `[`. Syncthing allows either one range, or a list of characters in which
 * `-` is a literal, and refuses `[a-z0-9]`. Here, a class that begins with a range may contain more.
 */
function parseClass(
  characters: readonly string[],
  start: number,
  escapeCharacter: string,
): { readonly class: CharacterClass; readonly end: number } | string {
  let at = start
  const not = characters[at] === '!'
  if (not) at++
  const ofRanges = characters[at] !== ']' && characters[at + 1] === '-'
  const ranges: [number, number][] = []
  while (at < characters.length && characters[at] !== ']') {
    const isRange = ofRanges && characters[at + 1] === '-'
    if (!isRange && characters[at] === escapeCharacter) at++
    const low = characters[at]?.codePointAt(0)
    const high = isRange ? characters[at + 2]?.codePointAt(0) : low
    if (low === undefined || high === undefined) break
    if (high < low) return `the range \`${characters.slice(at, at + 3).join('')}\` is in the wrong order`
    ranges.push([low, high])
    at += isRange ? 3 : 1
  }
  if (characters[at] !== ']') return '`[` is not closed; to match a bracket, write `\\[`'
  if (ranges.length === 0) return '`[]` has no characters'
  return { class: { not, ranges }, end: at + 1 }
}
