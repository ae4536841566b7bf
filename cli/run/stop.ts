import type { Context } from '../command.ts'
import type { StopValues } from '../commands/stop.ts'
import { printSummary, printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Stops or starts the named services, or all services. */
export async function stopServices(
  context: Context,
  services: readonly string[],
  options: StopValues,
  verb: 'stop' | 'start',
): Promise<number> {
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const operations = await import('../../operations/scale/stop.ts')
    const world = { workspace: io, session, on: printsDiagnostics(own) }
    const outcome = await operations[verb](world, { ...options, services }, project)
    const { environment, namespace, skipped, jobs, ended } = outcome
    const print = (text: string) => printSummary(text, io, logLevel)
    if (ended.length > 0) print(`${ended.join(', ')} ${isOrAre(ended)} ended and deleted`)
    if (skipped.length > 0) print(`left ${skipped.join(', ')} alone: ${verb} has no meaning for Jobs and DaemonSets`)
    for (const [kind, texts] of Object.entries(TEXTS[verb])) {
      const ofKind = (names: readonly string[]) => names.filter(name => jobs.includes(name) === (kind === 'jobs'))
      const [unchanged, changed] = [ofKind(outcome.unchanged), ofKind(outcome.changed)]
      if (unchanged.length > 0) print(`${unchanged.join(', ')} ${isOrAre(unchanged)} ${texts.already}`)
      const done = `${changed.join(', ')} of ${environment} ${isOrAre(changed)} ${texts.done} in ${namespace}`
      if (changed.length > 0) print(`${done}; ${texts.next(changed)}`)
    }
    return 0
  })
}

interface Texts {
  readonly already: string
  readonly done: string
  readonly next: (names: readonly string[]) => string
}

const TEXTS: Readonly<Record<'stop' | 'start', Readonly<Record<'services' | 'jobs', Texts>>>> = {
  stop: {
    services: {
      already: 'stopped already',
      done: 'stopped',
      next: names => `\`devctl start\` or the next deploy starts ${itOrThem(names)} again`,
    },
    jobs: {
      already: 'suspended already',
      done: 'suspended',
      next: names => `\`devctl start\` or the next deploy resumes ${itOrThem(names)}; \`devctl run\` still works`,
    },
  },
  start: {
    services: {
      already: 'not stopped',
      done: 'started',
      next: names => `\`devctl wait\` waits until ${names.length === 1 ? 'it is' : 'they are'} ready`,
    },
    jobs: { already: 'not suspended', done: 'resumed', next: () => '`devctl jobs` shows the next run' },
  },
}

const itOrThem = (names: readonly string[]): string => (names.length === 1 ? 'it' : 'them')

const isOrAre = (names: readonly string[]): string => (names.length === 1 ? 'is' : 'are')
