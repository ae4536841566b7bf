import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type Artifact, layerOf, MANIFEST_TYPE } from './artifact-manifest.ts'
import { describeArtifactProblem } from './artifact-problem.ts'
import { blobAt } from './blob.ts'
import { manifestPath, putManifest, unexpected } from './manifest-calls.ts'
import { pushBlob } from './push-blob.ts'
import { type ManifestAddress, manifestAddressOf } from './registry-address.ts'
import { digestAt, digestOf, FORMS } from './registry-client.ts'
import type { RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure } from './registry-problem.ts'
import { RegistrySession, type RegistrySessionOptions } from './registry-session.ts'

/** Maximum size of a layer that is read, in bytes: far above that of any folder of manifests. */
const LARGEST_LAYER = 64 * 1024 * 1024

/** The content that a registry stores under a tag. */
export interface Stored {
  readonly digest: string
  /** Content of the layer; absent for an image, and for artifacts of other programs. */
  readonly layer?: Uint8Array
}

/**
 * Access to the artifact under one tag of a repository. Every method throws a UserError that states which operation
 * failed.
 */
export interface ArtifactStore {
  /** Returns the current content of the tag; undefined if the tag does not exist. */
  find(): Promise<Stored | undefined>
  /**
   * Uploads the blobs, then writes the manifest: first under the further tags, then under the tag of the store. If the
   * digest of the store's tag is no longer `expected`, leaves that tag unchanged and returns false. A registry cannot
   * move a tag conditionally, so the digest is checked immediately before the tag is written.
   */
  push(artifact: Artifact, expected: string | undefined, furtherTags: readonly string[]): Promise<boolean>
  close(): void
}

/**
 * Opens the artifact under a tag of a repository. `name` is the name of the repository, including its registry. The
 * caller closes the store.
 */
export function openArtifacts(
  { name, tag }: { readonly name: string; readonly tag: string },
  { mayPush, ...options }: RegistrySessionOptions & { readonly mayPush: boolean },
): ArtifactStore {
  const session = new RegistrySession(options)
  const address: ManifestAddress = { ...manifestAddressOf({ name, tag }), ...(mayPush && { access: 'push' }) }
  const reference = `${name}:${tag}`
  return {
    find: () => saying('read', reference, () => find(session, address)),
    push: (artifact, expected, furtherTags) =>
      saying('push', reference, () => push(session, address, artifact, { expected, furtherTags })),
    close: () => session.close(),
  }
}

async function saying<Result>(
  purpose: 'read' | 'push',
  reference: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    const { message, notes, hint } = describeArtifactProblem(reference, error.problem, purpose)
    throw new UserError(message, { notes, ...(hint !== undefined && { hint }), cause: error })
  }
}

async function find(session: RegistrySession, address: ManifestAddress): Promise<Stored | undefined> {
  const headers = { accept: FORMS.join(', ') }
  const answer = await session.ask({ method: 'GET', path: manifestPath(address, address.tag), headers }, address)
  if (answer.status === 404) return refuseMissing(session, answer, address)
  if (answer.status !== 200) throw unexpected(answer)
  const digest = digestOf(answer)
  const layer = layerOf(answer.body)
  if (layer === undefined || layer.size > LARGEST_LAYER) return { digest }
  return { digest, layer: await blobAt(session, address, LARGEST_LAYER, layer.digest) }
}

/**
 * Returns undefined if a response indicates that the tag does not exist. Throws a RegistryFailure if the server is not
 * a registry.
 */
async function refuseMissing(
  session: RegistrySession,
  answer: RegistryAnswer,
  address: ManifestAddress,
): Promise<undefined> {
  const problem = await session.missing(answer, address)
  if (problem.kind !== 'missing') throw new RegistryFailure(problem)
}

async function push(
  session: RegistrySession,
  address: ManifestAddress,
  { manifest: made, blobs }: Artifact,
  { expected, furtherTags }: { readonly expected: string | undefined; readonly furtherTags: readonly string[] },
): Promise<boolean> {
  for (const blob of blobs) await pushBlob(session, address, blob)
  const manifest = { ...made, type: MANIFEST_TYPE }
  // If devctl is killed here, it leaves unreferenced blobs, or an artifact under a further tag, which no controller
  // follows yet.
  for (const tag of furtherTags) await putManifest(session, address, manifest, tag)
  if ((await digestOrNone(session, address)) !== expected) return false
  await putManifest(session, address, manifest, address.tag)
  return true
}

async function digestOrNone(session: RegistrySession, address: ManifestAddress): Promise<string | undefined> {
  try {
    return await digestAt(session, address)
  } catch (error) {
    if (error instanceof RegistryFailure && error.problem.kind === 'missing') return undefined
    throw error
  }
}
