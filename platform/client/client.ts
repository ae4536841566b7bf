import { API } from '../api/prefix.ts'
import type { BodyOf, ParamsOf, ReplyOf, RouteName } from '../api/routes.ts'
import type { ErrorBody } from '../api/shapes.ts'

/** A request as it is sent; the path begins at the root of the platform. */
export interface PlatformRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly token: string | undefined
  /** JSON. */
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
}

/** Sends a request and gives the whole answer; throws what it throws when there is none. */
export type Send = (request: PlatformRequest) => Promise<{ readonly status: number; readonly text: string }>

/** The platform has said no, in its words. */
export class PlatformRefusal extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody) {
    super(body.message)
    this.status = status
    this.body = body
  }
}

/** Something answered that is no platform: the login page of a proxy, another server. */
export class NoPlatform extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the answer (status ${status}) is not that of a platform`)
    this.status = status
  }
}

type Given<K extends string, T> = T extends undefined ? unknown : { readonly [P in K]: T }
/** What a call of a route needs. */
export type CallInput<N extends RouteName> = Given<'params', ParamsOf<N>> & Given<'body', BodyOf<N>>

/** Calls routes of a platform; typed by their table, of which nothing is loaded. */
export class PlatformClient {
  readonly #send: Send
  readonly #token: string | undefined

  constructor(send: Send, token?: string) {
    this.#send = send
    this.#token = token
  }

  /** Throws a PlatformRefusal, NoPlatform, or what sending throws. */
  async call<N extends RouteName>(name: N, input: CallInput<N>, signal?: AbortSignal): Promise<ReplyOf<N>> {
    const { params, body } = input as { readonly params?: Readonly<Record<string, string>>; readonly body?: object }
    const [method, route = ''] = name.split(' ')
    const path = route.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params?.[key] ?? ''))
    const { status, text } = await this.#send({
      method: method as PlatformRequest['method'], // names of routes begin with one
      path: API + path,
      token: this.#token,
      body: body && JSON.stringify(body),
      signal,
    })
    if (status === 204) return undefined as ReplyOf<N> // such routes have no reply
    const value = parse(text)
    if (status >= 200 && status < 300 && value !== undefined) return value as ReplyOf<N> // what the table promises
    if (isError(value)) throw new PlatformRefusal(status, value)
    throw new NoPlatform(status)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isError(value: unknown): value is ErrorBody {
  const { code, message } = (value ?? {}) as Readonly<Record<string, unknown>>
  return typeof code === 'string' && code.startsWith('platform/') && typeof message === 'string'
}
