import type { ErrorBody } from '../api/common.ts'
import { API, TUNNEL_PROTOCOL } from '../api/prefix.ts'
import type { BodyOf, EventOf, ParamsOf, QueryOf, ReplyOf, RouteName, StreamName, UpgradeName } from '../api/routes.ts'

/** A request to send; the path is relative to the root of the platform's URL. */
export interface PlatformRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly token: string | undefined
  /** Body as JSON text. */
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
  /** Id of the last event that was received. Set only when a stream is resumed after this event. */
  readonly after?: string | undefined
}

/** Transport that sends requests. Throws its own errors if there is no response. */
export interface Send {
  /** Returns the complete response. */
  whole(request: PlatformRequest): Promise<{ readonly status: number; readonly text: string }>
  /** Returns the response body as it arrives. */
  stream(request: PlatformRequest): Promise<{ readonly status: number; readonly chunks: AsyncIterable<string> }>
}

/** Error for a request that the platform refused, with the platform's message. */
export class PlatformRefusal extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody) {
    super(body.message)
    this.status = status
    this.body = body
  }
}

/** Error for a response that is not from a platform, but from the login page of a proxy or from another server. */
export class NoPlatform extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the answer (status ${status}) is not that of a platform`)
    this.status = status
  }
}

/** Maximum number of characters that are read of an error response. */
const LONGEST_ERROR = 64 * 1024

type Given<K extends string, T> = T extends undefined ? unknown : { readonly [P in K]: T }
/** Arguments of a call: the path parameters, the query parameters and the body of the route. */
export type CallInput<N extends RouteName> = Given<'params', ParamsOf<N>> &
  Given<'query', QueryOf<N>> &
  Given<'body', BodyOf<N>>

/** Calls the routes of a platform. The types are derived from the route table, which is not loaded at run time. */
export class PlatformClient {
  readonly #send: Send
  readonly #token: string | undefined

  constructor(send: Send, token?: string) {
    this.#send = send
    this.#token = token
  }

  /** Calls a route and returns its reply. Throws a PlatformRefusal, NoPlatform, or an error of the transport. */
  async call<N extends RouteName>(name: N, input: CallInput<N>, signal?: AbortSignal): Promise<ReplyOf<N>> {
    const { status, text } = await this.#send.whole(this.#request(name, input, signal))
    if (status === 204) return undefined as ReplyOf<N> // such routes have no reply
    const value = parse(text)
    if (status >= 200 && status < 300 && value !== undefined) return value as ReplyOf<N> // what the table promises
    throw refused(status, value)
  }

  /**
   * Yields the events of a stream until it ends, starting after an event id if one is given. Throws the same errors as
   * `call`, and an error of the transport if the connection breaks.
   */
  async *follow<N extends StreamName>(
    name: N,
    input: CallInput<N>,
    { signal, after }: { readonly signal?: AbortSignal; readonly after?: string } = {},
  ): AsyncGenerator<ReceivedEvent<EventOf<N>>> {
    const { status, chunks } = await this.#send.stream({ ...this.#request(name, input, signal), after })
    if (status !== 200) {
      let text = ''
      for await (const chunk of chunks) {
        text += chunk
        if (text.length > LONGEST_ERROR) break
      }
      throw refused(status, parse(text))
    }
    for await (const { id, data } of readEvents(chunks)) {
      const value = parse(data)
      // The route table guarantees this type.
      if (value !== undefined) yield { ...(id !== undefined && { id }), data: value as EventOf<N> }
    }
  }

  /** Returns the path, the token and the protocol for upgrading a connection. The caller sends the request. */
  upgrade<N extends UpgradeName>(name: N, input: CallInput<N>) {
    const { path, token } = this.#request(name, input, undefined)
    return { path, token, protocol: TUNNEL_PROTOCOL }
  }

  #request<N extends RouteName>(name: N, input: CallInput<N>, signal: AbortSignal | undefined): PlatformRequest {
    const { params, query, body } = input as Partial<Record<'params' | 'query', Readonly<Record<string, string>>>> & {
      readonly body?: object
    }
    const [method, route = ''] = name.split(' ')
    const path = route.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params?.[key] ?? ''))
    const search = new URLSearchParams(query).toString()
    return {
      method: method as PlatformRequest['method'], // names of routes begin with one
      path: `${API}${path}${search && `?${search}`}`,
      token: this.#token,
      body: body && JSON.stringify(body),
      signal,
    }
  }
}

/** Returns the error for an unsuccessful response: a PlatformRefusal or NoPlatform. */
export const refusalIn = (status: number, text: string): Error => refused(status, parse(text))

const refused = (status: number, value: unknown): Error =>
  isError(value) ? new PlatformRefusal(status, textsOf(value)) : new NoPlatform(status)

/** Returns the error without values that are not text, because the sender may not be a platform. */
const textsOf = ({ code, message, hint, notes }: ErrorBody): ErrorBody => ({
  code,
  message,
  ...(typeof hint === 'string' && { hint }),
  ...(Array.isArray(notes) && { notes: notes.filter(one => typeof one === 'string') }),
})

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

/** An event received from a stream. */
interface ReceivedEvent<T> {
  readonly id?: string
  readonly data: T
}

/**
 * Parses a `text/event-stream` (HTML standard, section 9.2) with the fields that the platform sends: `id` and `data`.
 * An incomplete event at the end is dropped. Throws an Error if an event is too long.
 */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ReceivedEvent<string>> {
  let rest = ''
  for await (const chunk of chunks) {
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > LONGEST_EVENT) throw new Error('an event is too long')
    for (const block of blocks) {
      const event = toEvent(block)
      if (event) yield event
    }
  }
}

/** Maximum number of characters of one event. */
const LONGEST_EVENT = 4 * 1024 * 1024

/** Parses one event; undefined for a keep-alive. */
function toEvent(block: string): ReceivedEvent<string> | undefined {
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('data: ')) data.push(line.slice(6))
  }
  return data.length === 0 ? undefined : { ...(id !== undefined && { id }), data: data.join('\n') }
}
