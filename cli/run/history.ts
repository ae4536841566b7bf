import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { ChangeList } from '../../environment/record/change-lists.ts'
import type { HistoryOutcome } from '../../operations/list/history.ts'
import type { Context } from '../command.ts'
import type { HistoryValues } from '../commands/history.ts'
import { wantsColour } from '../terminal/io.ts'
import { deployDetails, historyTable } from '../terminal/print-history.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Prints the last deploys of an environment, or what one of them changed. */
export async function showHistory(context: Context, words: readonly string[], options: HistoryValues): Promise<number> {
  const { io, logLevel } = context
  const [word] = words
  const number = word === undefined ? undefined : toNumber(word)
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { history } = await import('../../operations/list/history.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const outcome = await history(world, options, project)
    const { environment, namespace, deploys, isDeployed, now } = outcome
    if (number !== undefined) {
      const one = deployOf(outcome, number)
      io.stdout.write(
        options.output === 'json'
          ? `${jsonText(one, 2)}\n`
          : await deployDetails(one, now, wantsColour(io.stdout, io.env)),
      )
    } else if (options.output === 'json') io.stdout.write(`${jsonText(deploys, 2)}\n`)
    else if (deploys.length > 0) io.stdout.write(historyTable(deploys, now))
    else if (logLevel !== 'error')
      io.stderr.write(
        isDeployed
          ? `no deploy of ${environment} is noted in ${namespace}: the next one will be\n`
          : `${environment} is not deployed in ${namespace}\n`,
      )
    return 0
  })
}

function toNumber(word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word)
  throw new UserError(`\`${word}\` is not the number of a deploy`, { hint: '`devctl history` lists them' })
}

function deployOf({ environment, deploys }: HistoryOutcome, number: number): ChangeList {
  const found = deploys.find(one => one.number === number)
  if (found) return found
  const all = deploys.map(one => one.number)
  throw new UserError(`deploy ${number} of \`${environment}\` is not noted`, {
    hint: all.length > 0 ? `there are ${all.join(', ')}: the last ones that changed something` : 'there is none yet',
  })
}
