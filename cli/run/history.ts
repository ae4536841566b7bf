import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { HistoryOutcome } from '../../operations/list/history.ts'
import { agoText } from '../../operations/objects/ago.ts'
import type { ChangeList } from '../../operations/objects/change-lists.ts'
import type { Context } from '../command.ts'
import type { LoadingValues } from '../options/project.ts'
import { wantsColour } from '../terminal/io.ts'
import { diffText } from '../terminal/print-diff.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import type { SessionOptions } from './cluster-session.ts'
import { withProject } from './project-session.ts'

export interface HistoryValues extends LoadingValues, Omit<SessionOptions, 'timeout'> {
  readonly name: string | undefined
  readonly output: 'json' | undefined
}

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
        options.output === 'json' ? `${jsonText(one, 2)}\n` : await detailsOf(one, now, wantsColour(io.stdout, io.env)),
      )
    } else if (options.output === 'json') io.stdout.write(`${jsonText(deploys, 2)}\n`)
    else if (deploys.length > 0) io.stdout.write(tableOf(deploys, now))
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

function tableOf(deploys: readonly ChangeList[], now: number): string {
  const rows = deploys.map(one => [
    String(one.number),
    whenText(one, now),
    one.by,
    commitText(one),
    countsText(one),
    [...new Set(one.changes.flatMap(({ service }) => service ?? []))].join(', '),
  ])
  return toTable([['Deploy', 'When', 'By', 'Commit', 'Changes', 'Services'], ...rows])
}

/** Who, when and what, then each object. */
async function detailsOf(one: ChangeList, now: number, colour: boolean): Promise<string> {
  const { number, by, changes, left = 0, repository } = one
  const commit = commitText(one)
  const head = toTable([
    [`Deploy ${number}, ${whenText(one, now)} by ${by}`],
    ...(commit === '' ? [] : [[repository === undefined ? commit : `${commit} of ${repository}`]]),
  ])
  const diffs = changes.map(change => ({ ...change, values: change.values.map(value => ({ ...value, keys: [] })) }))
  const text = await diffText(diffs, { colour, now, placeOf: () => undefined })
  return `${head}${text}${left > 0 ? `   and ${left} more, which were too many to be kept\n` : ''}`
}

/** `abc1234 main "new greeting"`; `+` behind a commit: with changes that were not committed. */
const commitText = ({ commit, branch, subject, isDirty }: ChangeList): string =>
  [
    commit && `${commit.slice(0, 7)}${isDirty ? '+' : ''}`,
    branch,
    subject && JSON.stringify(subject.length > 40 ? `${subject.slice(0, 39)}…` : subject),
  ]
    .filter(Boolean)
    .join(' ')

const WORDS = { create: 'created', update: 'updated', replace: 'replaced', delete: 'deleted' } as const

function countsText({ changes, left = 0 }: ChangeList): string {
  const counted = Object.entries(WORDS).flatMap(([action, word]) => {
    const count = changes.filter(one => one.action === action).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return [...counted, ...(left > 0 ? [`${left} more`] : [])].join(', ') || 'none'
}

function whenText({ at }: ChangeList, now: number): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? '' : agoText(now - time)
}
