import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { parseImageReference } from '../compiler/values/image-reference.ts'
import { type Credentials, readRegistryCredentials } from './docker-config.ts'
import { type ManifestAddress, manifestAddressOf } from './registry-address.ts'
import { Authorizer } from './registry-authorization.ts'
import { type Answer, Exchange, errorsIn, isLoopback, type Patience, saidBy } from './registry-exchange.ts'
import { type RegistryProblem, RegistryTrouble } from './registry-problem.ts'

/** `sha256:` and 64 hexadecimal digits, or why there is none. */
export type Resolved = { readonly digest: string } | { readonly problem: RegistryProblem }

export interface ResolveOptions {
  /** Where the Docker configuration is, and what credential helpers run with. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The deadline of all of it. */
  readonly signal: AbortSignal
  /** Logins by registry, as `registryOf` names them. Others are read from the Docker configuration, once a registry asks. */
  readonly credentials?: ReadonlyMap<string, Credentials>
  readonly patience?: Partial<Patience>
}

/** How many questions are under way at the same time. */
const AT_ONCE = 8

/** The forms of a manifest. A registry that has several platforms gives the digest of their index. */
const FORMS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]
const DIGEST = /^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/

/**
 * Asks the registries of images which digests their tags have at the moment (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull).
 * The result has each of the references; one with a digest is believed and not asked about. Registries are spoken to by TLS, those of this machine also
 * without. Proxies are not used. Throws a UserError for a Docker configuration that cannot be read, and the reason of the signal.
 */
