/** A command line whose words a shell takes as they are meant; what is undefined is left out. */
export const commandLine = (...words: readonly (string | undefined)[]): string =>
  words.flatMap(word => (word === undefined ? [] : [quoted(word)])).join(' ')

/** Names of options, paths and addresses stand as they are; everything else in quotes. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
