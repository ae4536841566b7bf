import { setTimeout as sleep } from 'node:timers/promises'
import { jsonText } from '../../../compiler/values/printable.ts'
import type { EmptiedFolder, SessionReport } from '../../../develop/control/messages.ts'
import type { StatusInput } from '../../../develop/status.ts'
import type { Context } from '../../command.ts'
import type { StatusValues } from '../../commands/status.ts'
import { reportsText } from '../../terminal/develop/status-text.ts'
import { eraseRow } from '../../terminal/progress/screen.ts'
import { printSummary, printsDiagnostics } from '../../terminal/report.ts'
import { withProject } from '../project-session.ts'
import { untilOutputCloses, watchOutput } from '../until-output-closes.ts'
import { chooseDevFor } from './choose-dev.ts'

/** Polling interval of `--watch` in milliseconds. */
const EVERY = 500

/** Prints the synchronization status of the files, once or after each change. */
export async function showStatus(context: Context, words: readonly string[], options: StatusValues): Promise<number> {
  const values = { ...options, var: undefined, timeout: undefined, isEndless: options.watch, asksFirst: true as const }
  return withProject(context, values, async (own, project, session) => {
    const { leftMirrors, status } = await import('../../../develop/status.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    let input: StatusInput = { ...options, devs: words, choose: chooseDevFor(own.io) }
    if (options.answer !== undefined) {
      const { answerEmptied } = await import('../../../develop/status.ts')
      const answered = await answerEmptied(world, { ...input, answer: options.answer }, project)
      for (const one of [...answered.values()].flat())
        printSummary(answeredText(one, options.answer), own.io, own.logLevel)
      return 0
    }
    return untilOutputCloses(session, async ({ signal }, closed) => {
      let last = ''
      for (;;) {
        const reports = await status(world, input, project)
        // Ask the user only once.
        if (words.length > 0) input = { ...input, devs: [...reports.keys()] }
        const isNotHere = [...reports].flatMap(([dev, report]) => (report ? [] : [dev]))
        const left = new Set((await leftMirrors(session, isNotHere)).keys())
        const text =
          options.output === 'json' ? jsonOf(reports) : reportsText(reports, { withInfo: options.info, left })
        if (text !== last) {
          own.io.stdout.write(text)
          watchOutput(own.io.stdout, closed)
        }
        last = text
        if (!options.watch) return 0
        await sleep(EVERY, undefined, { signal }).catch(error => {
          eraseRow(own.io)
          throw error
        })
      }
    })
  })
}

function answeredText({ local, remote, side }: EmptiedFolder, answer: 'delete' | 'restore'): string {
  const [here, there] = [`${local} here`, `${remote} in the container`]
  const [gone, other] = side === 'local' ? [here, there] : [there, here]
  return answer === 'restore' ? `the files of ${gone} come back` : `the files of ${other} are deleted, too`
}

/** Returns one line for each development container, with its status as a JSON object. */
const jsonOf = (reports: ReadonlyMap<string, SessionReport | undefined>): string =>
  [...reports]
    .map(
      ([dev, report]) => `${jsonText({ type: 'status', ...(report ? shown(report) : { dev, state: 'inactive' }) })}\n`,
    )
    .join('')

const shown = ({ process: _, ...report }: SessionReport) => report
