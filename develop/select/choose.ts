import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { LeftError, UserError } from '../../compiler/diagnostics/user-error.ts'

/** Asks the user to choose one of several development containers. Returns undefined if the user cancels. */
export type ChooseDev = (names: readonly string[]) => Promise<string | undefined>

/**
 * Returns the development container for a command: the one with the given name, the only one, or the one that the user
 * chooses. Throws a UserError with suggestions if the given name does not exist, or if there are several names and the
 * user cannot be asked. Throws a LeftError if the user chooses none. `names` must not be empty.
 */
export async function chooseDev(
  names: readonly string[],
  wanted: string | undefined,
  choose: ChooseDev | undefined,
): Promise<string> {
  const [first] = names
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted
    throw new UserError(`development container \`${wanted}\` does not exist`, {
      hint: didYouMean(wanted, names) ?? `the development containers are ${listed(names)}`,
    })
  }
  if (names.length === 1) return first!
  const chosen = await choose?.(names)
  if (chosen !== undefined) return chosen
  if (choose) throw new LeftError('no development container was chosen')
  throw new UserError(`there are ${names.length} development containers: ${listed(names)}`, {
    hint: `name one of them, such as \`${first}\``,
  })
}

/** Joins names in backticks with commas, for a message. */
export const listed = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ')
