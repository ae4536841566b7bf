/** Formats a duration in milliseconds as an age such as `3 hours ago`. */
export function agoText(milliseconds: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const
  for (const [unit, length] of units) {
    const number = Math.floor(milliseconds / length)
    if (number >= 1) return `${number} ${unit}${number === 1 ? '' : 's'} ago`
  }
  return 'just now'
}
