import { isAncestor } from '../../../adapters/git/ancestry.ts'
import { toArtifact } from '../../../adapters/registry/artifact-manifest.ts'
import { type ArtifactStore, openArtifacts } from '../../../adapters/registry/artifact-store.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { LocalContext } from '../../../project/session.ts'
import {
  type ArtifactOptions,
  type ArtifactOutcome,
  type ArtifactRegistry,
  publishArtifact,
} from '../../artifact/publish.ts'
import { changeLines, subjectOf } from '../../repository/message.ts'
import type { FolderChange } from '../../repository/publication.ts'
import {
  type CompiledToPublish,
  compileOpened,
  type Describe,
  describer,
  messageInput,
  objectsIn,
  plannedChange,
  renderedOf,
} from '../compile/compile-opened.ts'
import { renderFolders } from '../compile/render-folders.ts'
import type { PublishEvent } from '../events.ts'
import type { Origin } from '../facts.ts'
import { countsOf } from '../folder-counts.ts'
import type { PublishInput } from '../input.ts'
import { warnMissing } from '../missing-source.ts'
import type { PublishOutcome } from '../outcome.ts'
import type { ArtifactDestination } from './artifact-destination.ts'

/** Publishes a project as a registry artifact. */
export async function publishToRegistry(
  world: LocalContext<PublishEvent>,
  input: PublishInput,
  { project, destination }: { readonly project: OpenProject; readonly destination: ArtifactDestination },
): Promise<PublishOutcome> {
  const { workspace, signal, on } = world
  const prepared = await compileOpened(world, input, project)
  if (!prepared.compiled) return { kind: 'refused', diagnostics: prepared.diagnostics }
  const { compiled, manifests, origin } = prepared
  const { reference, layout } = destination
  const git = { env: workspace.env, signal }
  const folder = { path: '.', layout }
  const maker = await renderFolders(world, input, { project, compiled, destination: folder, origin }, manifests)
  const dryRun = Boolean(input.dryRun || input.verify)
  const working: ArtifactOptions = {
    ...git,
    dryRun,
    verify: input.verify ?? false,
    takeOver: input.takeOver ?? false,
    isAncestor: (older, newer) => isAncestor(older, newer, compiled.directory, git),
    tellMissing: warnMissing(world, reference),
    tell: digest => on({ type: 'tag-read', reference, ...(digest !== undefined && { digest }) }),
  }
  const publication = {
    reference,
    // Only one folder exists without overlays.
    folder: async (there: Parameters<typeof maker.folders>[0]) => (await maker.folders(there))[0]!,
    annotations: async () => annotationsOf(await origin),
    rollback: input.rollback ?? false,
  }
  const store = openArtifacts(destination, { ...git, mayPush: !dryRun })
  try {
    const outcome = await publishArtifact(publication, registryAt(store, destination), working)
    const describe = describer(workspace.secrets, maker, layout)
    return await outcomeOf({ world, project, prepared, destination, describe }, outcome)
  } finally {
    store.close()
  }
}

/** Published application, and its destination. */
interface Work {
  readonly world: LocalContext<PublishEvent>
  readonly project: OpenProject
  readonly prepared: CompiledToPublish
  readonly destination: ArtifactDestination
  readonly describe: Describe
}

/** Returns the outcome of the publish with the changes of the artifact. Reports the push, if there was one. */
async function outcomeOf(work: Work, outcome: ArtifactOutcome): Promise<PublishOutcome> {
  const { world, project, prepared, destination, describe } = work
  const { reference } = destination
  const base = { ...renderedOf(prepared.compiled, await prepared.origin, project), ...placeOf(destination) }
  switch (outcome.kind) {
    case 'unchanged':
      return { ...base, ...outcome }
    case 'newer': {
      const { kind, source: newer, digest } = outcome
      return { ...base, kind, newer, digest }
    }
    case 'planned': {
      const { changes, ...planned } = outcome
      const shown = changes.map(change => named(change, reference))
      return { ...base, ...planned, change: await plannedChange(shown, describe) }
    }
    case 'pushed': {
      const message = await messageInput(world, project, prepared, outcome.changes, describe)
      tellPushed(world, outcome, reference)
      const { kind, before, pushed } = outcome
      const words = { subject: subjectOf(message), lines: changeLines(message), objects: objectsIn(message) }
      return { ...base, kind, before, ...pushed, ...words }
    }
  }
}

const placeOf = ({ name, tag, reference }: ArtifactDestination) => ({ to: 'registry' as const, name, tag, reference })

/**
 * Returns the change of a folder with the artifact's reference as its path, because users know the folder by this
 * reference.
 */
const named = (change: FolderChange, reference: string): FolderChange => ({ ...change, path: reference })

function tellPushed(
  { on }: LocalContext<PublishEvent>,
  { before, pushed, changes }: Extract<ArtifactOutcome, { readonly kind: 'pushed' }>,
  reference: string,
): void {
  for (const change of changes) on({ type: 'written', folder: countsOf(named(change, reference)) })
  on({ type: 'artifact-pushed', reference, ...(before !== undefined && { before }), ...pushed })
}

/**
 * Returns the annotations that name the source of the artifact
 * (https://github.com/opencontainers/image-spec/blob/main/annotations.md). They depend on the source alone: even the
 * creation time is the time of the source commit.
 */
function annotationsOf({ commit, page, repository }: Origin): Readonly<Record<string, string>> {
  const source = page ?? repository
  return {
    ...(source !== undefined && { 'org.opencontainers.image.source': source }),
    // Uncommitted files have no revision.
    ...(commit && !commit.isDirty && { 'org.opencontainers.image.revision': commit.commit }),
    ...(commit && { 'org.opencontainers.image.created': commit.date }),
  }
}

/**
 * Returns the registry operations for a tag. Each push also creates a second tag for the new artifact alone: registries
 * remove artifacts without tags, but a rollback needs the artifact that the first tag pointed to before.
 */
function registryAt(store: ArtifactStore, { tag }: ArtifactDestination): ArtifactRegistry {
  return {
    find: store.find,
    async push(layer, annotations, expected) {
      const artifact = toArtifact(layer, annotations)
      const { digest } = artifact.manifest
      const ownTag = `${tag.slice(0, 100)}-${digest.replace(/^sha256:/, '').slice(0, 12)}`
      return (await store.push(artifact, expected, [ownTag])) ? { digest, ownTag } : undefined
    },
  }
}
