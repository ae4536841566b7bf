import { type RegistryCredentials, readRegistryCredentials } from './docker-config.ts'
import type { ImageRepository } from './registry-address.ts'
import { Authorizer } from './registry-authorization.ts'
import {
  errorsIn,
  errorText,
  isLoopback,
  isSafeStep,
  type RegistryAnswer,
  RegistryExchange,
  type RegistryQuestion,
  type RegistryRetries,
  type RegistryRetry,
} from './registry-exchange.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'

export interface RegistrySessionOptions {
  /** Environment that determines the Docker configuration, and in which credential helpers run. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Signal that ends all requests of the session. */
  readonly signal: AbortSignal
  /**
   * Logins by the name of the registry, as returned by `registryOf`. If another registry requires a login, the login
   * comes from `loginTo` or the Docker configuration.
   */
  readonly credentials?: ReadonlyMap<string, RegistryCredentials>
  /**
   * Returns the credentials for a registry; undefined if there are none. Called for a registry that is not in
   * `credentials`, before the Docker configuration is read.
   */
  readonly loginTo?: (registry: string) => Promise<RegistryCredentials | undefined>
  readonly retries?: Partial<RegistryRetries>
  /** Called before the pause that precedes a retry. */
  readonly onRetry?: (retry: RegistryRetry) => void
}

/** A request about a repository, with a path from the registry's root or a full address that the registry has sent. */
export type RepositoryQuestion = Omit<RegistryQuestion, 'url'> & { readonly path: string }

/** Requests to registries, with the authorization that each of them requires. The caller closes the session. */
export class RegistrySession {
  readonly #exchange: RegistryExchange
  readonly #authorizer: Authorizer
  readonly #origins = new Map<string, Promise<string>>()

  constructor({ env, signal, credentials, loginTo, retries, onRetry }: RegistrySessionOptions) {
    this.#exchange = new RegistryExchange(signal, env, retries, onRetry)
    const read = new Map<string, Promise<RegistryCredentials>>()
    const find = async (registry: string) =>
      (await loginTo?.(registry)) ??
      (await readRegistryCredentials([registry], { env, signal })).get(registry) ?? { kind: 'none' as const }
    this.#authorizer = new Authorizer(this.#exchange, registry => {
      const known = credentials?.get(registry)
      const found = known ? Promise.resolve(known) : (read.get(registry) ?? find(registry))
      read.set(registry, found)
      return found
    })
  }

  /**
   * Sends a request with the authorization that the registry requires. Throws a RegistryFailure, also for the statuses
   * 401 and 403, or the signal's abort reason.
   */
  async ask({ path, ...question }: RepositoryQuestion, address: ImageRepository): Promise<RegistryAnswer> {
    const origin = await this.#originOf(address.host)
    const url = new URL(path, origin)
    // The registry's credentials are not sent to other servers that it refers to.
    const isOwn = url.origin === new URL(origin).origin
    if (!isOwn && !isSafeStep(new URL(origin), url))
      throw new RegistryFailure({ kind: 'not-a-registry', reason: `it redirects elsewhere, to \`${url.host}\`` })
    let authorization = isOwn ? this.#authorizer.for(address) : undefined
    for (let isFirst = true; ; isFirst = false) {
      const { header, isLogin } = (await authorization) ?? { header: undefined, isLogin: false }
      const headers = { ...question.headers, ...(header !== undefined && { authorization: header }) }
      const answer = await this.#exchange.ask({ ...question, url, headers })
      const isRefused = answer.status === 401 || answer.status === 403
      if (!isRefused) return answer
      const mayRenew = isFirst && isOwn && answer.status === 401 && answer.url.origin === url.origin
      if (mayRenew) authorization = this.#authorizer.renew(address, answer, authorization)
      if (mayRenew && (await authorization)!.header !== undefined) continue
      throw deniedWith(answer, isLogin ? header : undefined)
    }
  }

  /**
   * Returns the problem for a 404 response: the registry lacks the requested content, or the server is not a registry.
   */
  async missing(answer: RegistryAnswer, address: ImageRepository): Promise<RegistryProblem> {
    if (errorsIn(answer.body).some(({ code }) => code)) return { kind: 'missing' }
    // Registries need not list errors, but every registry has this endpoint (…/spec.md#determining-support).
    const base = await this.#exchange.ask({ method: 'GET', url: new URL('/v2/', await this.#originOf(address.host)) })
    return base.status === 200 || base.status === 401
      ? { kind: 'missing' }
      : { kind: 'not-a-registry', reason: `it answers \`/v2/\` with status ${base.status}` }
  }

  close(): void {
    this.#exchange.close()
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

/** Returns the error for a response with status 401 or 403. `login` is the header with the login that was sent. */
function deniedWith(answer: RegistryAnswer, login: string | undefined): RegistryFailure {
  const said = errorText(answer)
  // A Bearer token is not the login: its token service has accepted the login.
  const isRefused = answer.status === 401 && login?.startsWith('Basic ')
  return new RegistryFailure(
    {
      kind: 'denied',
      login: login === undefined ? 'none' : isRefused ? 'refused' : 'sent',
      ...(said !== undefined && { said }),
    },
    answer.status,
  )
}
