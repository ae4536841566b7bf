/** Quotes an argument so that a POSIX shell reads it back unchanged. Adds no quotes if none are needed. */
export function quote(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
