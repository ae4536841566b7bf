const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Formats a number of bytes: `512 B`, `12.3 MB`. */
export function readableBytes(bytes: number): string {
  const power = Math.min(UNITS.length, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power - 1]}`
}
