import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { parseJson } from '../json/parse-json.ts'
import { imageParts } from './answers.validators.ts'
import { blobAt } from './blob.ts'
import { manifestAt } from './manifest-at.ts'
import { putManifest } from './manifest-calls.ts'
import { hasBlob, pushBlob } from './push-blob.ts'
import { type ImageRepository, manifestAddressOf } from './registry-address.ts'
import { digestAt } from './registry-client.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import { RegistrySession, type RegistrySessionOptions } from './registry-session.ts'

/** Maximum size of a layer in bytes. Layers are read into memory. */
const LARGEST_LAYER = 1 << 30
/** Maximum number of nested manifests: an index refers to manifests, some of which are indexes themselves. */
const DEEPEST = 3

/** An image to copy. Both references have a tag. If `from` also has a digest, the image with that digest is copied. */
export interface ImageCopy {
  readonly from: string
  readonly to: string
}

/** Outcome of a copy: the digest, or the problem with one of the references. */
export type CopyOutcome =
  | { readonly digest: string; readonly isNew: boolean }
  | { readonly problem: RegistryProblem; readonly of: keyof ImageCopy }

/**
 * Copies an image with all its platforms to another registry, without changing its digest. Content that the registry
 * already has is not sent. Throws a UserError if the Docker configuration cannot be read, or the signal's abort reason.
 */
export async function copyImage({ from, to }: ImageCopy, options: RegistrySessionOptions): Promise<CopyOutcome> {
  const [{ digest: pinned, ...source }, target] = [addressOf(from), { ...addressOf(to), access: 'push' as const }]
  const session = new RegistrySession(options)
  let side: keyof ImageCopy = 'from'
  /**
   * Returns `work`, and records which of the two registries it queries, because a problem must be attributed to one of
   * them.
   */
  const at = <Result>(which: keyof ImageCopy, work: Promise<Result>): Promise<Result> => {
    side = which
    return work
  }

  async function copy(digest: string, tag: string, depth: number): Promise<void> {
    const manifest = await at('from', manifestAt(session, source, digest))
    const read = parseJson(Buffer.from(manifest.bytes).toString('utf8'), imageParts)
    if (!read.ok || depth > DEEPEST)
      throw new RegistryFailure({
        kind: 'not-a-registry',
        reason: `its manifest \`${digest}\` is not that of an image`,
      })
    const { config, layers = [], manifests = [] } = read.value
    for (const { digest } of manifests) await copy(digest, digest, depth + 1)
    for (const { digest } of [...layers, ...(config ? [config] : [])]) {
      if (await at('to', hasBlob(session, target, digest))) continue
      const bytes = await at('from', blobAt(session, source, LARGEST_LAYER, digest))
      await at('to', pushBlob(session, target, { digest, bytes }))
    }
    await at('to', putManifest(session, target, manifest, tag))
  }

  try {
    const digest = pinned ?? (await at('from', digestAt(session, source)))
    if ((await at('to', digestOrNone(session, target))) === digest) return { digest, isNew: false }
    await copy(digest, target.tag, 1)
    return { digest, isNew: true }
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    return { problem: error.problem, of: side }
  } finally {
    session.close()
  }
}

/** Returns the address of a reference, with the digest if it has one. */
function addressOf(text: string) {
  const reference = parseImageReference(text)
  if (!reference.ok) throw new Error(`${text}: ${reference.reason}`)
  return { ...manifestAddressOf(reference.value), digest: reference.value.digest }
}

async function digestOrNone(
  session: RegistrySession,
  address: ImageRepository & { readonly tag: string },
): Promise<string | undefined> {
  try {
    return await digestAt(session, address)
  } catch (error) {
    if (error instanceof RegistryFailure && error.problem.kind === 'missing') return undefined
    throw error
  }
}
