import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../adapters/process/time-limit.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { toServiceName } from '../compiler/plan/object-names.ts'
import { lastingContainers, templateOf } from '../constructs/manifest.ts'
import { isTaken } from '../environment/record/up-record.ts'
import type { DeployOutcome } from '../operations/deploy/outcome.ts'
import { ensureNamespace, wakeIfAsleep } from '../operations/ensure-namespace.ts'
import { isPlatform } from '../project/contexts/store.ts'
import { requireNamespace } from '../project/namespaces.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { Session } from '../project/session.ts'
import { tellToolFiles } from '../project/tool-files.ts'
import type { DevelopContext } from './context.ts'
import type { UpEvent } from './events.ts'
import { findMirror } from './mirror/find-mirror.ts'
import { findOriginal } from './mirror/find-original.ts'
import { type MissingRights, missingRights } from './mirror/stream-rights.ts'
import { parseVariables } from './select/environment.ts'
import { deployedName, type FoundDevelopment, findDevelopment } from './select/find-development.ts'
import type { UpContext, UpInput, UpOutcome } from './up-input.ts'

/** Timeout for the deploy at the start of `up`, in milliseconds. */
const DEPLOY = 300_000
/** Timeout for a last request after an interruption, in milliseconds. */
const ASKING = 3000

/**
 * Starts a development container: deploys missing workloads, replaces the original, connects, and runs the command
 * until it ends. Throws a UserError for problems that the user can fix, and the signal's abort reason.
 */
export async function up(world: UpContext, input: UpInput, project: OpenProject): Promise<UpOutcome> {
  const found = await findDevelopment(world, input, project)
  await tellToolFiles(world.workspace, world.on, found.folder)
  for (const text of found.notes) world.on({ type: 'note', text })
  const given = parseVariables(input.env ?? [], world.workspace.env)
  const rights = checkRights(world.session)
  const originals = await originalsOf(world, input, project, [found])
  if ('outcome' in originals) return { kind: 'not-deployed', outcome: originals.outcome }
  const { planSession, runSession } = await import('./session/run-session.ts')
  const planned = await planSession(world, { input, project }, found, {
    original: originals.workloads[0],
    given,
    rights,
  })
  let hasTaken = false
  const on = (event: UpEvent) => {
    hasTaken ||= event.type === 'taken'
    world.on(event)
  }
  try {
    return await runSession({ ...world, on }, planned)
  } catch (error) {
    const { name } = found.development
    const wasInterrupted = world.session.signal.aborted && !input.downOnExit
    if (wasInterrupted && (hasTaken || (await isActive(world.session, name, originals.workloads[0]))))
      world.on({ type: 'note', text: keepMirrors([name]) })
    throw error
  }
}

/**
 * Starts the request for the permissions on Pods that the user lacks, before the result is needed, so that callers can
 * send other requests at the same time.
 */
export function checkRights(session: Session): Promise<MissingRights> {
  const asked = missingRights(session)
  // If an earlier step fails, nothing awaits this request, and its rejection must not be unhandled.
  asked.catch(() => {})
  return asked
}

/** True if a development container currently replaces its original. False if the cluster does not answer in time. */
async function isActive(session: Session, dev: string, original: KubeObject | undefined): Promise<boolean> {
  const own = { ...session, signal: AbortSignal.timeout(ASKING) }
  try {
    if (!original) return (await findMirror(own, dev)) !== undefined
    return isTaken(await session.cluster.get({ ...original, ...original.metadata }, own))
  } catch {
    return false
  }
}

/** Joins names for the start of a sentence: `api is` or `api, web are`. */
export const printNames = (devs: readonly string[]): string => `${devs.join(', ')} ${devs.length > 1 ? 'are' : 'is'}`

async function anyOf<One>(all: readonly One[], is: (one: One, index: number) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(all.map(is))).includes(true)
}

/** Returns the message about the mirrors that continue to exist after sessions have ended. */
export const keepMirrors = (devs: readonly string[]): string =>
  devs.length === 1
    ? `the mirror of ${devs[0]} stays; \`devctl down ${devs[0]}\` restores the original`
    : `the mirrors of ${devs.join(', ')} stay; \`devctl down ${devs.join(' ')}\` restores the originals`

/**
 * Returns the workloads of development containers, in the same order, and deploys missing workloads. Returns the
 * outcome of the deploy instead if it failed. Throws a UserError if a workload does not exist and no deploy creates it.
 */
