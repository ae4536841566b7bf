/**
 * Formats the members of a cycle for a message, with the first member repeated at the end: `` `a` → `b` → `a` ``. Omits
 * the middle of a long cycle.
 */
export function circle(names: readonly string[]): string {
  const words = names.map(name => `\`${name}\``)
  const shown = words.length <= 12 ? words : [...words.slice(0, 5), `… ${words.length - 10} more …`, ...words.slice(-5)]
  return shown.join(' → ')
}
