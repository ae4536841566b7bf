import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { takePushLock } from '../../adapters/git/push-lock.ts'
import { withTemporary } from '../../adapters/git/temporary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { LOCK_NAME, printLock } from '../../project/lock.ts'
import { type FolderChange, isSame, planFolder, type Repository } from '../repository/publication.ts'
import type { PublishedFolder } from '../repository/published-folder.ts'
import { type IsAncestor, type MissingSource, orderOf, type SourceOrder } from '../repository/source-order.ts'
import { OverwriteRefusal } from '../repository/tree/overwrite-refusal.ts'
import { readerOf } from '../repository/tree/repository-reader.ts'
import { pack, unpack } from './archive.ts'

/** A folder to publish under a tag of a registry. */
export interface ArtifactPublication {
  /** Reference as users write it: `registry.example.com/team/shop:staging`. */
  readonly reference: string
  /** Returns the folder to publish, given the tag's current content. The path of the folder is `.`. */
  readonly folder: (there: Repository) => Promise<PublishedFolder>
  /** Returns the annotations of the artifact's manifest, which must depend on the source alone. */
  readonly annotations: () => Promise<Readonly<Record<string, string>>>
  /** True to publish even if the source is older than the published source. */
  readonly rollback: boolean
}

/** Operations of the registry that a publish needs. */
export interface ArtifactRegistry {
  find(): Promise<{ readonly digest: string; readonly layer?: Uint8Array } | undefined>
  /** Pushes the layer, unless the tag no longer points to `expected`; returns undefined in that case. */
  push(
    layer: Uint8Array,
    annotations: Readonly<Record<string, string>>,
    expected: string | undefined,
  ): Promise<PushedArtifact | undefined>
}

export interface PushedArtifact {
  readonly digest: string
  /** Tag that only this artifact has. */
  readonly ownTag: string
}

export type ArtifactOutcome =
  | { readonly kind: 'unchanged'; readonly digest: string }
  /**
   * The tag's content comes from a newer source commit (`source`): the commit to publish is an ancestor of `source`.
   */
  | { readonly kind: 'newer'; readonly source: string; readonly digest: string }
  /** Changes that would be made (`--dry-run`, `--verify`). */
  | {
      readonly kind: 'planned'
      readonly digest: string | undefined
      readonly changes: readonly FolderChange[]
      /** Newer source commit that the tag already represents. */
      readonly newer?: string
    }
  | {
      readonly kind: 'pushed'
      readonly before: string | undefined
      readonly pushed: PushedArtifact
      readonly changes: readonly FolderChange[]
    }

export interface ArtifactOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** True to push nothing and only compute the changes. */
  readonly dryRun: boolean
  /** True to compare the files even if the tag already has a newer source. Implies `dryRun`. */
  readonly verify: boolean
  /** True to replace content even if devctl did not push it. */
  readonly takeOver: boolean
  readonly isAncestor: IsAncestor
  /**
   * Receives a published commit that the new source does not contain, so that this publish undoes the changes of the
   * commit.
   */
  readonly tellMissing: (missing: MissingSource) => void
  /** Receives the digest of the tag each time the tag is read; undefined if the tag does not exist. */
  readonly tell?: (digest: string | undefined) => void
}

/**
 * Points a tag to an artifact of the folder; pushes nothing if the files are unchanged. If another push moves the tag
 * before this one has finished, starts over from the new content of the tag. Throws a UserError, and leaves the tag
 * unchanged, if the publish cannot proceed.
 */
export async function publishArtifact(
  publication: ArtifactPublication,
  registry: ArtifactRegistry,
  options: ArtifactOptions,
): Promise<ArtifactOutcome> {
  const { env, signal, dryRun } = options
  const lock = dryRun ? undefined : await takePushLock(env, `oci://${publication.reference}`, signal)
  try {
    for (;;) {
      signal.throwIfAborted()
      const outcome = await once(publication, registry, options)
      if (outcome) return outcome
    }
  } finally {
    lock?.end()
  }
}

