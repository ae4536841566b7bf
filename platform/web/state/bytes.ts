const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Formats bytes, such as `900 KiB` or `1.5 MiB`. */
export function bytes(number: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, number)) / 10))
  const value = number / 1024 ** step
  return `${value < 10 && step > 0 ? Math.round(value * 10) / 10 : Math.round(value)} ${UNITS[step]}`
}
