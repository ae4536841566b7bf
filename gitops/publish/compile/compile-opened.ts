import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import type { KnownSecrets } from '../../../compiler/values/secrets/known-secrets.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import type { ObjectDiff } from '../../../environment/plan/diff.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { LocalContext } from '../../../project/session.ts'
import type { LayoutName } from '../../repository/layout/readme.ts'
import type { MessageInput } from '../../repository/message.ts'
import type { FolderChange } from '../../repository/publication.ts'
import { changedObjects } from '../changed-objects.ts'
import { differingFiles } from '../differing-files.ts'
import type { PublishEvent } from '../events.ts'
import { type Origin, originOf } from '../facts.ts'
import { countsOf, fileCounts } from '../folder-counts.ts'
import type { PublishInput } from '../input.ts'
import type { PlannedChange, Rendered } from '../outcome.ts'
import { type CompiledForRepository, compileForRepository } from './compile-for-repository.ts'
import { forController } from './for-controllers.ts'
import type { RenderFolders } from './render-folders.ts'
import { sourcesOf } from './sources.ts'

/** A project that was compiled to be published. */
export interface CompiledToPublish {
  readonly compiled: CompiledForRepository
  /** Manifests with the annotations for controllers, and with the options of the environment (`forController`). */
  readonly manifests: readonly Manifest[]
  /** Source as reported by git; a promise, because git may still be running. */
  readonly origin: Promise<Origin>
}

/** Compiles a project and reports its diagnostics. After errors, returns only `diagnostics`. */
export async function compileOpened(
  { workspace, on, signal }: LocalContext<PublishEvent>,
  input: PublishInput,
  project: OpenProject,
): Promise<CompiledToPublish | { readonly compiled?: undefined; readonly diagnostics: readonly Diagnostic[] }> {
  const { diagnostics, compiled } = await compileForRepository(
    { workspace, on, signal },
    { ...input, build: input.build && !input.dryRun && !input.verify },
    project,
  )
  on({ type: 'diagnostics', diagnostics })
  if (!compiled) return { diagnostics }
  const environment = project.environment?.key
  const manifests = forController(compiled, project)
  on({ type: 'compiled', objects: manifests.length, ...(environment !== undefined && { environment }) })
  // git reads the source while the repository is fetched.
  const origin = originOf(compiled, { env: workspace.env, signal })
  origin.catch(() => {})
  return { compiled, manifests, origin }
}

/** Returns the part of an outcome that describes the compiled application. */
export const renderedOf = (
  { plan, manifests }: CompiledForRepository,
  { commit }: Origin,
  { environment }: OpenProject,
): Rendered => ({
  application: plan.environment.name,
  ...(environment && { environment: environment.key }),
  sources: sourcesOf(manifests),
  sourceCommit: commit,
})

/** Changes of the objects, or only of the files if the existing objects cannot be read. */
export interface Described {
  readonly changes: readonly ObjectDiff[]
  readonly files?: string
}

/** Describes the changes of the objects in changed folders. */
export type Describe = (changes: readonly FolderChange[]) => Promise<Described>

/**
 * Returns a function that describes the changes of objects, or only of files if the existing objects cannot be read.
 */
export const describer =
  (secrets: KnownSecrets | undefined, maker: RenderFolders, layout: LayoutName): Describe =>
  async changes => {
    const described = await changedObjects(changes, maker.manifests(), layout, secrets)
    return described ? { changes: described } : { changes: [], files: fileCounts(changes) }
  }

/** Returns the object changes of a description; undefined if only files were compared. */
export const objectsIn = ({ changes, files }: Described): readonly ObjectDiff[] | undefined =>
  files === undefined ? changes : undefined

/** Returns the changes that a publish would make to objects and folders, and the files that are not as expected. */
export async function plannedChange(changes: readonly FolderChange[], describe: Describe): Promise<PlannedChange> {
  return {
    objects: objectsIn(await describe(changes)),
    folders: changes.map(countsOf),
    files: changes.flatMap(differingFiles),
  }
}

/** Returns the input for the commit message. Warns if the source is not committed. */
export async function messageInput(
  { on }: LocalContext<PublishEvent>,
  { environment }: OpenProject,
  { compiled: { plan }, origin }: CompiledToPublish,
  changes: readonly FolderChange[],
  describe: Describe,
): Promise<MessageInput & Described> {
  const { commit: source, repository, page } = await origin
  if (source?.isDirty) on({ type: 'warning', text: UNCOMMITTED })
  return {
    application: plan.environment.name,
    environment: environment?.key,
    images: plan.images,
    ...(isRecordOnly(changes) && { isRecordOnly: true }),
    imagesBefore: changes[0]?.change.before?.facts?.images ?? {},
    repository,
    page,
    source,
    ...(await describe(changes)),
  }
}

/** Returns true if only lock files change, and at least one gets different facts about the source. */
const isRecordOnly = (changes: readonly FolderChange[]): boolean =>
  changes.every(({ change }) => change.writes.size + change.removals.length === 0) &&
  changes.some(({ change: { before, after } }) => JSON.stringify(before?.facts) !== JSON.stringify(after.facts))

const UNCOMMITTED = 'the source has uncommitted changes: the result cannot be reproduced or promoted'