/** Publishes once. Returns undefined if another push came first. */
async function once(
  publication: ArtifactPublication,
  registry: ArtifactRegistry,
  options: ArtifactOptions,
): Promise<ArtifactOutcome | undefined> {
  const found = await registry.find()
  options.tell?.(found?.digest)
  const files = filesOf(publication.reference, found, options)
  return withTemporary(options.env, async top => {
    write(top, files, publication.reference)
    const folder = await publication.folder(unrequested(top))
    const change = withOthers(planFolder(top, folder, publication.reference), files)
    refuseOthers(publication.reference, change, folder)
    const order = await orderIn(publication, change, folder, options)
    const newer = order?.is === 'newer' ? order.source : undefined
    if (newer !== undefined && !options.verify) return { kind: 'newer', source: newer, digest: found!.digest }
    if (found && isSame(change)) return { kind: 'unchanged', digest: found.digest }
    if (order?.is === 'missing') options.tellMissing({ ...order, isRequest: false })
    if (options.dryRun)
      return { kind: 'planned', digest: found?.digest, changes: [change], ...(newer !== undefined && { newer }) }
    const layer = pack(new Map([...folder.output.files, [LOCK_NAME, printLock(change.change.after)]]))
    const pushed = await registry.push(layer, await publication.annotations(), found?.digest)
    return pushed && { kind: 'pushed', before: found?.digest, pushed, changes: [change] }
  })
}

/**
 * Returns the files of the existing artifact. Throws a UserError for content that devctl did not push; with `takeOver`,
 * all of that content is replaced.
 */
function filesOf(
  reference: string,
  found: { readonly layer?: Uint8Array } | undefined,
  { takeOver }: ArtifactOptions,
): ReadonlyMap<string, string> {
  const files = found?.layer ? unpack(found.layer) : found ? undefined : new Map<string, string>()
  if (files) return files
  if (takeOver) return new Map()
  throw new UserError(`\`${reference}\` is an image, or an artifact that devctl did not push`, {
    hint: 'name another tag or repository; `--take-over` replaces it',
  })
}

function write(top: string, files: ReadonlyMap<string, string>, reference: string): void {
  try {
    for (const [path, text] of files) {
      mkdirSync(join(top, dirname(path)), { recursive: true })
      writeFileSync(join(top, path), text)
    }
  } catch (cause) {
    throw new UserError(`\`${reference}\` contains files that cannot be unpacked`, { cause, hint: 'name another tag' })
  }
}

/**
 * Returns the plan with the removal of all files that devctl did not write. A push replaces the full artifact, unlike a
 * commit to a repository, so these files would disappear.
 */
function withOthers(planned: FolderChange, files: ReadonlyMap<string, string>): FolderChange {
  const { change } = planned
  const others = [...files].filter(([path]) => path !== LOCK_NAME && !isOurs(path, change))
  const edits = others.map(([path, there]) => ({ path, there, isOurs: false }))
  return {
    ...planned,
    change: {
      ...change,
      removals: [...change.removals, ...others.map(([path]) => path)],
      edits: [...change.edits, ...edits],
    },
  }
}

const isOurs = (path: string, { before, after }: FolderChange['change']) =>
  before?.files.has(path) || after.files.has(path)

function refuseOthers(
  reference: string,
  { change: { edits } }: FolderChange,
  { output: { takeOver, isOnlyLooked } }: PublishedFolder,
): void {
  if (!takeOver && !isOnlyLooked && edits.length > 0) throw new OverwriteRefusal(reference, [], edits)
}

/**
 * Compares the source commit of the existing artifact (`source`) with the commit to publish (`ours`). Undefined if one
 * of the commits is unknown, or for a rollback.
 */
async function orderIn(
  { rollback }: ArtifactPublication,
  { change: { before } }: FolderChange,
  { output }: PublishedFolder,
  { isAncestor }: ArtifactOptions,
): Promise<{ readonly is: SourceOrder; readonly source: string; readonly ours: string } | undefined> {
  const [source, ours] = [before?.facts?.source.commit, output.facts?.source.commit]
  if (rollback || source === undefined || ours === undefined) return undefined
  return { is: await orderOf(source, ours, isAncestor), source, ours }
}

/** Returns the content of a folder in the form of a repository without pull requests, because a registry has none. */
const unrequested = (top: string): Repository => ({
  ...readerOf(top),
  request: { lock: async () => undefined, read: async () => undefined },
})
