import { backOff, pause } from '../../http/back-off.ts'
import { neverSent } from '../../http/failure.ts'
import { proxyFor } from '../../http/proxy.ts'
import { parseJson, type Validator } from '../../json/parse-json.ts'
import type { Calls, ForgeCall, ForgeModule, ForgeVariables, ListPage, Site } from '../forge-module.ts'
import { exchange, type ForgeAnswer } from './exchange.ts'
import { ForgeError, isPassing, noAnswer, refusal, type Subject } from './failures.ts'
import { isLimited, pauseAsked } from './rate-limit.ts'
import { refusalText } from './refusal-text.ts'

/** Number of attempts of a call, and the pauses between them. All times are in milliseconds. */
export interface ForgeRetries {
  /** Approximate first pause. Each further pause is twice as long as the previous one, up to `longest`. */
  readonly pause: number
  /** Longest pause that devctl chooses itself. */
  readonly longest: number
  /** Longest pause that a forge may request; the call fails if the forge requests more. */
  readonly asked: number
  readonly attempts: number
  /** Called with the reason for each pause that is long enough to notice. */
  readonly onPause: (milliseconds: number, why: string) => void
  /** Waits; rejects when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Shortest pause that is reported to the caller, in milliseconds. */
const NOTICED = 5_000

const DEFAULT_RETRIES: ForgeRetries = {
  pause: 500,
  longest: 10_000,
  asked: 90_000,
  attempts: 10,
  onPause: () => {},
  wait: pause,
}

/** A token, and the headers that it is sent in. */
export interface ForgeLogin {
  /** Name of the variable that contains the token. */
  readonly variable: string
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
}

/** Client for the API of a forge. */
export class ForgeApi implements Calls {
  readonly site: Site
  readonly #forge: ForgeModule
  readonly #login: ForgeLogin
  readonly #proxy: string | undefined
  readonly #retries: ForgeRetries
  readonly #tokenOf: string | undefined

  constructor(
    site: Site,
    forge: ForgeModule,
    login: ForgeLogin,
    env: ForgeVariables,
    retries: Partial<ForgeRetries> = {},
  ) {
    this.site = site
    this.#forge = forge
    const own = forge.tokens.repositoryOf?.(login.variable, env)
    this.#tokenOf = own?.toLowerCase() === site.path.toLowerCase() ? undefined : own
    this.#login = login
    this.#proxy = proxyFor(new URL(site.api), env)
    this.#retries = { ...DEFAULT_RETRIES, ...retries }
  }

  async send(call: ForgeCall): Promise<void> {
    await this.#send(call)
  }

  async object<T>(call: ForgeCall, validate: Validator<T>): Promise<T> {
    const { text } = await this.#send(call)
    return this.#parse(text, validate)
  }

  async list<T>(call: ForgeCall, validate: Validator<readonly T[]>): Promise<ListPage<T>> {
    const { headers, text } = await this.#send(call)
    const hasMore = /rel="?next\b/.test(String(headers.link ?? ''))
    return { items: this.#parse(text, validate), hasMore, total: Number(headers['x-total-count'] ?? 0) || 0 }
  }

  #parse<T>(text: string, validate: Validator<T>): T {
    const answer = parseJson(text, validate)
    if (answer.ok) return answer.value
    const { host } = new URL(this.site.api)
    throw new ForgeError(`\`${host}\` does not answer as the API of ${this.#forge.name} does: ${answer.problem}`, {
      hint: 'check that it is the right server (`--forge` says what kind it is), and that no proxy or login page is in between',
      maybeDone: true,
    })
  }

  async pause(failures: number, signal: AbortSignal | undefined, atLeast = 0): Promise<void> {
    const { pause, longest, wait } = this.#retries
    await wait(Math.max(backOff(failures, pause, longest), atLeast), signal)
  }

  async #send(call: ForgeCall): Promise<ForgeAnswer> {
    const { signal } = call
    const subject: Subject = {
      forge: this.#forge,
      site: this.site,
      variable: this.#login.variable,
      purpose: call.purpose,
      permission: call.permission,
      tokenOf: this.#tokenOf,
    }
    for (let failures = 1; ; failures++) {
      signal?.throwIfAborted()
      let failure: ForgeError
      let asked: number | undefined
      try {
        const answer = await this.#exchange(call, subject)
        if (answer.status >= 200 && answer.status < 300) return answer
        const said = refusalText(answer.text, this.#login.token)
        failure = refusal(subject, answer, said)
        const limited = isLimited(answer.status, answer.headers, said)
        asked = pauseAsked(answer.headers) ?? (limited ? 60_000 : undefined)
        const passes = limited || (call.mayRepeat && [500, 502, 503, 504].includes(answer.status))
        if (!passes || (asked ?? 0) > this.#retries.asked) throw failure
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ForgeError) throw error
        failure = noAnswer(subject, error)
        if (!neverSent(error) && !(call.mayRepeat && isPassing(error))) throw failure
      }
      if (failures >= this.#retries.attempts) throw failure
      if ((asked ?? 0) >= NOTICED) this.#retries.onPause(asked!, failure.message)
      await this.pause(failures, signal, asked)
    }
  }

  /**
   * Sends a call and follows redirects to the same server, as after renaming a repository. Never sends the token to
   * another server: throws a ForgeError for such a redirect.
   */
  async #exchange({ method, path, body, signal }: ForgeCall, subject: Subject): Promise<ForgeAnswer> {
    const headers = {
      accept: 'application/json',
      'user-agent': 'devctl',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...this.#login.headers,
    }
    let url = new URL(`${this.site.api}${path}`)
    for (let hops = 0; ; hops++) {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const answer = await exchange({ method, url, headers, body: text }, this.#proxy, signal)
      const target = [301, 302, 307, 308].includes(answer.status) ? answer.headers.location : undefined
      if (target === undefined || !URL.canParse(target, url.href)) return answer
      const next = new URL(target, url)
      if (next.origin !== url.origin)
        throw new ForgeError(`could not ${subject.purpose}: \`${url.host}\` redirects to \`${next.host}\``, {
          status: answer.status,
          hint: 'use the new address of the repository: the token is not sent to another server',
        })
      if (hops === 3) throw new ForgeError(`could not ${subject.purpose}: \`${url.host}\` redirects in a circle`)
      url = next
    }
  }
}
