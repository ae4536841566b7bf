/**
 * Returns the arguments of `up` for the background process: without `--detach`; without the values of `--env`, which
 * are passed separately; and with the names that the user chose at the terminal. Arguments for the container, after
 * `--`, are unchanged.
 */
export function wordsInBackground(words: readonly string[], names: readonly string[]): readonly string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const kept: string[] = []
  for (let at = 0; at < end; at++) {
    const word = words[at]!
    if (word === '--env') at++
    else if (word === '--command') kept.push(word, words[++at]!)
    else if (word !== '--detach' && !word.startsWith('--env=')) kept.push(word)
  }
  return [...kept, ...names, ...words.slice(end)]
}
