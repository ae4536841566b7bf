import { UsageError } from '../../compiler/diagnostics/user-error.ts'

/**
 * The regular expression that a user gives for names of services. It is found anywhere in a name,
 * so that a beginning of names is one, too. Go's `(?i)` in front ignores case. Throws a UsageError,
 * which names `where` it was given, for what is none.
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
