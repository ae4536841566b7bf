import { UsageError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Parses a regular expression for service names. It may match any part of a name, so a prefix of a name matches, too.
 * Go's `(?i)` at the start ignores case. Throws a UsageError that names the option or field `where` if the expression
 * is invalid.
 */
export function parsePattern(text: string, where: string): RegExp {
  const isInsensitive = text.startsWith('(?i)')
  try {
    return new RegExp(isInsensitive ? text.slice(4) : text, isInsensitive ? 'i' : '')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^.*\/i?: /, '') : ''
    throw new UsageError(`${where} is \`${text}\`, which is not a valid regular expression: ${reason.toLowerCase()}`, {
      hint: 'write `\\` before a character that stands for itself, such as `\\.` or `\\[`',
      cause,
    })
  }
}
