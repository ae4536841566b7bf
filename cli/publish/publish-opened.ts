import { isAncestor } from '../../adapters/git/ancestry.ts'
import type { Rejection } from '../../adapters/git/rejection.ts'
import type { Beginning } from '../../operations/gitops/beginning.ts'
import { commitMessage, type MessageInput } from '../../operations/gitops/message.ts'
import { type PublishOptions, publish } from '../../operations/gitops/publication.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { Context } from '../command.ts'
import { showingEdits } from '../edit-diff.ts'
import type { Progress } from '../progress/events.ts'
import { compileOpened, describer, messageInput } from './compile-opened.ts'
import { destinationOf } from './destination.ts'
import { folderMaker } from './folder-maker.ts'
import { changedText, tellOutcome } from './outcome.ts'
import type { PublishValues } from './publish-values.ts'
import { closeRequest } from './pull-request.ts'
import { tellFetched } from './tell-fetched.ts'

/** Publishes a project whose repository may be on its way already. Gives the exit status. */
export async function publishOpened(
  context: Context,
  options: PublishValues,
  { project, beginning }: { readonly project: OpenProject; readonly beginning?: Beginning },
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { io } = context
  const prepared = await compileOpened(context, options, project, progress, signal)
  if (!prepared) return 1
  const { compiled, manifests, origin } = prepared
  const application = compiled.plan.environment.name
  const destination = destinationOf(io, options, project, application)
  const git = { env: io.env, signal }
  const maker = await folderMaker(context, options, { project, compiled, destination, origin, signal }, manifests)
  let message: MessageInput | undefined
  const describe = describer(io, maker, destination.layout)
  const publication = {
    target: destination.target,
    path: destination.path,
    folders: maker.folders,
    rollback: options.rollback,
  }
  const working: PublishOptions = {
    ...git,
    ...(beginning && { beginning }),
    dryRun: options.dryRun || options.verify,
    closeRequest: base => closeRequest(context, { destination, project, forge: options.forge, signal }, base),
    isAncestor: (older, newer) => isAncestor(older, newer, compiled.directory, git),
    async message(changes) {
      message = await messageInput(io, project, prepared, changes, describe)
      const text = commitMessage(message)
      return io.secrets?.mask(text) ?? text
    },
    tell: tellFetched(progress, destination.target.address),
  }
  const outcome = await showingEdits(io, () => publish(publication, working), progress.pause)
  if (outcome.kind === 'pushed') {
    const { branch, before, commit, retries } = outcome.pushed
    for (const change of outcome.changes) progress.tell({ type: 'step', step: 'Written', text: changedText(change) })
    const from = before === undefined ? '' : `${before.slice(0, 7)} → `
    const name = destination.target.request ?? branch
    progress.tell({ type: 'step', step: 'Pushed', text: `${name} ${from}${commit.slice(0, 7)}${triesText(retries)}` })
  }
  progress.pause()
  return tellOutcome(context, options, outcome, {
    destination,
    project,
    compiled,
    origin: await origin,
    message,
    describe,
    forge: options.forge,
    signal,
  })
}

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

function triesText(retries: readonly Rejection[]): string {
  const last = retries.at(-1)
  if (last === undefined) return ''
  const which = ORDINALS[retries.length - 1] ?? `${retries.length + 1}th`
  return ` (${which} try: ${last === 'race' ? 'another push came first' : 'the connection broke'})`
}
