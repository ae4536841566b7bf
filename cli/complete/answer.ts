import type { Command } from '../command.ts'
import type { Io } from '../terminal/io.ts'
import { completeLine } from './complete-line.ts'
import { listValues } from './kinds.ts'
import { replyToBash, replyToFish, replyToKubectl, replyToPowershell, replyToZsh } from './replies.ts'
import { splitLine } from './shell-words.ts'

/** Variable with the line of PowerShell up to the cursor; Windows PowerShell loses quotes in arguments. */
const LINE = 'DEVCTL_COMPLETE_LINE'

/**
 * Answers a completion script: `__complete SHELL …` with the arguments of `words` in each shell (scripts.ts). Prints the
 * kind of the completion, and a line for each candidate.
 */
export async function answer(
  [shell, ...words]: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<number> {
  const complete = (before: readonly string[], current: string) =>
    completeLine(commands, { before, current }, listValues(io))
  // `before` has the program, too, except where the script leaves it out.
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  const lines = await (async () => {
    switch (shell) {
      case 'bash': {
        const [line = '', replaced = '', type, columns] = words
        const split = splitLine(line, 'bash')
        const completion = await complete(split.before.slice(1), split.current)
        const isList = type === LISTING
        return replyToBash(completion, { ...split, replaced, isList, columns: Number(columns) || 80 })
      }
      case 'zsh':
        return replyToZsh(await complete(before, current))
      case 'fish': {
        // Fish removes the quotes of all arguments but the last.
        const plain = splitLine(current, 'bash').current
        return replyToFish(await complete(before, plain), plain)
      }
      case 'kubectl':
        return replyToKubectl(await complete(before, current), current)
      case 'powershell': {
        const split = splitLine(io.env[LINE] ?? '', 'powershell')
        return replyToPowershell(await complete(split.before.slice(1), split.current), split.current)
      }
      default:
        return []
    }
  })()
  io.stdout.write(lines.map(line => `${line}\n`).join(''))
  return 0
}

/** Value of COMP_TYPE after a second Tab, which lists the candidates: the code of `?`. */
const LISTING = '63'
