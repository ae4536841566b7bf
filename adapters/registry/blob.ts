import { createHash } from 'node:crypto'
import type { ImageRepository } from './registry-address.ts'
import { RegistryFailure } from './registry-problem.ts'
import type { RegistrySession } from './registry-session.ts'

/**
 * Returns the content with a digest, of at most `limit` bytes. Throws a RegistryFailure, including for content that
 * does not match the digest, or the signal's abort reason.
 */
export async function blobAt(
  session: RegistrySession,
  address: ImageRepository,
  limit: number,
  digest: string,
): Promise<Uint8Array> {
  const path = `/v2/${address.repository}/blobs/${digest}`
  const answer = await session.ask({ method: 'GET', path, limit }, address)
  if (answer.status === 404) throw new RegistryFailure(await session.missing(answer, address))
  if (answer.status !== 200)
    throw new RegistryFailure({ kind: 'not-a-registry', reason: `it answers \`${path}\` with status ${answer.status}` })
  const [algorithm = ''] = digest.split(':')
  if (`${algorithm}:${createHash(algorithm).update(answer.body).digest('hex')}` === digest) return answer.body
  throw new RegistryFailure({
    kind: 'not-a-registry',
    reason: `the content that it gives for \`${digest}\` does not match`,
  })
}
