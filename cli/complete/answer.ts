import type { Command } from '../command.ts'
import type { Io } from '../terminal/io.ts'
import { completeLine } from './complete-line.ts'
import type { Completion } from './completion.ts'
import { listValues } from './kinds.ts'
import { replyToBash, replyToFish, replyToKubectl, replyToPowershell, replyToZsh } from './replies.ts'
import { splitLine } from './shell-words.ts'

/**
 * Variable with the line of PowerShell up to the cursor. The line is not passed as an argument, because Windows
 * PowerShell loses quotes in arguments.
 */
const LINE = 'DEVCTL_COMPLETE_LINE'

/** Maximum time for listing values from a cluster, in milliseconds; the user waits for the answer. */
const DEADLINE = 800

/**
 * Answers a completion script (scripts.ts), which passes the name of the shell and the line. Prints the kind of the
 * completion, and a line for each candidate. Never fails: messages would end up in the line that the user types.
 */
export async function answer(
  words: readonly string[],
  io: Io,
  commands: readonly Command[],
  deadline = DEADLINE,
): Promise<number> {
  const list = listValues(io, deadline)
  const complete: Complete = (before, current) => completeLine(commands, { before, current }, list)
  const lines = await linesFor(words, io.env, complete).catch((): readonly string[] => [])
  io.stdout.write(lines.map(line => `${line}\n`).join(''))
  await io.stdout.flushed?.().catch(() => {})
  return 0
}

type Complete = (before: readonly string[], current: string) => Promise<Completion>

async function linesFor(
  [shell, ...words]: readonly string[],
  env: Io['env'],
  complete: Complete,
): Promise<readonly string[]> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  switch (shell) {
    case 'bash': {
      const [line = '', replaced = '', type, columns] = words
      const split = splitLine(line, 'bash')
      const completion = await complete(split.before.slice(1), split.current)
      return replyToBash(completion, {
        ...split,
        replaced,
        isList: type === LISTING,
        columns: Number(columns) || 80,
      })
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
      const split = splitLine(env[LINE] ?? '', 'powershell')
      return replyToPowershell(await complete(split.before.slice(1), split.current), split.current)
    }
    default:
      return []
  }
}

/** Value of COMP_TYPE after a second Tab, which lists the candidates: the code of `?`. */
const LISTING = '63'