export async function originalsOf(
  world: DevelopContext,
  input: UpInput,
  project: OpenProject,
  found: readonly FoundDevelopment[],
): Promise<{ readonly workloads: readonly (KubeObject | undefined)[] } | { readonly outcome: DeployOutcome }> {
  const { session } = world
  if (isPlatform(session.target.context) && !input.dryRun) await wakeIfAsleep(world)
  const find = () => Promise.all(found.map(({ development }) => findOriginal(session, development)))
  const there = await find()
  // Check this before anything is built or read for a deploy.
  if (there.some(one => !one))
    await (input.dryRun
      ? requireNamespace(session)
      : ensureNamespace(world, { createNamespace: input.createNamespace }))
  const isMissing = await anyOf(found, async ({ hasDeploy, development: { autocreate, name } }, index) => {
    if (!hasDeploy || there[index]) return false
    // The mirror of a service with `autocreate` is the workload that a deploy would create.
    return !autocreate || (await findMirror(session, name)) === undefined
  })
  if (!input.deploy && !isMissing) {
    const missing = found.find(({ development }, index) => !there[index] && !development.autocreate)
    if (!missing) return { workloads: there }
    throw new UserError(`there is no workload \`${missing.development.name}\` in ${session.namespace}`, {
      hint: 'deploy it first, select it by `selector`, or add `autocreate: true` to make a container without one',
    })
  }
  const { deploy } = await import('../operations/deploy/deploy.ts')
  const signal = withTimeLimit(DEPLOY, session.signal)
  const outcome = await deploy(
    { ...world, session: { ...session, signal } },
    { ...input, takeOver: false, developed: found.map(deployedName) },
    project,
  )
  if (outcome.kind !== 'deployed' && !mayDevelop(outcome)) return { outcome }
  const workloads = await find()
  const note = failedOriginals(outcome, developedServices(found, workloads))
  if (outcome.kind !== 'deployed' && note === undefined) return { outcome }
  if (note !== undefined) world.on({ type: 'note', text: note })
  const missing = found.find(({ development }, index) => !workloads[index] && !development.autocreate)
  if (!missing) return { workloads }
  throw new UserError(`the deploy did not create a workload \`${missing.development.name}\``, {
    hint: 'name the development container after its service, or select the workload by `selector`',
  })
}

/**
 * Returns the names of the services under development: those of the development containers, of their services, and of
 * the other containers in the same Pods. A deploy reports one state for all services of a Pod.
 */
export function developedServices(
  found: readonly Pick<FoundDevelopment, 'service' | 'development'>[],
  workloads: readonly (KubeObject | undefined)[],
): readonly string[] {
  const inPods = workloads.flatMap(one => {
    const spec = one && templateOf<{ readonly spec?: PodContainers }>(one)?.spec
    return lastingContainers(spec ?? {}).map(({ name }) => name)
  })
  return [...found.flatMap(one => [one.development.name, toServiceName(deployedName(one))]), ...inPods]
}

interface PodContainers {
  readonly containers?: readonly { readonly name: string }[]
  readonly initContainers?: readonly { readonly name: string }[]
}

/** True for a deploy that only failed because services are not ready. */
const mayDevelop = (outcome: DeployOutcome): boolean => outcome.kind === 'failed' && outcome.ended === undefined

/**
 * Returns the note about a deploy in which only services under development failed: their programs are replaced anyway,
 * and may be what the user wants to fix. Returns undefined if the deploy failed in any other way, because then nothing
 * can be developed.
 */
export function failedOriginals(outcome: DeployOutcome, developed: readonly string[]): string | undefined {
  if (outcome.kind !== 'failed' || outcome.ended !== undefined) return undefined
  const inState = (...states: readonly string[]) =>
    [...outcome.services].flatMap(([service, state]) => (states.includes(state) ? [service] : []))
  const failed = inState('not-ready')
  if (failed.length === 0 || failed.some(service => !developed.includes(service))) return undefined
  const waiting = inState('not-made', 'not-changed')
  const verb = failed.length > 1 ? 'are' : 'is'
  const later = waiting.length === 0 ? '' : `; afterwards, \`devctl deploy\` deploys ${waiting.join(', ')}`
  return `${failed.join(', ')} ${verb} not ready, and ${verb} developed nevertheless${later}`
}
