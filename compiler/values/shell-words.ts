/** A word as a POSIX shell reads it back unchanged, whatever it holds. Words that need no quotes get none. */
export function quote(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
