/** Returns a command line whose arguments are quoted for a shell. Skips undefined arguments. */
export const commandLine = (...words: readonly (string | undefined)[]): string =>
  words.flatMap(word => (word === undefined ? [] : [quoted(word)])).join(' ')

/** Quotes an argument, unless it only has characters that are common in options, paths and URLs. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
