const STEPS = [
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
] as const

/**
 * Formats a time relative to another, such as `3 min ago` or `in 2 h`, in the largest whole unit. Formats it as a date
 * if the difference is more than 45 days.
 */
export function relativeTime(time: number, from: number): string {
  const distance = Math.abs(from - time)
  if (distance < 60_000) return time <= from ? 'just now' : 'in a moment'
  if (distance > 45 * 86_400_000)
    return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
  const [unit, size] = STEPS.findLast(([, one]) => distance >= one) ?? STEPS[0]
  const text = `${Math.floor(distance / size)} ${unit}`
  return time <= from ? `${text} ago` : `in ${text}`
}

/** Formats a duration, such as `12 s`, `3 min 4 s` or `2 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
