import type { Agent } from 'node:http'
import { agentFor } from '../http/agents.ts'
import { pause, retryAfter } from '../http/back-off.ts'
import { exchangeWhole, NoAnswer, TooLong, type WholeAnswer } from '../http/exchange.ts'
import { proxyFor } from '../http/proxy.ts'
import { parseJson } from '../json/parse-json.ts'
import type { RegistryError } from './answers.schema.ts'
import { errorAnswer } from './answers.validators.ts'
import { RegistryFailure } from './registry-problem.ts'
import { isPassing, toUnreachable } from './registry-unreachable.ts'

/** A request to a registry or to its token service. */
export interface RegistryQuestion {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Maximum size of the response in bytes; if absent, the limit for manifests. */
  readonly limit?: number
}

export interface RegistryAnswer extends WholeAnswer {
  /** Address of the response, after all redirects. */
  readonly url: URL
}

/** Limits of the attempts to reach a registry; all in milliseconds, except `attempts`. */
export interface RegistryRetries {
  /**
   * Maximum number of times that a request is sent. Further attempts follow a response with 429 or 5xx, or no response.
   */
  readonly attempts: number
  /** Pause before the second attempt, doubled before each further attempt. */
  readonly pause: number
  /** Longest pause that a registry may request. */
  readonly longest: number
  /** Timeout for a silent connection; after the second timeout, the request fails. */
  readonly silence: number
}

/** The next attempt of a request that is retried. */
export interface RegistryRetry {
  /** Host of the registry, or of its token service, with its port. */
  readonly host: string
  /** Reason for the retry, as a clause. */
  readonly reason: string
  /** Number of the next attempt, starting at 2. */
  readonly attempt: number
  readonly of: number
  /** Milliseconds until the next attempt. */
  readonly wait: number
}

export const DEFAULT_RETRIES: RegistryRetries = { attempts: 5, pause: 250, longest: 20_000, silence: 10_000 }

/**
 * Manifest size in bytes that every registry must accept
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests).
 */
const LARGEST_BODY = 4 * 1024 * 1024
const MOST_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/**
 * Redirects after which the same request is sent again (RFC 9110, 15.4.8 and 15.4.9); other redirects would turn it
 * into a GET.
 */
const REDIRECTS_OF_PUT = new Set([307, 308])

/** Sends requests to registries. The caller closes the connections with `close`. */
export class RegistryExchange {
  readonly #signal: AbortSignal
  readonly #retries: RegistryRetries
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #onRetry: (retry: RegistryRetry) => void
  /** Agents for the connections, by the origin of the server. */
  readonly #agents = new Map<string, Promise<Agent>>()

  /** Prepares the connections, without opening any; `env` contains the proxy settings. */
  constructor(
    signal: AbortSignal,
    env: Readonly<Record<string, string | undefined>>,
    retries: Partial<RegistryRetries> = {},
    onRetry: (retry: RegistryRetry) => void = () => {},
  ) {
    this.#signal = signal
    this.#env = env
    this.#retries = { ...DEFAULT_RETRIES, ...retries }
    this.#onRetry = onRetry
  }

