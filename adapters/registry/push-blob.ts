import type { Blob } from './artifact-manifest.ts'
import { refusal } from './manifest-calls.ts'
import type { ImageRepository } from './registry-address.ts'
import type { RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure } from './registry-problem.ts'
import type { RegistrySession } from './registry-session.ts'

/**
 * Maximum number of upload attempts per blob, including the first: an upload is restarted if the registry has lost it.
 */
const MOST_UPLOADS = 4

/**
 * Uploads a blob in a single request, unless the registry already has it
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#post-then-put).
 */
export async function pushBlob(
  session: RegistrySession,
  address: ImageRepository,
  { digest, bytes }: Blob,
): Promise<void> {
  const base = `/v2/${address.repository}/blobs`
  for (let round = 1; ; round++) {
    if (await hasBlob(session, address, digest)) return
    const begun = await session.ask({ method: 'POST', path: `${base}/uploads/`, body: '' }, address)
    if (begun.status === 404) throw new RegistryFailure(await session.missing(begun, address))
    if (begun.status !== 202) throw refusal(begun)
    const path = uploadTo(begun, digest)
    const headers = { 'content-type': 'application/octet-stream', 'content-length': `${bytes.length}` }
    const done = await session.ask({ method: 'PUT', path, headers, body: bytes }, address)
    if (done.status === 201 || done.status === 204) return
    // After a lost connection, the upload may be complete, or may have been deleted.
    const isLost = done.status === 404 || done.status === 416
    if (!isLost || round === MOST_UPLOADS) throw refusal(done)
  }
}

/** Returns the upload address from the registry's response, with the digest added. */
function uploadTo({ headers, url }: RegistryAnswer, digest: string): string {
  const { location } = headers
  if (location === undefined || !URL.canParse(location, url.href))
    throw new RegistryFailure({ kind: 'not-a-registry', reason: 'it does not say where to upload' })
  const to = new URL(location, url)
  to.searchParams.set('digest', digest)
  return to.href
}

/** Returns true if a repository has the content with this digest. */
export async function hasBlob(session: RegistrySession, address: ImageRepository, digest: string): Promise<boolean> {
  const { status } = await session.ask({ method: 'HEAD', path: `/v2/${address.repository}/blobs/${digest}` }, address)
  return status === 200
}
