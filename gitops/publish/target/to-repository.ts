import { isAncestor } from '../../../adapters/git/ancestry.ts'
import { isPinned } from '../../../compiler/values/images/image-reference.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { LocalContext } from '../../../project/session.ts'
import { imageOptions } from '../../repository/layout/readme.ts'
import { commitMessage, type MessageInput, subjectOf } from '../../repository/message.ts'
import { type Outcome, type PublishOptions, publish } from '../../repository/publication.ts'
import type { StartedClone } from '../../repository/started-clone.ts'
import {
  type CompiledToPublish,
  compileOpened,
  type Describe,
  type Described,
  describer,
  messageInput,
  objectsIn,
  plannedChange,
  renderedOf,
} from '../compile/compile-opened.ts'
import { renderFolders } from '../compile/render-folders.ts'
import type { PublishEvent } from '../events.ts'
import { fetchedEvents } from '../fetched-events.ts'
import { countsOf } from '../folder-counts.ts'
import type { PublishInput } from '../input.ts'
import { warnMissing } from '../missing-source.ts'
import type { PublishOutcome } from '../outcome.ts'
import { type Destination, destinationOf } from './destination.ts'
import { closeRequest, type OpenedRequest, openRequest, type RequestPlace, requestTextOf } from './request.ts'

/** Everything that the steps of one publish need, such as the compiled application and its destination. */
interface Work {
  readonly world: LocalContext<PublishEvent>
  readonly input: PublishInput
  readonly project: OpenProject
  readonly prepared: CompiledToPublish
  readonly destination: Destination
  readonly describe: Describe
  /** Options with which `publish` produces the same files again. */
  readonly options: readonly string[]
}

/** Message of the commit, with the changes of the objects. */
type Message = MessageInput & Described

/** Publishes a project to its repository. `startedClone` is the clone, if one was started before. */
export async function publishToRepository(
  world: LocalContext<PublishEvent>,
  input: PublishInput,
  { project, startedClone }: { readonly project: OpenProject; readonly startedClone?: StartedClone },
): Promise<PublishOutcome> {
  const prepared = await compileOpened(world, input, project)
  if (!prepared.compiled) return { kind: 'refused', diagnostics: prepared.diagnostics }
  const { compiled, manifests, origin } = prepared
  const destination = destinationOf(world.workspace, input, project, compiled.plan.environment.name)
  const maker = await renderFolders(world, input, { project, compiled, destination, origin }, manifests)
  const describe = describer(world.workspace.secrets, maker, destination.layout)
  const work = { world, input, project, prepared, destination, describe, options: maker.options }
  let message: Message | undefined
  const { target, path } = destination
  const outcome = await publish(
    { target, path, folders: maker.folders, rollback: input.rollback ?? false },
    {
      ...optionsFor(work),
      ...(startedClone && { startedClone }),
      async message(changes) {
        message = await messageInput(world, project, prepared, changes, describe)
        const text = commitMessage(message)
        return world.workspace.secrets?.maskStrictly(text) ?? text
      },
    },
  )
  if (outcome.kind === 'pushed') tellPushed(world, outcome, target.request)
  return outcomeOf(work, outcome, message)
}

function optionsFor({ world, input, project, prepared, destination }: Work): Omit<PublishOptions, 'message'> {
  const { workspace, signal, on } = world
  const { target, path } = destination
  const git = { env: workspace.env, signal }
  return {
    ...git,
    dryRun: Boolean(input.dryRun || input.verify),
    verify: input.verify ?? false,
    closeRequest: base =>
      closeRequest(world, requestPlace(input, project, destination), { head: target.request!, base }),
    isAncestor: (older, newer) => isAncestor(older, newer, prepared.compiled.directory, git),
    tellMissing: warnMissing(world, path),
    tell: fetchedEvents(on, target.address),
  }
}

/**
 * Returns the outcome of the publish. Opens the pull request if one is requested. `message` is set if a commit was
 * created.
 */
async function outcomeOf(work: Work, outcome: Outcome, message: Message | undefined): Promise<PublishOutcome> {
  const { world, project, prepared, destination, describe } = work
  const { target } = destination
  const base = { ...renderedOf(prepared.compiled, await prepared.origin, project), ...placeOf(destination) }
  switch (outcome.kind) {
    case 'unchanged': {
      const { kind, branch, head: commit, request: withdrawn } = outcome
      return { ...base, kind, branch, commit, ...(withdrawn !== undefined && { withdrawn }) }
    }
    case 'newer': {
      const { kind, source: newer, isRequest } = outcome
      return { ...base, kind, newer, isRequest }
    }
    case 'planned': {
      const { changes, ...planned } = outcome
      return { ...base, ...planned, change: await plannedChange(changes, describe) }
    }
    case 'requested': {
      const { kind, branch, commit } = outcome
      return { ...base, kind, branch, commit, request: await request(work, branch, message!) }
    }
    case 'pushed': {
      const { branch, before, commit } = outcome.pushed
      const made = { branch, before, commit, subject: subjectOf(message!), objects: objectsIn(message!) }
      if (target.request !== undefined)
        return { ...base, kind: 'pushed', ...made, request: await request(work, branch, message!) }
      const page = await commitPage(world, target.address.url, commit)
      return { ...base, kind: 'pushed', ...made, ...(page !== undefined && { page }) }
    }
  }
}

/** Opens the pull request from the pushed branch into the branch `base`. */
function request(
  { world, input, project, prepared, destination, options }: Work,
  base: string,
  message: Message,
): Promise<OpenedRequest> {
  const head = destination.target.request!
  const { diagnostics } = prepared.compiled
  // The commit may not determine these images.
  const images = [...message.images].filter(([service, image]) => input.image?.has(service) || isPinned(image))
  const shown = { head, path: destination.path, diagnostics, options: [...options, ...imageOptions(images)] }
  const text = requestTextOf(message, shown, world.workspace.secrets)
  return openRequest(world, requestPlace(input, project, destination), { ...text, head, base })
}

const requestPlace = (
  { forge }: PublishInput,
  { environment }: OpenProject,
  { target }: Destination,
): RequestPlace => ({ address: target.address, forge, environment })

const placeOf = ({ path, target: { request } }: Destination) => ({
  to: 'repository' as const,
  path,
  ...(request !== undefined && { requestBranch: request }),
})

function tellPushed(
  { on }: LocalContext<PublishEvent>,
  { pushed, changes }: Extract<Outcome, { readonly kind: 'pushed' }>,
  request: string | undefined,
): void {
  const { branch, before, commit, retries } = pushed
  for (const change of changes) on({ type: 'written', folder: countsOf(change) })
  on({ type: 'pushed', branch: request ?? branch, ...(before !== undefined && { before }), commit, retries })
}

async function commitPage({ workspace }: LocalContext, address: string, commit: string): Promise<string | undefined> {
  const { forgeOf } = await import('../../../adapters/forge/forge-of.ts')
  return forgeOf(address, workspace.env)?.commitPage(commit)
}
