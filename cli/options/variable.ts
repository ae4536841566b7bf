import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Option } from './option.ts'

/**
 * `--var NAME=VALUE`, repeatable; the last value of a name wins. Messages do not show the values because they may be
 * secret.
 */
export const variables: Option<Readonly<Record<string, string>> | undefined> = {
  flags: '--var <name=value>',
  description: 'set a variable for the Compose file and the commands; may be repeated',
  isRepeatable: true,
  parse(value, previous) {
    const at = value.indexOf('=')
    const name = value.slice(0, at)
    if (at < 1 || !/^[A-Za-z_]\w*$/.test(name))
      throw new UsageError('`--var` is not a variable', { hint: 'write it as `NAME=VALUE`' })
    return { ...previous, [name]: value.slice(at + 1) }
  },
}
