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

/** A question to a registry or to its token service. */
export interface RegistryQuestion {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The most bytes that the answer may have; absent: those of a manifest. */
  readonly limit?: number
}

export interface RegistryAnswer extends WholeAnswer {
  /** Address that the answer came from, after all redirects. */
  readonly url: URL
}

/** Limits of the attempts to reach a registry; all in milliseconds, except `attempts`. */
export interface RegistryRetries {
  /** Number of times that a question is sent if the answer is 429 or 5xx, or there is none. */
  readonly attempts: number
  /** Pause before the second attempt; it is twice as long before each further one. */
  readonly pause: number
  /** The longest pause that a registry can ask for. */
  readonly longest: number
  /** Longest silence of a connection before it is given up; the second time the question is given up, too. */
  readonly silence: number
}

/** A question that is sent again. */
export interface RegistryRetry {
  /** The host of the registry, or of its token service, with its port. */
  readonly host: string
  /** The reason, as a clause. */
  readonly reason: string
  /** The next attempt, from 2. */
  readonly attempt: number
  readonly of: number
  /** Milliseconds until then. */
  readonly wait: number
}

export const DEFAULT_RETRIES: RegistryRetries = { attempts: 5, pause: 250, longest: 20_000, silence: 10_000 }

/**
 * The most that a registry must take for a manifest
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests).
 */
const LARGEST_BODY = 4 * 1024 * 1024
const MOST_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/**
 * Redirects after which the same request is sent again (RFC 9110, 15.4.8 and 15.4.9); the others would make a GET of
 * it.
 */
const REDIRECTS_OF_PUT = new Set([307, 308])

/** Connections to registries. The caller closes it. */
export class RegistryExchange {
  readonly #signal: AbortSignal
  readonly #retries: RegistryRetries
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #onRetry: (retry: RegistryRetry) => void
  /** Agents by origin. */
  readonly #agents = new Map<string, Promise<Agent>>()

  /** `env` names the proxies. */
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
   * Sends a question until there is an answer that will not pass, following redirects of what is
   * read. Credentials stay with the server that they were meant for. Throws a RegistryFailure, or
   * the reason of the signal.
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

  /** True if a host speaks TLS. */
  async speaksTls(host: string): Promise<boolean> {
    try {
      await this.#once({ method: 'GET', url: new URL(`https://${host}/v2/`) })
      return true
    } catch {
      this.#signal.throwIfAborted()
      return false
    }
  }

  /** Ends all connections. */
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
    // As Docker does: what this machine serves to itself needs no certificate.
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
 * True if a host, as written in a URL, is this machine, which Docker reaches without certificates
 * (https://docs.docker.com/reference/cli/dockerd/#insecure-registries).
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:.+\.)?localhost$|^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname)
}

/**
 * True if a redirect from one address to the other is allowed: never from an encrypted one to an
 * unencrypted one, nor from outside to this machine.
 */
export function isSafeStep(from: URL, to: URL): boolean {
  if (isLoopback(to.hostname)) return isLoopback(from.hostname) && /^https?:$/.test(to.protocol)
  return to.protocol === 'https:'
}

/**
 * The registry's error message, in one short line; undefined if there is none
 * (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes).
 */
export function errorText({ body }: RegistryAnswer): string | undefined {
  const first = errorsIn(body)[0]
  const words = [first?.code, first?.message].filter(Boolean).join(': ')
  // The text is the registry's: no control characters, and a limited length.
  const line = words.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return line === '' ? undefined : line.slice(0, 200)
}

/** The errors that an answer of a registry lists; none when it is not such an answer. */
export function errorsIn(body: Buffer): readonly RegistryError[] {
  const answer = parseJson(body.toString('utf8'), errorAnswer)
  return answer.ok ? answer.value.errors : []
}

function withoutCredentials(headers: RegistryQuestion['headers']): RegistryQuestion['headers'] {
  return headers && Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}

const mayPass = (status: number) => status === 408 || status === 429 || (status >= 500 && status !== 501)
