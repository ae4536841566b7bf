import { relative } from 'node:path'
import { unlessAborted } from '../../adapters/http/abort.ts'
import { pause } from '../../adapters/http/back-off.ts'
import { Slots } from '../../adapters/http/slots.ts'
import { leadsOut } from '../../compiler/values/leads-out.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { DevelopContext } from '../context.ts'
import { execWords } from '../exec/action-words.ts'
import { runForLines } from '../exec/run-once.ts'
import { type ActionHandlers, type ActionRule, type BatchAction, WatchActions } from '../files/watch-actions.ts'
import { watchPaths } from '../files/watch-paths.ts'
import type { UpInput } from '../up-input.ts'
import type { Supervisor } from './supervisor.ts'

/**
 * Queue for the deploys of this process's sessions. Runs them one after the other, because they change the same
 * environment.
 */
const deploys = new Slots(1)

/** Container whose files are watched, the rules for its files, and the functions that carry out actions. */
export interface ActionsOf {
  readonly dev: string
  /** Name of the service to deploy when an image has to be rebuilt. */
  readonly service: string
  readonly container: string
  readonly rules: readonly ActionRule[]
  readonly rescanInterval: number
  readonly supervisor: Supervisor
  /** Restarts the program of the session. */
  readonly restart: (signal: AbortSignal) => Promise<void>
}

/**
 * Watches the paths of `develop.watch` and carries out the actions of the rules, until the signal is aborted. Rebuilds
 * an image by deploying the service, because the mirror follows its original. Returns a function that stops watching.
 */
export async function startActions(
  world: DevelopContext,
  { dev, service, container, rules, rescanInterval, supervisor, restart }: ActionsOf,
  { input, project }: { readonly input: UpInput; readonly project: OpenProject },
  signal: AbortSignal,
): Promise<() => void> {
  const { session, workspace, on } = world
  const run = async (command: readonly string[], until: AbortSignal): Promise<number> => {
    const { pod, lost } = await supervisor.untilReady(until)
    const line = (text: string) => on({ type: 'output', command: dev, stream: 'stdout', text })
    const { access, namespace } = session
    const either = AbortSignal.any([until, lost])
    return runForLines({ access, namespace, pod, container, command }, either, line)
  }
  const hands: ActionHandlers = {
    async settled(until) {
      const { attached } = await supervisor.untilReady(until)
      until.throwIfAborted()
      await unlessAborted(attached.settled(), until)
    },
    exec: (command, until) => run(execWords(command), until),
    restart,
    async rebuild(until) {
      const { deploy } = await import('../../operations/deploy/deploy.ts')
      const own = { ...world, session: { ...session, signal: until } }
      const values = { ...input, services: [service], build: true, takeOver: false, developed: [service] }
      const outcome = await deploys.run(until, () => deploy(own, values, project))
      if (outcome.kind !== 'deployed') throw new Error(`the deploy of ${service} has failed`)
    },
    pause,
  }
  const actions = new WatchActions(rules, hands, {
    on: event => {
      if (event.type === 'begun')
        on(note(`${words(event.action)}: ${shownPaths(event.changed, workspace.cwd)} changed`))
      if (event.type === 'failed') on(note(`${words(event.action)}: ${(event.error as Error).message}`))
    },
  })
  void actions.run(signal).catch(() => {})
  return watchPaths(rules, {
    rescanInterval,
    changed: paths => actions.add(paths),
    problem: (path, error) => on(note(`${path} cannot be watched: ${(error as Error).message}`)),
  })
}

const note = (text: string): CommonEvent => ({ type: 'note', text })

function words(action: BatchAction): string {
  if (action.kind === 'rebuild') return 'rebuild'
  return [...(action.execs.length > 0 ? ['exec'] : []), ...(action.restarts ? ['restart'] : [])].join(' and ')
}

/** Describes changed paths relative to the working directory: `src/a.js and 2 more`. */
function shownPaths([first = '', ...others]: readonly string[], cwd: string): string {
  const path = relative(cwd, first)
  const shown = leadsOut(path) ? first : path
  return others.length === 0 ? shown : `${shown} and ${others.length} more`
}
