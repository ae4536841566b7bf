import { manifestPath, type StoredManifest, unexpected } from './manifest-calls.ts'
import type { ImageRepository } from './registry-address.ts'
import { digestOf, FORMS } from './registry-client.ts'
import { RegistryFailure } from './registry-problem.ts'
import type { RegistrySession } from './registry-session.ts'

/**
 * Returns the manifest, or the index of a multi-platform image, with a digest. Throws a RegistryFailure, including for
 * content that does not match the digest, or the signal's abort reason.
 */
export async function manifestAt(
  session: RegistrySession,
  address: ImageRepository,
  digest: string,
): Promise<StoredManifest> {
  const headers = { accept: FORMS.join(', ') }
  const answer = await session.ask({ method: 'GET', path: manifestPath(address, digest), headers }, address)
  if (answer.status === 404) throw new RegistryFailure(await session.missing(answer, address))
  if (answer.status !== 200) throw unexpected(answer)
  if (digestOf(answer) !== digest)
    throw new RegistryFailure({ kind: 'not-a-registry', reason: `its content for \`${digest}\` does not match` })
  return { digest, type: answer.headers['content-type'] ?? FORMS[0]!, bytes: answer.body }
}