  /**
   * Sends a request until there is a final response, following redirects for reads. Sends credentials only to the
   * server that they are for. Throws a RegistryFailure, or the signal's abort reason.
   */
  async ask(question: RegistryQuestion): Promise<RegistryAnswer> {
    const { attempts, longest } = this.#retries
    let silences = 0
    for (let attempt = 1; ; attempt++) {
      this.#signal.throwIfAborted()
      let reason: string
      let wait = this.#retries.pause * 2 ** (attempt - 1) * (0.75 + Math.random() / 2)
      try {
        const answer = await this.#follow(question)
        if (!mayPass(answer.status)) return answer
        const asked = retryAfter(answer.headers['retry-after'], Date.now()) ?? 0
        if (attempt >= attempts || asked > longest) {
          const said = errorText(answer)
          throw new RegistryFailure({ kind: 'busy', status: answer.status, ...(said !== undefined && { said }) })
        }
        wait = Math.max(wait, asked)
        reason = `the registry answers with status ${answer.status}`
      } catch (error) {
        this.#signal.throwIfAborted()
        if (error instanceof RegistryFailure) throw error
        if (error instanceof NoAnswer) silences++
        const failure = toUnreachable(error, question.url)
        if (attempt >= attempts || silences > 1 || !isPassing(error)) throw failure
        reason = 'reason' in failure.problem ? failure.problem.reason : failure.message
      }
      this.#onRetry({ host: question.url.host, reason, attempt: attempt + 1, of: attempts, wait })
      await pause(wait, this.#signal)
    }
  }

  /** Returns true if a host speaks TLS. */
  async speaksTls(host: string): Promise<boolean> {
    try {
      await this.#once({ method: 'GET', url: new URL(`https://${host}/v2/`) })
      return true
    } catch {
      this.#signal.throwIfAborted()
      return false
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values())
      agent.then(
        one => one.destroy(),
        () => {},
      )
  }

  async #follow(question: RegistryQuestion): Promise<RegistryAnswer> {
    let { url, headers } = question
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once({ ...question, url, ...(headers && { headers }) })
      const to = redirectsOf(question.method).has(answer.status) ? answer.headers.location : undefined
      if (to === undefined) return answer
      const next = URL.canParse(to, url.href) ? new URL(to, url) : undefined
      if (next === undefined || redirects === MOST_REDIRECTS || !isSafeStep(url, next))
        throw new RegistryFailure({
          kind: 'not-a-registry',
          reason: `it redirects elsewhere${next ? `, to \`${next.host}\`` : ''}`,
        })
      if (next.origin !== url.origin) headers = withoutCredentials(headers)
      url = next
    }
  }

  async #once({ method, url, headers = {}, body, limit = LARGEST_BODY }: RegistryQuestion): Promise<RegistryAnswer> {
    const bounds = { silence: this.#retries.silence, limit }
    try {
      const answer = await exchangeWhole({ method, url, headers, body }, await this.#agentOf(url), bounds, this.#signal)
      return { ...answer, url }
    } catch (error) {
      if (error instanceof TooLong) throw new RegistryFailure({ kind: 'not-a-registry', reason: error.message })
      throw error
    }
  }

  #agentOf(url: URL): Promise<Agent> {
    const known = this.#agents.get(url.origin)
    if (known) return known
    // A registry on this machine needs no valid certificate, as in Docker.
    const trust = isLoopback(url.hostname) && { rejectUnauthorized: false }
    const agent = agentFor(url, proxyFor(url, this.#env), { keepAlive: true, ...trust })
    this.#agents.set(url.origin, agent)
    return agent
  }
}

const NONE: ReadonlySet<number> = new Set()

function redirectsOf(method: RegistryQuestion['method']): ReadonlySet<number> {
  return method === 'POST' ? NONE : method === 'PUT' ? REDIRECTS_OF_PUT : REDIRECTS
}

/**
 * Returns true if a host, as written in a URL, is this machine. Docker connects to registries on this machine without
 * certificates (https://docs.docker.com/reference/cli/dockerd/#insecure-registries).
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:.+\.)?localhost$|^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname)
}

/**
 * Returns true if a redirect between the addresses is allowed: to an `https` address of another machine, or from this
 * machine to this machine. A redirect from another machine to this machine is not allowed.
 */
export function isSafeStep(from: URL, to: URL): boolean {
  if (isLoopback(to.hostname)) return isLoopback(from.hostname) && /^https?:$/.test(to.protocol)
  return to.protocol === 'https:'
}

/**
 * Returns the registry's error message, as one short line; undefined if there is none
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes).
 */
export function errorText({ body }: RegistryAnswer): string | undefined {
  const first = errorsIn(body)[0]
  const words = [first?.code, first?.message].filter(Boolean).join(': ')
  // The registry controls the text, so control characters are removed and its length is limited.
  const line = words.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return line === '' ? undefined : line.slice(0, 200)
}

/** Returns the errors listed in a registry's response; empty if the response is not an error response. */
export function errorsIn(body: Buffer): readonly RegistryError[] {
  const answer = parseJson(body.toString('utf8'), errorAnswer)
  return answer.ok ? answer.value.errors : []
}

function withoutCredentials(headers: RegistryQuestion['headers']): RegistryQuestion['headers'] {
  return headers && Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}

const mayPass = (status: number) => status === 408 || status === 429 || (status >= 500 && status !== 501)
