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
  /** Environment that names the Docker configuration, and in which credential helpers run. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The deadline of all of it. */
  readonly signal: AbortSignal
  /**
   * Logins by registry, as `registryOf` names them. Others are read from the Docker configuration,
   * once a registry asks.
   */
  readonly credentials?: ReadonlyMap<string, RegistryCredentials>
  /** Asked before the Docker configuration; undefined: it knows none. */
  readonly loginTo?: (registry: string) => Promise<RegistryCredentials | undefined>
  readonly retries?: Partial<RegistryRetries>
  /** Called before the wait. */
  readonly onRetry?: (retry: RegistryRetry) => void
}

/**
 * A question about a repository: its path is from the registry's root, or the whole address that
 * the registry has named.
 */
export type RepositoryQuestion = Omit<RegistryQuestion, 'url'> & { readonly path: string }

/**
 * Questions to registries, with the credentials that each of them wants to see. The caller closes
 * it.
 */
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
   * Asks with what the registry wants to see. Throws a RegistryFailure, for the statuses 401 and
   * 403 too, or the reason of the signal.
   */
  async ask({ path, ...question }: RepositoryQuestion, address: ImageRepository): Promise<RegistryAnswer> {
    const origin = await this.#originOf(address.host)
    const url = new URL(path, origin)
    // The registry's credentials are not for another server that it refers to.
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
      const said = errorText(answer)
      throw new RegistryFailure({
        kind: 'denied',
        login: isLogin ? 'sent' : 'none',
        ...(said !== undefined && { said }),
      })
    }
  }

  /**
   * The problem that a 404 stands for: the registry lacks the requested content, or the server is
   * not a registry.
   */
  async missing(answer: RegistryAnswer, address: ImageRepository): Promise<RegistryProblem> {
    if (errorsIn(answer.body).some(({ code }) => code)) return { kind: 'missing' }
    // Registries need not list errors, but all of them have this endpoint (…/spec.md#determining-support).
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
