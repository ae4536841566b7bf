import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Context } from '../command.ts'

/** The words of a command about a development container: its name, and the command for the container. */
export interface DevelopWords {
  readonly dev: string | undefined
  /** Empty where none is given. */
  readonly command: readonly string[]
}

/** Splits `[devName] -- COMMAND`. Throws a UsageError for a second word before `--`. */
export function splitWords(
  words: readonly string[],
  { passed = [] }: Pick<Context, 'passed'>,
  name: 'up' | 'exec',
): DevelopWords {
  const [dev, ...others] = words.slice(0, words.length - passed.length)
  if (others.length > 0)
    throw new UsageError(`\`${others[0]}\` is one word too many`, {
      hint: `put the command behind two dashes: \`devctl ${name} ${dev} -- ${others.join(' ')}\``,
    })
  return { dev, command: passed }
}
