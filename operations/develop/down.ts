import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { World } from '../session.ts'
import { askUp, reportOf } from './ask.ts'
import { type DevelopmentInput, developmentNames, findDevelopment } from './find-development.ts'
import { giveBack } from './give-back.ts'

export interface DownInput extends DevelopmentInput {
  /** True if the claims with the files are deleted. */
  readonly volumes?: boolean | undefined
  /** True for all development containers of the manifest. */
  readonly all?: boolean | undefined
}

export interface DownOutcome {
  readonly dev: string
  /** False if there was nothing to end. */
  readonly wasActive: boolean
  /** The workload that runs again, as `deployment/api`; undefined where there was none. */
  readonly restored: string | undefined
}

/** Milliseconds between two looks whether the session of this machine has ended. */
const EVERY = 100

/** Ends the sessions of development containers, deletes their mirrors and restores the originals. */
export async function down(world: World, input: DownInput, project: OpenProject): Promise<readonly DownOutcome[]> {
  if (input.all && input.dev !== undefined)
    throw new UsageError('`--all` is for all development containers', { hint: `leave out \`${input.dev}\`` })
  const all = input.all ? developmentNames(project) : undefined
  const names = all ?? [(await findDevelopment(world, input, project)).development.name]
  const outcomes: DownOutcome[] = []
  for (const name of names) outcomes.push(await downOne(world, name, input.volumes ?? false))
  return outcomes
}

async function downOne(world: World, dev: string, volumes: boolean): Promise<DownOutcome> {
  const { session } = world
  if (await askUp(world, dev, { ask: 'stop' })) await untilEnded(world, dev)
  const { wasActive, restored } = await giveBack(session, { name: dev }, { volumes }, world.on)
  return { dev, wasActive, restored }
}

/** The session closes its connections before the mirror goes, so that nothing is reported as lost. */
async function untilEnded(world: World, dev: string): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises')
  while (await reportOf(world, dev)) await sleep(EVERY, undefined, { signal: world.session.signal })
}
