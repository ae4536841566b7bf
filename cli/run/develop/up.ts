import type { OperationEvent } from '../../../api/events.ts'
import type { UpQuestions } from '../../../develop/context.ts'
import type { RemoteTerminal } from '../../../develop/exec/remote-terminal.ts'
import type { Context } from '../../command.ts'
import type { UpValues } from '../../commands/up.ts'
import { drawsOn } from '../../terminal/io.ts'
import { questionsFor, toTerminal } from '../../terminal/operation-events.ts'
import { printOutcome } from '../../terminal/print-outcome.ts'
import { isOfBuild, startProgress } from '../../terminal/progress/progress.ts'
import { eraseRow } from '../../terminal/progress/screen.ts'
import { remoteTerminal } from '../../terminal/remote-terminal.ts'
import { printSummary } from '../../terminal/report.ts'
import { tellPlace } from '../deploy.ts'
import { withProject } from '../project-session.ts'
import { chooseDevFor } from './choose-dev.ts'
import { isInBackground, tellStarter } from './detach.ts'
import { splitOne } from './develop-words.ts'
import { printPlanned } from './print-planned.ts'
import { smallMemory } from './small-memory.ts'

/** Interval between two progress lines about the files if there is no terminal to draw on, in milliseconds. */
const PLAIN_EVERY = 2000

/** Events that are hidden while the program in the container has the terminal. */
const QUIET: ReadonlySet<OperationEvent['type']> = new Set(['status', 'step', 'sync', 'waiting', 'object'])

/** Returns a function that returns true at most once per interval. */
function atMostEvery(milliseconds: number, now: () => number): () => boolean {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - last < milliseconds) return false
    last = now()
    return true
  }
}

/** Starts a development container, and returns the exit status of the command in it. */
export async function startDevelopment(context: Context, words: readonly string[], options: UpValues): Promise<number> {
  const { dev, command } = splitOne(words, context, 'up')
  const endless = {
    ...options,
    var: undefined,
    timeout: undefined,
    isEndless: true,
    usesPlatform: { form: 'text' as const },
    asksFirst: true as const,
  }
  return withProject(context, endless, async (own, project, session) => {
    const { keepMirrors, up } = await import('../../../develop/up.ts')
    const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
    const show = toTerminal(own, progress, 'text')
    // Progress is not redrawn below the output of the program in the container.
    const builds = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now(), 'plain')
    let isAttached = false
    let taken: string | undefined
    const isDue = drawsOn(own.io) ? () => true : atMostEvery(PLAIN_EVERY, () => session.clock.now())
    const held: OperationEvent[] = []
    const letGo = () => {
      for (const event of held.splice(0)) show(event)
    }
    const remote = remoteTerminal(process, own.io.env, letGo)
    let isAsking = false
    let isConnected = false
    let wasSynced = false
    const hear = smallMemory()
    const on = (event: OperationEvent) => {
      hear(event)
      // Earlier events come from a deploy and concern the services that it deploys.
      if (event.type === 'taken') {
        taken = event.dev
        progress.makeRoom()
      }
      tellStarter(own.io, event, taken)
      // The program in the container is using the terminal.
      if (isAttached && QUIET.has(event.type)) return
      // There is nothing to report about the files without a connection.
      isConnected ||= event.type === 'sync' && event.status.state !== 'disconnected'
      const isFirst = event.type === 'sync' && event.status.state === 'synced' && !wasSynced
      wasSynced ||= isFirst
      if (event.type === 'sync' && (!isConnected || !(isFirst || isDue()))) return
      // Events must not interrupt a question or a full-screen program such as an editor.
      if (session.signal.aborted && event.type === 'note') {
        // This final note must be the last line.
        progress.makeRoom()
        eraseRow(own.io)
        printSummary(event.text, own.io, own.logLevel)
        return
      }
      if (isAsking || (isAttached && remote.isFullScreen)) held.push(event)
      else if (isAttached && isOfBuild(event)) builds.tell(event)
      else show(event)
    }
    if (!isInBackground(own.io)) tellPlace(own, session, on)
    if (options.detach && !options.dryRun) {
      const { startInBackground } = await import('./detach.ts')
      return startInBackground(
        { workspace: own.io, session, on },
        { ...options, devs: dev === undefined ? [] : [dev], choose: chooseDevFor(own.io) },
        project,
      ).finally(() => progress.pause())
    }
    const attached = async (work: () => Promise<number>) => {
      progress.makeRoom()
      isAttached = true
      try {
        return await work()
      } finally {
        isAttached = false
        // Ends an unfinished line, such as the line with `^C`.
        if (remote.isLineBegun) own.io.stderr.write('\n')
        builds.pause()
        letGo()
      }
    }
    const questions = questionsFor(own, progress)
    const asking = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      isAsking = true
      try {
        return await ask()
      } finally {
        isAsking = false
        letGo()
      }
    }
    const { maySetUpSsh, whatOfEmptied } = questions
    const ask: UpQuestions = {
      ...questions,
      ...(maySetUpSsh && { maySetUpSsh: (line, host) => asking(() => maySetUpSsh(line, host)) }),
      // While a program in the container is attached, it receives the key presses.
      ...(whatOfEmptied && {
        whatOfEmptied: async (folder, signal) =>
          isAttached || isAsking ? undefined : asking(() => whatOfEmptied(folder, signal)),
      }),
    }
    const terminal: RemoteTerminal = {
      get size() {
        return remote.size
      },
      type: remote.type,
      attach: process => attached(() => remote.attach(process)),
      ignoreKeys: () => remote.ignoreKeys(),
      runHere: (words, run) => attached(() => remote.runHere(words, run)),
    }
    const world = { workspace: own.io, session, on, ask, terminal }
    try {
      const chosen = command.length > 0 ? command : options.command
      const outcome = await up(
        world,
        { ...options, dev, command: chosen, detached: isInBackground(own.io), choose: chooseDevFor(own.io) },
        project,
      )
      progress.pause()
      switch (outcome.kind) {
        case 'planned': {
          await printPlanned(outcome.objects, own.io)
          return 0
        }
        case 'not-deployed':
          return printOutcome(own, 'text', outcome.outcome) || 1
        case 'stopped':
          printSummary(outcome.reason, own.io, own.logLevel)
          return 0
        case 'ended':
          printSummary(outcome.isDown ? `${outcome.dev} is restored` : keepMirrors([outcome.dev]), own.io, own.logLevel)
          return outcome.status
      }
    } catch (error) {
      // Removes the lines of unfinished work.
      progress.makeRoom()
      if (session.signal.aborted) eraseRow(own.io)
      throw error
    } finally {
      progress.pause()
    }
  })
}
