import type { ManifestAddress } from './registry-address.ts'
import { errorText, type RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession } from './registry-session.ts'

/** A manifest as a registry stores it. */
export interface StoredManifest {
  readonly digest: string
  /** Media type of the manifest. */
  readonly type: string
  readonly bytes: Uint8Array
}

/** Returns the path of a manifest, by its tag or digest. */
export const manifestPath = ({ repository }: Pick<ManifestAddress, 'repository'>, name: string): string =>
  `/v2/${repository}/manifests/${name}`

/**
 * Stores a manifest under a tag
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests). The content that it
 * references must already be in the repository. Throws a RegistryFailure, or the signal's abort reason.
 */
export async function putManifest(
  session: RegistrySession,
  address: ManifestAddress,
  { digest, type, bytes }: StoredManifest,
  tag: string,
): Promise<void> {
  const headers = { 'content-type': type }
  const answer = await session.ask({ method: 'PUT', path: manifestPath(address, tag), headers, body: bytes }, address)
  if (answer.status !== 201 && answer.status !== 200) throw refusal(answer)
  const told = answer.headers['docker-content-digest']
  if (told !== undefined && told !== digest)
    throw new RegistryFailure({
      kind: 'not-a-registry',
      reason: `it stores \`${tag}\` under another digest, \`${told}\``,
    })
}

/** Returns the failure for a push that the registry refused. */
export function refusal(answer: RegistryAnswer): RegistryFailure {
  const said = errorText(answer)
  const problem: RegistryProblem = { kind: 'refused', status: answer.status, ...(said !== undefined && { said }) }
  return new RegistryFailure(problem)
}

/** Returns the failure for a response that no registry sends. */
export const unexpected = ({ status, url }: RegistryAnswer): RegistryFailure =>
  new RegistryFailure({ kind: 'not-a-registry', reason: `it answers \`${url.pathname}\` with status ${status}` })
