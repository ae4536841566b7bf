import type { ManifestAddress } from './registry-address.ts'
import { errorText, type RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession } from './registry-session.ts'

/** A manifest as a registry stores it. */
export interface StoredManifest {
  readonly digest: string
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array
}

/** The path of a manifest, by its tag or digest. */
export const manifestPath = ({ repository }: Pick<ManifestAddress, 'repository'>, name: string): string =>
  `/v2/${repository}/manifests/${name}`

/**
 * Stores a manifest under a tag
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests). What it
 * names must be in the repository. Throws a RegistryFailure, or the reason of the signal.
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

/** The failure of a registry that does not take what is pushed. */
export function refusal(answer: RegistryAnswer): RegistryFailure {
  const said = errorText(answer)
  const problem: RegistryProblem = { kind: 'refused', status: answer.status, ...(said !== undefined && { said }) }
  return new RegistryFailure(problem)
}

/** The failure of a server that answers as no registry does. */
export const unexpected = ({ status, url }: RegistryAnswer): RegistryFailure =>
  new RegistryFailure({ kind: 'not-a-registry', reason: `it answers \`${url.pathname}\` with status ${status}` })
