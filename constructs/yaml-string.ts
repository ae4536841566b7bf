/**
 * Prints a key: plain if that is safe, otherwise in double quotes. Keys of more than 1,000 characters are not
 * supported, because parsers do not have to accept them.
 */
export function printKey(key: string): string {
  return isPlain(key) ? key : doubleQuoted(key)
}

/**
 * Prints text as the value of a key or list item, in a map or list indented by `indent`: plain, as a literal block, or
 * in double quotes. At the top level (`indent` undefined) there are no blocks.
 */
export function printString(text: string, indent: string | undefined): string {
  if (isPlain(text)) return text
  return indent !== undefined && isBlock(text) ? literalBlock(text, `${indent}  `) : doubleQuoted(text)
}

/**
 * Matches texts that some parsers do not read as text: booleans and nulls in any case, numbers in all notations of YAML
 * 1.1 and Go (underscores, octal, hexadecimal, binary, sexagesimal; addresses such as 10.0.0.1, which the YAML 1.1
 * specification defines as floats; a bare exponent such as E0), dates, and the keywords for merge and default.
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

/** Matches the start of a text that cannot be plain. `-`, `?` and `:` match only before a space or at the end. */
const indicator = /^[,[\]{}#&*!|>'"%@`]|^[-?:](?: |$)|^(?:---|\.\.\.)(?: |$)/

/**
 * Matches text that ends a plain scalar or cannot be part of it: the start of a comment, the colon of a key, and spaces
 * at either end.
 */
const interruption = /: |:$| #|^ | $/

/**
 * Matches control characters, separators that YAML 1.1 reads as line breaks, bidirectional controls, byte order marks,
 * non-characters and lone surrogates.
 */
const unprintable = /[\p{Cc}\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF\p{Cs}]/u
const unprintableInBlock = /[^\P{Cc}\t\n]|[\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF\p{Cs}]/u

/**
 * Matches texts that start with a letter or a slash and contain no special characters, but do not start like an
 * exponent (`E0`). Most texts in manifests match. A matching text can be plain, unless it is a short keyword such as
 * `null`.
 */
const harmless = /^(?!e\d)[a-z/][\w./-]*$/i

function isPlain(text: string): boolean {
  if (harmless.test(text)) return text.length > 5 || !special.test(text)
  return (
    text !== '' && !indicator.test(text) && !interruption.test(text) && !special.test(text) && !unprintable.test(text)
  )
}

/**
 * True if a text has several lines and a literal block can represent it. Excludes a last line that contains only
 * blanks, because parsers disagree about it.
 */
function isBlock(text: string): boolean {
  return text.includes('\n') && /\S/.test(text) && !/(?:^|\n)[ \t]+\n*$/.test(text) && !unprintableInBlock.test(text)
}

/**
 * Prints a literal block. If the first line starts with blanks or is empty, a number in the header states the
 * indentation. `-` in the header means that the text does not end in a line feed, `+` that it ends in more than one.
 */
function literalBlock(text: string, indent: string): string {
  const indentation = /^[ \t\n]/.test(text) ? '2' : ''
  const chomping = text.endsWith('\n') ? (text.endsWith('\n\n') ? '+' : '') : '-'
  const body = (text.endsWith('\n') ? text.slice(0, -1) : text).replace(/^(?=[^\n])/gm, indent)
  return `|${indentation}${chomping}\n${body}`
}

/**
 * Prints text in double quotes. JSON's escapes are also valid in YAML, where a few more characters have to be escaped.
 */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
