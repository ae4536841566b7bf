/**
 * The members of a cycle as a message shows them, the first one again at the end: `` `a` → `b` →
 * `a` ``. Of a long one the middle is left out.
 */
export function circle(names: readonly string[]): string {
  const words = names.map(name => `\`${name}\``)
  const shown = words.length <= 12 ? words : [...words.slice(0, 5), `… ${words.length - 10} more …`, ...words.slice(-5)]
  return shown.join(' → ')
}
