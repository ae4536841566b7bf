/**
 * The command line of `up` for the process in the background: without `--detach`, without the values
 * of `--env`, which it is given in another way, and with the names that were chosen on a terminal.
 * What is for the container, after `--`, stays as it is.
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
