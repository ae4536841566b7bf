import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { isAncestor } from '../../gitops/ancestry.ts'
import type { Beginning } from '../../gitops/beginning.ts'
import { commitMessage, type MessageInput } from '../../gitops/message.ts'
import { type FolderChange, type PublishOptions, publish } from '../../gitops/publication.ts'
import type { Rejection } from '../../gitops/rejection.ts'
import type { Context } from '../command.ts'
import { showingEdits } from '../edit-diff.ts'
import type { OpenProject } from '../open-project.ts'
import type { Progress } from '../progress/progress.ts'
import { changedObjects } from './changed-objects.ts'
import { compileForRepository } from './compile-for-repository.ts'
import { destinationOf } from './destination.ts'
import { originOf } from './facts.ts'
import { folderMaker } from './folder-maker.ts'
import { forController } from './for-controllers.ts'
import { changedText, type Described, fileCounts, tellOutcome } from './outcome.ts'
import type { PublishValues } from './publish-application.ts'
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
  const compiled = await compileForRepository(context, options, project, {
    consequence: 'nothing was published',
    signal,
  })
  if (!compiled) return 1
  const { plan } = compiled
  const application = plan.environment.name
  const environment = project.environment?.key
  const manifests = forController(compiled, project)
  const to = environment === undefined ? '' : ` for ${environment}`
  progress.tell({ type: 'step', step: 'Compiled', text: `${plural(manifests.length, 'object')}${to}` })

  const destination = destinationOf(io, options, project, application)
  const git = { env: io.env, signal }
  // git looks at the source while the repository's files come.
  const origin = originOf(compiled, git)
  origin.catch(() => {})
  const maker = await folderMaker(context, options, { project, compiled, destination, origin }, manifests)
  let message: MessageInput | undefined
  const describe = async (changes: readonly FolderChange[]): Promise<Described> => {
    const described = await changedObjects(changes, maker.manifests(), destination.layout, io.secrets)
    return described ? { changes: described } : { changes: [], files: fileCounts(changes) }
  }
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
      const { commit: source, repository, page } = await origin
      if (source?.isDirty) io.stderr.write(`warning: ${UNCOMMITTED}\n`)
      const imagesBefore = changes[0]?.change.before?.facts?.images ?? {}
      const { images } = plan
      message = {
        application,
        environment,
        images,
        imagesBefore,
        repository,
        page,
        source,
        ...(await describe(changes)),
      }
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

const UNCOMMITTED =
  'the source has changes that are in no commit: nobody can make the same again, and it cannot be promoted'

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

function triesText(retries: readonly Rejection[]): string {
  const last = retries.at(-1)
  if (last === undefined) return ''
  const which = ORDINALS[retries.length - 1] ?? `${retries.length + 1}th`
  return ` (${which} try: ${last === 'race' ? 'another push came first' : 'the connection broke'})`
}
