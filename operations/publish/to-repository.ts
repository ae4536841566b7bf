import { isAncestor } from '../../adapters/git/ancestry.ts'
import { commitMessage, type MessageInput, subjectOf } from '../gitops/message.ts'
import { type Outcome, type PublishOptions, publish } from '../gitops/publication.ts'
import type { StartedClone } from '../gitops/started-clone.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { LocalWorld } from '../session.ts'
import {
  compileOpened,
  type Described,
  describer,
  messageInput,
  objectsIn,
  plannedChange,
  renderedOf,
} from './compile-opened.ts'
import { type Destination, destinationOf } from './destination.ts'
import { fetchedEvents } from './fetched-events.ts'
import { countsOf } from './folder-counts.ts'
import { folderMaker } from './folder-maker.ts'
import type { PublishInput } from './input.ts'
import type { PublishOutcome } from './outcome.ts'
import { closeRequest, type OpenedRequest, openRequest, requestTextOf } from './request.ts'

/** Publishes a project whose repository may be on its way already. */
export async function publishToRepository(
  world: LocalWorld,
  input: PublishInput,
  { project, startedClone }: { readonly project: OpenProject; readonly startedClone?: StartedClone },
): Promise<PublishOutcome> {
  const { workspace, signal, on } = world
  const { secrets } = workspace
  const prepared = await compileOpened(world, input, project)
  if (!prepared.compiled) return { kind: 'refused', diagnostics: prepared.diagnostics }
  const { compiled, manifests, origin } = prepared
  const { plan, directory, diagnostics } = compiled
  const destination = destinationOf(workspace, input, project, plan.environment.name)
  const { target, path, layout } = destination
  const git = { env: workspace.env, signal }
  const place = { address: target.address, forge: input.forge, environment: project.environment }
  const maker = await folderMaker(world, input, { project, compiled, destination, origin }, manifests)
  let message: (MessageInput & Described) | undefined
  const describe = describer(secrets, maker, layout)
  const publication = { target, path, folders: maker.folders, rollback: input.rollback ?? false }
  const working: PublishOptions = {
    ...git,
    ...(startedClone && { startedClone }),
    dryRun: Boolean(input.dryRun || input.verify),
    closeRequest: base => closeRequest(world, place, { head: target.request!, base }),
    isAncestor: (older, newer) => isAncestor(older, newer, directory, git),
    async message(changes) {
      message = await messageInput(world, project, prepared, changes, describe)
      const text = commitMessage(message)
      return secrets?.mask(text) ?? text
    },
    tell: fetchedEvents(on, target.address),
  }
  const request = (base: string): Promise<OpenedRequest> => {
    const head = target.request!
    return openRequest(world, place, { ...requestTextOf(message!, { head, path, diagnostics }, secrets), head, base })
  }
  const outcome = await publish(publication, working)
  if (outcome.kind === 'pushed') tellPushed(world, outcome, target.request)
  const base = { ...renderedOf(compiled, await origin, project), ...placeOf(destination) }
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
      const { kind, branch, changes } = outcome
      return { ...base, kind, branch, change: await plannedChange(changes, describe) }
    }
    case 'requested': {
      const { kind, branch, commit } = outcome
      return { ...base, kind, branch, commit, request: await request(branch) }
    }
    case 'pushed': {
      const { branch, before, commit } = outcome.pushed
      const made = { branch, before, commit, subject: subjectOf(message!), objects: objectsIn(message!) }
      if (target.request !== undefined) return { ...base, kind: 'pushed', ...made, request: await request(branch) }
      const page = await commitPage(world, target.address.url, commit)
      return { ...base, kind: 'pushed', ...made, ...(page !== undefined && { page }) }
    }
  }
}

const placeOf = ({ path, target: { request } }: Destination) => ({
  to: 'repository' as const,
  path,
  ...(request !== undefined && { requestBranch: request }),
})

function tellPushed(
  { on }: LocalWorld,
  { pushed, changes }: Extract<Outcome, { readonly kind: 'pushed' }>,
  request: string | undefined,
): void {
  const { branch, before, commit, retries } = pushed
  for (const change of changes) on({ type: 'written', folder: countsOf(change) })
  on({ type: 'pushed', branch: request ?? branch, ...(before !== undefined && { before }), commit, retries })
}

async function commitPage({ workspace }: LocalWorld, address: string, commit: string): Promise<string | undefined> {
  const { forgeOf } = await import('../../adapters/forge/forge-of.ts')
  return forgeOf(address, workspace.env)?.commitPage(commit)
}
