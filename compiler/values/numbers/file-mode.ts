import { failed, type Parsed, parsed } from '../parsed.ts'

const HINT = 'write the mode in octal: `0440`'

/**
 * Parses a file mode. A text is octal with or without a leading zero (`"0440"`, `"440"`). A YAML number is used
 * unchanged: YAML itself reads `0440` as octal, but `440` as the decimal number 440, which is octal 670.
 */
export function parseFileMode(value: string | number | bigint): Parsed<number> {
  if (typeof value === 'string' && !/^\+?[0-7]+$/.test(value)) return failed('it is not a valid file mode', HINT)
  const mode = typeof value === 'string' ? Number.parseInt(value, 8) : Number(value)
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) return failed('it is not a valid file mode', HINT)
  return parsed(mode)
}

/**
 * Returns the octal mode that was probably meant by a plain number such as `644`, which YAML reads as octal 1204.
 * Returns undefined for a text other than three or four octal digits without a leading zero. Also returns undefined for
 * a number that is small enough for a decimal mode and unusual as an octal mode: the owner may not read, the group has
 * a permission that the owner lacks, or others have one that the group lacks.
 */
export function octalDigits(written: string): number | undefined {
  if (!/^[1-7][0-7]{2,3}$/.test(written)) return undefined
  const mode = Number.parseInt(written, 8)
  const [owner, group, others] = [(mode >> 6) & 7, (mode >> 3) & 7, mode & 7]
  const isOrdered = (owner & 4) !== 0 && (group & ~owner) === 0 && (others & ~group) === 0
  return isOrdered || Number(written) > 0o777 ? mode : undefined
}

/** Formats a file mode in octal, as Compose prints it: `0440`. */
export const formatFileMode = (mode: number): string => `0${mode.toString(8)}`
