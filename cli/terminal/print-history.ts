import { agoText } from '../../environment/ago.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import type { ChangeList } from '../../environment/record/change-lists.ts'
import { diffText } from './print-diff.ts'
import { toTable } from './table.ts'

/** Formats the last deploys as a table, one row each. */
export function historyTable(deploys: readonly ChangeList[], now: number): string {
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

/** Returns the details of a deploy: a heading with its author, time and outcome, and then each object. */
export async function deployDetails(one: ChangeList, now: number, colour: boolean): Promise<string> {
  const { number, by, changes, unapplied = [], left = 0, repository, end } = one
  const commit = commitText(one)
  const head = toTable([
    [`Deploy ${number}, ${whenText(one, now)} by ${by}${end === undefined ? '' : `: ${ENDS[end].sentence}`}`],
    ...(commit === '' ? [] : [[repository === undefined ? commit : `${commit} of ${repository}`]]),
  ])
  const diffs: readonly ObjectDiff[] = [
    ...changes.map(change => ({ ...change, values: change.values.map(value => ({ ...value, keys: [] })) })),
    ...unapplied.map(({ action, object }) => ({
      action: 'keep' as const,
      object,
      values: [],
      consequence: `not applied: it was to be ${WORDS[action]}`,
    })),
  ]
  const text = await diffText(diffs, { colour, now, placeOf: () => undefined })
  return `${head}${text}${left > 0 ? `   and ${left} more, which were too many to be kept\n` : ''}`
}

/**
 * Formats the commit of a deploy: `abc1234 main "new greeting"`. A `+` after the commit means uncommitted changes, and
 * a `?` that it is unknown whether there were any.
 */
const commitText = ({ commit, branch, subject, isDirty, isUnchecked }: ChangeList): string =>
  [
    commit && `${commit.slice(0, 7)}${isDirty ? '+' : isUnchecked ? '?' : ''}`,
    branch,
    subject && JSON.stringify(subject.length > 40 ? `${subject.slice(0, 39)}…` : subject),
  ]
    .filter(Boolean)
    .join(' ')

const WORDS = { create: 'created', update: 'updated', replace: 'replaced', delete: 'deleted' } as const

const ENDS = {
  unknown: {
    short: 'end not known',
    sentence: 'it is still running, or was killed, and some of this may not be applied',
  },
  failed: { short: 'failed', sentence: 'failed' },
  interrupted: { short: 'interrupted', sentence: 'interrupted' },
} as const

function countsText({ changes, unapplied = [], left = 0, end }: ChangeList): string {
  const counted = Object.entries(WORDS).flatMap(([action, word]) => {
    const count = changes.filter(one => one.action === action).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  const all = [...counted, ...(left > 0 ? [`${left} more`] : [])]
  const others = unapplied.length > 0 ? [`${unapplied.length} not applied`] : []
  const text = [...(all.length > 0 ? all : ['none']), ...others].join(', ')
  return end === undefined ? text : `${text} (${ENDS[end].short})`
}

function whenText({ at }: ChangeList, now: number): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? '' : agoText(now - time)
}
