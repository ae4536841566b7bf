import { quote } from '../../../compiler/values/shell-words.ts'

/** Returns a command line whose arguments are quoted for a shell. Skips undefined arguments. */
export const commandLine = (...words: readonly (string | undefined)[]): string =>
  words.flatMap(word => (word === undefined ? [] : [quote(word)])).join(' ')
