import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { DeployOutcome } from '../deploy/outcome.ts'
import type { OpenProject } from '../project/opened-project.ts'
import { parseVariables } from './environment.ts'
import { type FoundDevelopment, findDevelopment } from './find-development.ts'
import { findOriginal } from './find-original.ts'
import type { UpInput, UpOutcome, UpWorld } from './up-input.ts'

/** Milliseconds for the deploy that `up` begins with. */
const DEPLOY = 300_000

/**
 * Starts a development container: deploys what is not there, takes the original, connects, and runs
 * the command until it ends. Throws a UserError for what the user can mend, and the reason of the
 * signal.
 */
export async function up(world: UpWorld, input: UpInput, project: OpenProject): Promise<UpOutcome> {
  const found = await findDevelopment(world, input, project)
  for (const text of found.notes) world.on({ type: 'note', text })
  const given = parseVariables(input.env ?? [], world.workspace.env)
  const original = await originalOf(world, input, project, found)
  if ('outcome' in original) return { kind: 'not-deployed', outcome: original.outcome }
  const { runSession } = await import('./run-session.ts')
  return runSession(world, { input, project }, found, original.workload, given)
}

async function originalOf(
  world: UpWorld,
  input: UpInput,
  project: OpenProject,
  { development, hasDeploy }: FoundDevelopment,
): Promise<{ readonly workload: KubeObject | undefined } | { readonly outcome: DeployOutcome }> {
  const { session } = world
  const there = await findOriginal(session, development)
  if (!(input.deploy || (there === undefined && hasDeploy))) {
    if (there || development.autocreate) return { workload: there }
    throw new UserError(`there is no workload \`${development.name}\` in ${session.namespace}`, {
      hint: 'deploy it first, select it by `selector`, or add `autocreate: true` to make a container without one',
    })
  }
  const { deploy } = await import('../deploy/deploy.ts')
  const signal = withTimeLimit(DEPLOY, session.signal)
  const outcome = await deploy({ ...world, session: { ...session, signal } }, input, project)
  if (outcome.kind !== 'deployed') return { outcome }
  const workload = await findOriginal(session, development)
  if (workload || development.autocreate) return { workload }
  throw new UserError(`the deploy did not create a workload \`${development.name}\``, {
    hint: 'name the development container after its service, or select the workload by `selector`',
  })
}
