import type { ImageConfig } from '../../compiler/values/images/image-config.ts'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { parseJson } from '../json/parse-json.ts'
import { configPlace, imageConfiguration } from './answers.validators.ts'
import { askAll } from './ask-all.ts'
import { blobAt } from './blob.ts'
import { type ManifestAddress, manifestAddressOf } from './registry-address.ts'
import { FORMS } from './registry-client.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession, RegistrySessionOptions } from './registry-session.ts'

/** The configuration of an image, or the reason why it could not be fetched. */
export type FetchedConfig = { readonly config: ImageConfig } | { readonly problem: RegistryProblem }

/**
 * Maximum size of an image configuration in bytes. A configuration has a line for each layer; the largest have some
 * hundred kibibytes.
 */
const LARGEST_CONFIG = 4 * 1024 * 1024

/**
 * Fetches the configurations of images from their registries, by reference
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull). For a multi-platform image, fetches the
 * configuration of the first platform, because ports, users and volumes do not depend on the platform. Throws a
 * UserError if the Docker configuration cannot be read, or the signal's abort reason.
 */
export async function fetchImageConfigs(
  references: readonly string[],
  options: RegistrySessionOptions,
): Promise<ReadonlyMap<string, FetchedConfig>> {
  return askAll(references, options, fetchConfig)
}

async function fetchConfig(text: string, session: RegistrySession): Promise<FetchedConfig> {
  const reference = parseImageReference(text)
  if (!reference.ok) {
    const { reason, hint } = reference
    return { problem: { kind: 'invalid', reason, ...(hint !== undefined && { hint }) } }
  }
  const address = manifestAddressOf(reference.value)
  try {
    const digest = await configDigest(session, address, reference.value.digest ?? address.tag)
    return { config: await configAt(session, address, digest) }
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    return { problem: error.problem }
  }
}

/**
 * Returns the digest of an image's configuration. `name` is a tag or a digest; an index is resolved to one of its
 * manifests.
 */
async function configDigest(
  session: RegistrySession,
  address: ManifestAddress,
  name: string,
  isInIndex = false,
): Promise<string> {
  const path = `/v2/${address.repository}/manifests/${name}`
  const answer = await session.ask({ method: 'GET', path, headers: { accept: FORMS.join(', ') } }, address)
  if (answer.status === 404) throw new RegistryFailure(await session.missing(answer, address))
  if (answer.status !== 200) throw bad(`it answers \`${path}\` with status ${answer.status}`)
  const manifest = parseJson(answer.body.toString('utf8'), configPlace)
  if (!manifest.ok) throw bad(`it does not answer with a manifest: ${manifest.problem}`)
  const { config, manifests = [] } = manifest.value
  if (config) return config.digest
  // Attestations are manifests with an unknown platform.
  const image = manifests.find(({ platform }) => platform?.os !== 'unknown')
  if (!image || isInIndex) throw bad(`its answer for \`${path}\` names no image`)
  return configDigest(session, address, image.digest, true)
}

async function configAt(session: RegistrySession, address: ManifestAddress, digest: string): Promise<ImageConfig> {
  const bytes = await blobAt(session, address, LARGEST_CONFIG, digest)
  const read = parseJson(Buffer.from(bytes).toString('utf8'), imageConfiguration)
  if (!read.ok) throw bad(`the content of \`${digest}\` is not the configuration of an image: ${read.problem}`)
  return read.value.config ?? {}
}

const bad = (reason: string): RegistryFailure => new RegistryFailure({ kind: 'not-a-registry', reason })
