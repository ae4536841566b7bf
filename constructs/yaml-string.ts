/**
 * A key: plain where it is safe, else in double quotes. Keys of more than 1,000 characters are
 * beyond what readers must take.
 */
export function printKey(key: string): string {
  return isPlain(key) ? key : doubleQuoted(key)
}

/**
 * Text as the value of a key or item in a map or list that is indented by `indent`: plain, a
 * literal block, or in double quotes. At the top level (`indent` undefined) there are no blocks.
 */
export function printString(text: string, indent: string | undefined): string {
  if (isPlain(text)) return text
  return indent !== undefined && isBlock(text) ? literalBlock(text, `${indent}  `) : doubleQuoted(text)
}

/**
 * Texts that some reader takes for something other than text: booleans and nulls in any case,
 * numbers in all notations of YAML 1.1 and Go (underscores, octal, hexadecimal, binary,
 * sexagesimal; addresses such as 10.0.0.1, which the letter of YAML 1.1 calls floats; a bare
 * exponent such as E0), dates, and the words for merge and default.
 */
const special = new RegExp(
  [
    '^(?:y|n|yes|no|on|off|true|false|null|~|=|<<)$',
    '^[-+]?(?:[.\\d][\\d_.,:]*(?:e[-+]?[\\d_]*)?|e[-+]?\\d[\\d_]*)$',
    '^[-+]?0[box][\\da-f_]*$',
    '^[-+]?\\.(?:inf|nan)$',
    '^\\d{4}-\\d{1,2}-\\d{1,2}(?:[t\\s]|$)',
  ].join('|'),
  'i',
)

/**
 * Characters that begin something else than plain text; `-`, `?` and `:` do so only before a space
 * or at the end.
 */
const indicator = /^[,[\]{}#&*!|>'"%@`]|^[-?:](?: |$)|^(?:---|\.\.\.)(?: |$)/

/**
 * Characters that end plain text, or cannot be part of it: a comment, the colon of a key, blanks at
 * either end, tabs, line breaks, unprintable characters.
 */
const interruption = /: |:$| #|^ | $/

/**
 * Control characters, separators that YAML 1.1 takes for line breaks, what shows text in another
 * order, byte order marks, non-characters and lone surrogates.
 */
const unprintable = /[\p{Cc}\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF\p{Cs}]/u
const unprintableInBlock = /[^\P{Cc}\t\n]|[\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF\p{Cs}]/u

/**
 * Most words of a manifest are these: no character that could mean anything, no digit or sign in
 * front, and no bare exponent (`E0`).
 */
const harmless = /^(?!e\d)[a-z/][\w./-]*$/i

function isPlain(text: string): boolean {
  if (harmless.test(text)) return text.length > 5 || !special.test(text)
  return (
    text !== '' && !indicator.test(text) && !interruption.test(text) && !special.test(text) && !unprintable.test(text)
  )
}

/**
 * True if text has lines that a block can show. A last line of blanks only is where readers differ.
 */
function isBlock(text: string): boolean {
  return text.includes('\n') && /\S/.test(text) && !/(?:^|\n)[ \t]+\n*$/.test(text) && !unprintableInBlock.test(text)
}

/**
 * A literal block. The number says how far it is indented where its first line could be mistaken
 * for that; `-` and `+` that it ends in no line feed, or in more than one.
 */
function literalBlock(text: string, indent: string): string {
  const indentation = /^[ \t\n]/.test(text) ? '2' : ''
  const chomping = text.endsWith('\n') ? (text.endsWith('\n\n') ? '+' : '') : '-'
  const body = (text.endsWith('\n') ? text.slice(0, -1) : text).replace(/^(?=[^\n])/gm, indent)
  return `|${indentation}${chomping}\n${body}`
}

/** JSON's escapes are YAML's; a few more characters need one in YAML. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
