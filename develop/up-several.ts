import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { DeployOutcome } from '../operations/deploy/outcome.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { OperationContext } from '../project/session.ts'
import { tellToolFiles } from '../project/tool-files.ts'
import type { DevelopContext } from './context.ts'
import type { SessionEnd, UpEvent } from './events.ts'
import { outputTerminal } from './exec/output-terminal.ts'
import { sharePorts } from './ports/share-ports.ts'
import { parseVariables } from './select/environment.ts'
import { findDevelopment, namedDevelopments, type SeveralInput } from './select/find-development.ts'
import type { PlannedSession } from './session/run-session.ts'
import { askToIncludeSsh } from './ssh/session-ssh.ts'
import { checkRights, originalsOf } from './up.ts'
import type { UpContext, UpInput, UpOutcome } from './up-input.ts'

export interface UpSeveralInput extends Omit<UpInput, 'dev' | 'choose' | 'command' | 'detached'>, SeveralInput {}

/** Context of an operation that runs several sessions. */
export interface SeveralContext extends Omit<DevelopContext, 'on'> {
  /** Called with each event; `dev` names its session, or is undefined before sessions exist. */
  readonly on: (event: UpEvent, dev?: string) => void
}

export type UpSeveralOutcome =
  /** All sessions have ended. */
  | { readonly kind: 'ended'; readonly sessions: ReadonlyMap<string, SessionEnd> }
  /** Result of a dry run: the objects that would be applied. */
  | { readonly kind: 'planned'; readonly objects: readonly KubeObject[] }
  /** The application was not deployed; the caller must print the outcome. */
  | { readonly kind: 'not-deployed'; readonly outcome: DeployOutcome }

/**
 * Starts several development containers, which run their own commands without a terminal; each line of their output is
 * an event. Nothing is changed until the cluster has accepted a dry run of all of them. If one fails after that, the
 * others continue. Returns when all of them have ended. Throws a UserError for problems that the user can fix, and the
 * signal's abort reason.
 */
export async function upSeveral(
  world: SeveralContext,
  input: UpSeveralInput,
  project: OpenProject,
): Promise<UpSeveralOutcome> {
  const names = await namedDevelopments({ ...world, on: one => world.on(one) }, input, project)
  const own: UpInput = { ...input, detached: true }
  const worldOf = (dev: string): UpContext => {
    const on = (event: UpEvent) => world.on(event, dev)
    const terminal = outputTerminal((stream, text) => on({ type: 'output', command: dev, stream, text }))
    const { ask: _, ...others } = world
    return { ...others, on, terminal }
  }
  const all = await Promise.all(names.map(dev => findDevelopment(worldOf(dev), { ...own, dev }, project)))
  for (const folder of new Set(all.map(({ folder }) => folder)))
    await tellToolFiles(world.workspace, event => world.on(event), folder)
  const { found, notes } = sharePorts(all)
  for (const { development, notes } of found)
    for (const text of notes) world.on({ type: 'note', text }, development.name)
  for (const { dev, text } of notes) world.on({ type: 'note', text }, dev)
  const given = parseVariables(input.env ?? [], world.workspace.env)
  const rights = checkRights(world.session)
  const originals = await originalsOf({ ...world, on: one => world.on(one) }, own, project, found)
  if ('outcome' in originals) return { kind: 'not-deployed', outcome: originals.outcome }

  const { planSession, runSession } = await import('./session/run-session.ts')
  const planned = await together(names, (dev, index) =>
    planSession(worldOf(dev), { input: own, project }, found[index]!, {
      original: originals.workloads[index],
      given,
      rights,
    }),
  )
  refuseShared(names, planned)
  const objects = await tryAll(world, names, planned)
  if (input.dryRun) return { kind: 'planned', objects }
  await askToIncludeSsh(world, names[0]!)

  const sessions = new Map<string, SessionEnd>()
  const run = async (dev: string, one: PlannedSession) => {
    let end: SessionEnd
    try {
      end = endOf(await runSession(worldOf(dev), one))
    } catch (error) {
      if (!(error instanceof Error) || world.session.signal.aborted) throw error
      end = { kind: 'failed', error }
    }
    sessions.set(dev, end)
    world.on({ type: 'session-ended', dev, end }, dev)
  }
  const results = await Promise.allSettled(names.map((dev, index) => run(dev, planned[index]!)))
  world.session.signal.throwIfAborted()
  for (const one of results) if (one.status === 'rejected') throw one.reason
  return { kind: 'ended', sessions }
}

function endOf(outcome: UpOutcome): SessionEnd {
  switch (outcome.kind) {
    case 'ended':
    case 'stopped':
      return outcome
    case 'planned':
    case 'not-deployed':
      throw new Error('a session that was planned neither plans nor deploys')
  }
}

/** Sends dry runs of all objects to the cluster, without changing anything. */
async function tryAll(
  { session }: Pick<OperationContext, 'session'>,
  names: readonly string[],
  planned: readonly PlannedSession[],
): Promise<readonly KubeObject[]> {
  const { replaceWorkload } = await import('./mirror/replace-workload.ts')
  const tried = await together(names, (_, index) =>
    // Events are reported later, when the workload is replaced.
    replaceWorkload(session, { ...planned[index]!.prepared.take, dryRun: true }, () => {}),
  )
  return tried.flatMap(one => (one.kind === 'planned' ? one.objects : []))
}

/** Runs work for each name concurrently; throws all failures, not only the first. */
async function together<Result>(
  names: readonly string[],
  work: (dev: string, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = await Promise.allSettled(names.map(work))
  const failures = results.flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 1) throw new AggregateError(failures)
  if (failures.length === 1) throw failures[0]
  return results.map(one => (one as PromiseFulfilledResult<Result>).value) // none has failed
}

/** Throws a UserError if two development containers would replace the same workload. */
function refuseShared(names: readonly string[], planned: readonly PlannedSession[]): void {
  const owners = new Map<string, string>()
  for (const [index, { prepared }] of planned.entries())
    for (const { kind, name } of [prepared.take.original ?? [], prepared.take.services ?? []].flat()) {
      const [what, dev] = [`${kind.toLowerCase()}/${name}`, names[index]!]
      const owner = owners.get(what)
      if (owner !== undefined)
        throw new UserError(`\`${owner}\` and \`${dev}\` both take \`${what}\``, {
          hint: `start one of them: a workload, also one of \`services\`, has one development container at a time`,
        })
      owners.set(what, dev)
    }
}