export async function resolveDigests(
  references: readonly string[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, Resolved>> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  // Every question under way listens to it.
  setMaxListeners(0, signal)
  const client = new RegistryClient({ ...options, signal })
  const resolved = new Map<string, Resolved>()
  const distinct = [...new Set(references)]
  const queue = distinct.values()
  const work = async () => {
    for (const reference of queue) resolved.set(reference, await client.resolve(reference))
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    // When one of them has failed, nobody waits for the others.
    stop.abort()
    client.close()
  }
  // In the order of the references, whoever answered first.
  return new Map(distinct.map(reference => [reference, resolved.get(reference)!]))
}

class RegistryClient {
  readonly #exchange: Exchange
  readonly #authorizer: Authorizer
  readonly #hasProxy: boolean
  readonly #unreachable = new Map<string, RegistryProblem>()
  readonly #origins = new Map<string, Promise<string>>()

  constructor({ env, signal, credentials, patience }: ResolveOptions) {
    this.#exchange = new Exchange(signal, patience)
    this.#hasProxy = Boolean(env.HTTPS_PROXY || env.https_proxy)
    const read = new Map<string, Promise<Credentials>>()
    const fromDocker = async (registry: string) =>
      (await readRegistryCredentials([registry], { env, signal })).get(registry) ?? { kind: 'none' as const }
    this.#authorizer = new Authorizer(this.#exchange, registry => {
      const known = credentials?.get(registry)
      const found = known ? Promise.resolve(known) : (read.get(registry) ?? fromDocker(registry))
      read.set(registry, found)
      return found
    })
  }

  async resolve(text: string): Promise<Resolved> {
    const reference = parseImageReference(text)
    if (!reference.ok) {
      const { reason, hint } = reference
      return { problem: { kind: 'invalid', reason, ...(hint !== undefined && { hint }) } }
    }
    if (reference.value.digest !== undefined) return { digest: reference.value.digest }
    const address = manifestAddressOf(reference.value)
    const known = this.#unreachable.get(address.host)
    if (known !== undefined) return { problem: known }
    try {
      return { digest: await this.#digestAt(address) }
    } catch (error) {
      if (!(error instanceof RegistryTrouble)) throw error
      if (error.problem.kind !== 'unreachable') return { problem: error.problem }
      const problem = this.#hasProxy ? { ...error.problem, hasProxy: true } : error.problem
      // It has been waited for once.
      this.#unreachable.set(address.host, problem)
      return { problem }
    }
  }

  close(): void {
    this.#exchange.close()
  }

  async #digestAt(address: ManifestAddress): Promise<string> {
    const path = `/v2/${address.repository}/manifests/${address.tag}`
    const short = await this.#ask('HEAD', path, address)
    const told = short.status === 200 ? digestIn(short) : undefined
    if (told !== undefined) return told
    // An answer to HEAD cannot say why, and not every registry tells the digest, or knows HEAD.
    const whole = await this.#ask('GET', path, address)
    if (whole.status === 200) return digestOf(whole)
    if (whole.status === 404) throw new RegistryTrouble(await this.#missing(whole, address))
    throw new RegistryTrouble({ kind: 'not-a-registry', reason: `it answers \`${path}\` with status ${whole.status}` })
  }

  /** Asks with what the registry wants to see; a status 401 or 403 is a problem. */
  async #ask(method: 'GET' | 'HEAD', path: string, address: ManifestAddress): Promise<Answer> {
    const url = new URL(path, await this.#originOf(address.host))
    let authorization = this.#authorizer.for(address)
    for (let isFirst = true; ; isFirst = false) {
      const { header, isLogin } = (await authorization) ?? { header: undefined, isLogin: false }
      const answer = await this.#exchange.ask({
        method,
        url,
        headers: { accept: FORMS.join(', '), ...(header !== undefined && { authorization: header }) },
      })
      const isRefused = answer.status === 401 || answer.status === 403
      if (!isRefused) return answer
      // Where the registry has led us to, its credentials are not for.
      const mayRenew = isFirst && answer.status === 401 && answer.url.origin === url.origin
      if (mayRenew) authorization = this.#authorizer.renew(address, answer, authorization)
      if (mayRenew && (await authorization)!.header !== undefined) continue
      const said = saidBy(answer)
      throw new RegistryTrouble({
        kind: 'denied',
        login: isLogin ? 'sent' : 'none',
        ...(said !== undefined && { said }),
      })
    }
  }

  /** Whether the registry lacks the image, or there is no registry at all. */
  async #missing(answer: Answer, address: ManifestAddress): Promise<RegistryProblem> {
    if (errorsIn(answer.body).some(({ code }) => code !== undefined)) return { kind: 'missing' }
    // Nobody has to list errors. What every registry has is this (…/spec.md#determining-support).
    const base = await this.#exchange.ask({ method: 'GET', url: new URL('/v2/', await this.#originOf(address.host)) })
    return base.status === 200 || base.status === 401
      ? { kind: 'missing' }
      : { kind: 'not-a-registry', reason: `it answers \`/v2/\` with status ${base.status}` }
  }

  #originOf(host: string): Promise<string> {
    const known = this.#origins.get(host)
    if (known !== undefined) return known
    const origin = this.#findOrigin(host)
    this.#origins.set(host, origin)
    return origin
  }

  async #findOrigin(host: string): Promise<string> {
    const isPlain = isLoopback(new URL(`https://${host}`).hostname) && !(await this.#exchange.speaksTls(host))
    return `${isPlain ? 'http' : 'https'}://${host}`
  }
}

function digestIn({ headers }: Answer): string | undefined {
  const digest = headers['docker-content-digest']
  return typeof digest === 'string' && DIGEST.test(digest) ? digest : undefined
}

/** The digest of a whole manifest, which its content proves. */
function digestOf(answer: Answer): string {
  const { headers, body } = answer
  const form = headers['content-type']?.split(';')[0]?.trim() ?? ''
  const bad = (reason: string) => new RegistryTrouble({ kind: 'not-a-registry', reason })
  if (/manifest\.v1\+(json|prettyjws)$/.test(form) && form.includes('docker'))
    throw bad('it gives a manifest of schema 1, which Kubernetes does not take any more')
  if (!isManifest(body)) throw bad(`it gives something else than a manifest${form && ` (\`${form}\`)`}`)
  const told = digestIn(answer)
  const algorithm = told?.split(':')[0] ?? 'sha256'
  const digest = `${algorithm}:${createHash(algorithm).update(body).digest('hex')}`
  if (told !== undefined && told !== digest)
    throw bad('the manifest that it gives does not have the digest that it tells')
  return digest
}

function isManifest(body: Buffer): boolean {
  try {
    const manifest: unknown = JSON.parse(body.toString('utf8'))
    return (
      typeof manifest === 'object' && manifest !== null && 'schemaVersion' in manifest && manifest.schemaVersion === 2
    )
  } catch {
    return false
  }
}
