import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { quote } from '../../../compiler/values/shell-words.ts'
import type { Context } from '../../command.ts'

/** Arguments of a command about development containers: their names, and the command for the container. */
export interface DevelopWords {
  readonly devs: readonly string[]
  /** Command for the container; empty if none is given. */
  readonly command: readonly string[]
}

/** Splits `[devName...] -- COMMAND`. */
export function splitWords(words: readonly string[], { passed = [] }: Pick<Context, 'passed'>): DevelopWords {
  return { devs: words.slice(0, words.length - passed.length), command: passed }
}

/** Splits `[devName] -- COMMAND`. Throws a UsageError for a second argument before `--`. */
export function splitOne(
  words: readonly string[],
  context: Pick<Context, 'passed'>,
  name: string,
): { readonly dev: string | undefined; readonly command: readonly string[] } {
  const { devs, command } = splitWords(words, context)
  const [dev, ...others] = devs
  // The options of the command would be parsed as options of devctl if `--` were missing.
  if (others.length > 0)
    throw new UsageError(`\`${others[0]}\` is one word too many`, {
      hint: `put the command behind two dashes: ${linesBehind(name, dev!, others)}`,
    })
  return { dev, command }
}

/**
 * Returns the lines, in backticks, that run a command with `exec`, `up` or `run`. For `exec`, returns two lines: for a
 * development container, and for a deployed service.
 */
export function linesBehind(name: string, dev: string, command: readonly string[]): string {
  const words = shellLine(command)
  const line = `\`devctl ${name} ${dev} -- ${words}\``
  return name === 'exec' ? `${line}, or \`devctl exec --service ${dev} -- ${words}\` in a deployed service` : line
}

/** Returns the line that a shell splits into these words again. */
export const shellLine = (words: readonly string[]): string => words.map(quote).join(' ')
