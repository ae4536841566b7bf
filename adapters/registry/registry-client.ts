import { createHash } from 'node:crypto'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { parseJson } from '../json/parse-json.ts'
import { imageManifest } from './answers.validators.ts'
import { askAll } from './ask-all.ts'
import { type ManifestAddress, manifestAddressOf } from './registry-address.ts'
import type { RegistryAnswer } from './registry-exchange.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession, RegistrySessionOptions } from './registry-session.ts'

/** `sha256:` and 64 hexadecimal digits, or why there is none. */
export type Resolved = { readonly digest: string } | { readonly problem: RegistryProblem }

export type ResolveOptions = RegistrySessionOptions

/**
 * The forms of a manifest. A registry that has several platforms gives the digest of their index.
 */
export const FORMS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
const DIGEST = /^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/

/**
 * Asks the registries of images which digests their tags have at the moment
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull). The result has each
 * of the references; one with a digest is believed and not asked about. Registries are spoken to by
 * TLS, those of this machine also without. Proxies are those of the environment. Throws a UserError
 * for a Docker configuration that cannot be read, and the reason of the signal.
 */
export async function resolveDigests(
  references: readonly string[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, Resolved>> {
  const unreachable = new Map<string, RegistryProblem>()
  return askAll(references, options, (reference, session) => resolve(reference, session, unreachable))
}

/** `unreachable` has the registries that were waited for once, by host. */
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

/**
 * The digest of the manifest that a tag has. Throws a RegistryFailure, or the reason of the signal.
 */
export async function digestAt(session: RegistrySession, address: ManifestAddress): Promise<string> {
  const path = `/v2/${address.repository}/manifests/${address.tag}`
  const headers = { accept: FORMS.join(', ') }
  const short = await session.ask({ method: 'HEAD', path, headers }, address)
  const told = short.status === 200 ? digestIn(short) : undefined
  if (told !== undefined) return told
  // An answer to HEAD cannot say why, and not every registry sends the digest, or knows HEAD.
  const whole = await session.ask({ method: 'GET', path, headers }, address)
  if (whole.status === 200) return digestOf(whole)
  if (whole.status === 404) throw new RegistryFailure(await session.missing(whole, address))
  throw new RegistryFailure({ kind: 'not-a-registry', reason: `it answers \`${path}\` with status ${whole.status}` })
}

function digestIn({ headers }: RegistryAnswer): string | undefined {
  const digest = headers['docker-content-digest']
  return typeof digest === 'string' && DIGEST.test(digest) ? digest : undefined
}

/**
 * The digest of a whole manifest, which its content proves. Throws a RegistryFailure for what is
 * not a manifest.
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
 * True for each reference with a digest that its registry has; false if it has another image there,
 * or none; undefined if it cannot be asked. Throws as `resolveDigests` does.
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
