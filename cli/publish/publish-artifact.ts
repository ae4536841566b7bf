import { isAncestor } from '../../adapters/git/ancestry.ts'
import { toArtifact } from '../../adapters/registry/artifact-manifest.ts'
import { type ArtifactStore, openArtifacts } from '../../adapters/registry/artifact-store.ts'
import {
  type ArtifactOptions,
  type ArtifactRegistry,
  publishArtifact,
} from '../../operations/gitops/artifact/publish.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { Context } from '../command.ts'
import { showingEdits } from '../edit-diff.ts'
import type { Progress } from '../progress/events.ts'
import type { ArtifactDestination } from './artifact-destination.ts'
import { tellArtifact } from './artifact-outcome.ts'
import { compileOpened, describer, messageInput } from './compile-opened.ts'
import type { Origin } from './facts.ts'
import { folderMaker } from './folder-maker.ts'
import { changedText } from './outcome.ts'
import type { PublishValues } from './publish-values.ts'

/** Publishes a project as an artifact of a registry. Gives the exit status. */
export async function publishAsArtifact(
  context: Context,
  options: PublishValues,
  { project, destination }: { readonly project: OpenProject; readonly destination: ArtifactDestination },
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { io } = context
  const prepared = await compileOpened(context, options, project, progress, signal)
  if (!prepared) return 1
  const { compiled, manifests, origin } = prepared
  const { reference, layout } = destination
  const git = { env: io.env, signal }
  const folder = { path: '.', layout }
  const maker = await folderMaker(
    context,
    options,
    { project, compiled, destination: folder, origin, signal },
    manifests,
  )
  const dryRun = options.dryRun || options.verify
  const working: ArtifactOptions = {
    ...git,
    dryRun,
    takeOver: options.takeOver,
    isAncestor: (older, newer) => isAncestor(older, newer, compiled.directory, git),
    tell: digest => progress.tell({ type: 'step', step: 'Found', text: `${reference} ${foundText(digest)}` }),
  }
  const publication = {
    reference,
    // Without overlays there is one.
    folder: async (there: Parameters<typeof maker.folders>[0]) => (await maker.folders(there))[0]!,
    annotations: async () => annotationsOf(await origin),
    rollback: options.rollback,
  }
  const store = openArtifacts(destination, { ...git, mayPush: !dryRun })
  try {
    const registry = registryAt(store, destination)
    const outcome = await showingEdits(io, () => publishArtifact(publication, registry, working), progress.pause)
    const describe = describer(io, maker, layout)
    const message =
      outcome.kind === 'pushed' ? await messageInput(io, project, prepared, outcome.changes, describe) : undefined
    if (outcome.kind === 'pushed') {
      const { before, pushed, changes } = outcome
      const from = before === undefined ? '' : `${shortDigest(before)} → `
      for (const change of changes)
        progress.tell({ type: 'step', step: 'Written', text: changedText({ ...change, path: reference }) })
      const text = `${reference} ${from}${shortDigest(pushed.digest)}, also ${pushed.ownTag}`
      progress.tell({ type: 'step', step: 'Pushed', text })
    }
    progress.pause()
    const published = { destination, compiled, origin: await origin, describe, message }
    return await tellArtifact(context, options, outcome, published)
  } finally {
    store.close()
  }
}

const shortDigest = (digest: string) => digest.replace(/^sha256:/, '').slice(0, 7)

const foundText = (digest: string | undefined) => (digest === undefined ? 'is not there yet' : shortDigest(digest))

/** Where the artifact comes from (https://github.com/opencontainers/image-spec/blob/main/annotations.md): it follows from the source, and has no time but that of its commit. */
function annotationsOf({ commit, page, repository }: Origin): Readonly<Record<string, string>> {
  const source = page ?? repository
  return {
    ...(source !== undefined && { 'org.opencontainers.image.source': source }),
    // Of files that are in no commit there is no revision.
    ...(commit && !commit.isDirty && { 'org.opencontainers.image.revision': commit.commit }),
    ...(commit && { 'org.opencontainers.image.created': commit.date }),
  }
}

/** Pushes under a tag of the artifact's own, too: registries remove what has no tag, and to go back takes what was there. */
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
