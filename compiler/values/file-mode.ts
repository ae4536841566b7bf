import { failed, type Parsed, parsed } from './parsed.ts'

const HINT = 'write the mode in octal: `0440`'

/**
 * Reads a file mode. A text is octal with or without a leading zero (`"0440"`, `"440"`); a number of YAML is itself, so
 * that `0440` is octal and `440` is the decimal number 440, which is octal 670.
 */
export function parseFileMode(value: string | number | bigint): Parsed<number> {
  if (typeof value === 'string' && !/^\+?[0-7]+$/.test(value)) return failed('it is no file mode', HINT)
  const mode = typeof value === 'string' ? Number.parseInt(value, 8) : Number(value)
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) return failed('it is no file mode', HINT)
  return parsed(mode)
}

/** The octal text of a file mode, as Compose prints it: `0440`. */
export const formatFileMode = (mode: number): string => `0${mode.toString(8)}`
