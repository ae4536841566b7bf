import { plural } from '../../compiler/diagnostics/render/summary.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { LayoutName } from '../../operations/gitops/layout/readme.ts'
import type { MessageInput } from '../../operations/gitops/message.ts'
import type { FolderChange } from '../../operations/gitops/publication.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { Context } from '../command.ts'
import type { Progress } from '../progress/events.ts'
import { changedObjects } from './changed-objects.ts'
import { type CompiledForRepository, compileForRepository } from './compile-for-repository.ts'
import { type Origin, originOf } from './facts.ts'
import type { FolderMaker } from './folder-maker.ts'
import { forController } from './for-controllers.ts'
import { fileCounts } from './outcome.ts'
import type { PublishValues } from './publish-values.ts'
import type { Described } from './published.ts'

/** A project that is compiled to be published. */
export interface CompiledToPublish {
  readonly compiled: CompiledForRepository
  /** As controllers get them. */
  readonly manifests: readonly Manifest[]
  /** What git says of the source, which may still be on its way. */
  readonly origin: Promise<Origin>
}

/** Compiles a project, and tells so. Undefined after errors, which are printed. */
export async function compileOpened(
  context: Context,
  options: PublishValues,
  project: OpenProject,
  progress: Progress,
  signal: AbortSignal,
): Promise<CompiledToPublish | undefined> {
  const consequence = 'nothing was published'
  const compiled = await compileForRepository(context, options, project, { consequence, signal })
  if (!compiled) return undefined
  const environment = project.environment?.key
  const manifests = forController(compiled, project)
  const to = environment === undefined ? '' : ` for ${environment}`
  progress.tell({ type: 'step', step: 'Compiled', text: `${plural(manifests.length, 'object')}${to}` })
  // git looks at the source while what is there comes.
  const origin = originOf(compiled, { env: context.io.env, signal })
  origin.catch(() => {})
  return { compiled, manifests, origin }
}

/** Says what becomes of objects, or of files alone, where those that are there cannot be read. */
export const describer =
  (io: Context['io'], maker: FolderMaker, layout: LayoutName) =>
  async (changes: readonly FolderChange[]): Promise<Described> => {
    const described = await changedObjects(changes, maker.manifests(), layout, io.secrets)
    return described ? { changes: described } : { changes: [], files: fileCounts(changes) }
  }

/** What is said of a publish. Warns where the source is in no commit. */
export async function messageInput(
  io: Context['io'],
  { environment }: OpenProject,
  { compiled: { plan }, origin }: CompiledToPublish,
  changes: readonly FolderChange[],
  describe: ReturnType<typeof describer>,
): Promise<MessageInput> {
  const { commit: source, repository, page } = await origin
  if (source?.isDirty) io.stderr.write(`warning: ${UNCOMMITTED}\n`)
  return {
    application: plan.environment.name,
    environment: environment?.key,
    images: plan.images,
    imagesBefore: changes[0]?.change.before?.facts?.images ?? {},
    repository,
    page,
    source,
    ...(await describe(changes)),
  }
}

const UNCOMMITTED =
  'the source has changes that are in no commit: nobody can make the same again, and it cannot be promoted'
