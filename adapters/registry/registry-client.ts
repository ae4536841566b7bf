import { createHash } from 'node:crypto'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { parseJson } from '../json/parse-json.ts'
import { imageManifest } from './answers.validators.ts'
import { askAll } from './ask-all.ts'
import { type ManifestAddress, manifestAddressOf } from './registry-address.ts'
import type { RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession, RegistrySessionOptions } from './registry-session.ts'

/** Digest (`sha256:` and 64 hexadecimal digits), or the reason why there is none. */
export type Resolved = { readonly digest: string } | { readonly problem: RegistryProblem }

export type ResolveOptions = RegistrySessionOptions

/** Media types of manifests. For a multi-platform image, a registry returns the digest of the index. */
export const FORMS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
const DIGEST = /^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/

/**
 * Queries registries for the current digests of image tags
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull). The result contains each of the
 * references; a reference with a digest is not queried. Uses TLS, or plain HTTP for registries on this machine. Proxies
 * come from the environment. Throws a UserError if the Docker configuration cannot be read, or the signal's abort
 * reason.
 */
export async function resolveDigests(
  references: readonly string[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, Resolved>> {
  const unreachable = new Map<string, RegistryProblem>()
  return askAll(references, options, (reference, session) => resolve(reference, session, unreachable))
}

/**
 * Returns the digest of a reference, or a problem. `unreachable` contains the registries that already timed out, by
 * host, so that each is waited for only once.
 */
async function resolve(
  text: string,
  session: RegistrySession,
  unreachable: Map<string, RegistryProblem>,
): Promise<Resolved> {
  const reference = parseImageReference(text)
  if (!reference.ok) {
    const { reason, hint } = reference
    return { problem: { kind: 'invalid', reason, ...(hint !== undefined && { hint }) } }
  }
  if (reference.value.digest !== undefined) return { digest: reference.value.digest }
  const address = manifestAddressOf(reference.value)
  const known = unreachable.get(address.host)
  if (known !== undefined) return { problem: known }
  try {
    return { digest: await digestAt(session, address) }
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    if (error.problem.kind === 'unreachable') unreachable.set(address.host, error.problem)
    return { problem: error.problem }
  }
}

/** Returns the digest of the manifest with a tag. Throws a RegistryFailure, or the signal's abort reason. */
export async function digestAt(session: RegistrySession, address: ManifestAddress): Promise<string> {
  const path = `/v2/${address.repository}/manifests/${address.tag}`
  const headers = { accept: FORMS.join(', ') }
  const short = await unlessForbidden(session.ask({ method: 'HEAD', path, headers }, address))
  const told = short?.status === 200 ? digestIn(short) : undefined
  if (told !== undefined) return told
  // A HEAD response contains no error message, and some registries do not send the digest, or do not support HEAD.
  const whole = await session.ask({ method: 'GET', path, headers }, address)
  if (whole.status === 200) return digestOf(whole)
  if (whole.status === 404) throw new RegistryFailure(await session.missing(whole, address))
  throw new RegistryFailure({ kind: 'not-a-registry', reason: `it answers \`${path}\` with status ${whole.status}` })
}

/**
 * Returns a response; undefined for one with status 403. Throws for status 401: another request would send a wrong
 * password again, and some servers lock an account after a few of them.
 */
async function unlessForbidden(asked: Promise<RegistryAnswer>): Promise<RegistryAnswer | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof RegistryFailure && error.status === 403) return undefined
    throw error
  }
}

function digestIn({ headers }: RegistryAnswer): string | undefined {
  const digest = headers['docker-content-digest']
  return typeof digest === 'string' && DIGEST.test(digest) ? digest : undefined
}

/**
 * Returns the digest of a full manifest, computed from its content. Throws a RegistryFailure if the response is not a
 * manifest.
 */
export function digestOf(answer: RegistryAnswer): string {
  const { headers, body } = answer
  const form = headers['content-type']?.split(';')[0]?.trim() ?? ''
  const bad = (reason: string) => new RegistryFailure({ kind: 'not-a-registry', reason })
  if (/manifest\.v1\+(json|prettyjws)$/.test(form) && form.includes('docker'))
    throw bad('it answers with a manifest of schema 1, which Kubernetes no longer supports')
  const manifest = parseJson(body.toString('utf8'), imageManifest)
  if (!manifest.ok) throw bad(`it does not answer with a manifest${form && ` (\`${form}\`)`}: ${manifest.problem}`)
  const told = digestIn(answer)
  const algorithm = told?.split(':')[0] ?? 'sha256'
  const digest = `${algorithm}:${createHash(algorithm).update(body).digest('hex')}`
  if (told !== undefined && told !== digest)
    throw bad('the manifest does not have the digest that the registry gives for it')
  return digest
}

/**
 * Returns, for each reference with a digest, true if the repository has a manifest with that digest; false if it has
 * none, or if the registry returns another digest; undefined if the registry cannot be queried. Throws as
 * `resolveDigests` does.
 */
export const haveDigests = (
  references: readonly string[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, boolean | undefined>> => askAll(references, options, hasDigest)

async function hasDigest(text: string, session: RegistrySession): Promise<boolean | undefined> {
  const reference = parseImageReference(text)
  if (!reference.ok || reference.value.digest === undefined) return undefined
  const { digest } = reference.value
  try {
    return (await digestAt(session, { ...manifestAddressOf(reference.value), tag: digest })) === digest
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    return error.problem.kind === 'missing' ? false : undefined
  }
}
