import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import type { SessionEnd } from '../../../develop/events.ts'
import type { Context } from '../../command.ts'
import type { UpValues } from '../../commands/up.ts'
import { severalDisplay } from '../../terminal/develop/several.ts'
import { questionsFor } from '../../terminal/operation-events.ts'
import { printOutcome } from '../../terminal/print-outcome.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { eraseRow } from '../../terminal/progress/screen.ts'
import { printSummary } from '../../terminal/report.ts'
import { toUserError } from '../cluster-session.ts'
import { tellPlace } from '../deploy.ts'
import { withProject } from '../project-session.ts'
import { isInBackground, tellStarter } from './detach.ts'
import { splitWords } from './develop-words.ts'
import { printPlanned } from './print-planned.ts'
import { smallMemory } from './small-memory.ts'

/** Starts several development containers, shows their output, and returns when all have ended. */
export async function startSeveral(context: Context, words: readonly string[], options: UpValues): Promise<number> {
  const { devs, command } = splitWords(words, context)
  if (command.length > 0 || options.command)
    throw new UsageError('several development containers run their own commands', {
      hint: 'leave out the command, or start one of them',
    })
  const endless = {
    ...options,
    var: undefined,
    timeout: undefined,
    isEndless: true,
    usesPlatform: { form: 'text' as const },
    asksFirst: true as const,
  }
  return withProject(context, endless, async (own, project, session) => {
    const { io, logLevel } = own
    const { keepMirrors } = await import('../../../develop/up.ts')
    const { upSeveral } = await import('../../../develop/up-several.ts')
    const progress = await startProgress(io, logLevel, 'text', () => session.clock.now())
    const closed = new AbortController()
    const signal = AbortSignal.any([session.signal, closed.signal])
    const active = new Set<string>()
    const show = severalDisplay(own, progress, {
      signal,
      now: () => session.clock.now(),
      closed: reason => closed.abort(reason),
      explain: error => toUserError(error, session.target),
    })
    const hear = smallMemory()
    const on: typeof show = (event, dev) => {
      hear(event)
      tellStarter(io, event, dev)
      if (event.type === 'taken') active.add(event.dev)
      if (event.type === 'session-ended' && event.end.kind === 'stopped') active.delete(event.dev)
      show(event, dev)
    }
    if (!isInBackground(own.io)) tellPlace(own, session, on)
    try {
      if (options.detach && !options.dryRun) {
        const { startInBackground } = await import('./detach.ts')
        return await startInBackground({ workspace: io, session, on }, { ...options, devs }, project)
      }
      const world = { workspace: io, session: { ...session, signal }, on, ask: questionsFor(own, progress) }
      const outcome = await upSeveral(world, { ...options, devs }, project)
      progress.pause()
      switch (outcome.kind) {
        case 'planned':
          await printPlanned(outcome.objects, io)
          return 0
        case 'not-deployed':
          return printOutcome(own, 'text', outcome.outcome) || 1
        case 'ended':
          return Math.max(...[...outcome.sessions.values()].map(statusOf))
      }
    } catch (error) {
      progress.pause()
      if (session.signal.aborted) eraseRow(io)
      if (signal.aborted && active.size > 0 && !options.downOnExit && !isInBackground(io))
        printSummary(keepMirrors([...active].sort()), io, logLevel)
      // The reader has closed our output (`| head`).
      if (closed.signal.aborted && !session.signal.aborted) return 0
      throw error
    } finally {
      progress.pause()
    }
  })
}

function statusOf(end: SessionEnd): number {
  if (end.kind === 'failed') return 1
  return end.kind === 'ended' ? end.status : 0
}
