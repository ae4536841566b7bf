/**
 * Returns the regular expression that means in JavaScript what a pattern means in Go, the language of SOPS
 * (https://pkg.go.dev/regexp/syntax). Reads the syntax that both languages share, and flags at the beginning (`(?i)`).
 * Throws a SyntaxError for everything else, such as `[[:alpha:]]`, `\A` and `\pL`: without the flag `u`, JavaScript
 * would accept these and match other texts.
 */
export function goPattern(pattern: string): RegExp {
  const [, flags = '', body = ''] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(pattern)!
  return new RegExp(body.replace(/\\([\s\S])/g, escaped), `${flags}u`)
}

/** Writes escaped punctuation as `\x2d`: Go allows `\` before any of it, JavaScript with the flag `u` before some. */
const escaped = (all: string, character: string): string =>
  /[!-/:-@[-`{-~]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : all
