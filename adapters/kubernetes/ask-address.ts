import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { TLSSocket } from 'node:tls'

/** The response from a public address, or the reason there is none. */
export interface AddressAnswer {
  /** The HTTP status. */
  readonly status?: number
  /** Reason why this machine does not trust the certificate, in words. */
  readonly certificate?: string
  /** True if a host without a route gets the same response. */
  readonly isLikeNoRoute?: boolean
  /** Reason why there was no response, in words. */
  readonly failure?: string
}

export interface AskOptions {
  /**
   * Address at which the cluster accepts requests for the host, as its route reports it: an IP address or a name. Used
   * if the host name itself does not resolve.
   */
  readonly entry?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Timeout for a response, in milliseconds. */
  readonly timeout?: number
}

const TIMEOUT = 3000
/** Maximum number of bytes of a page that are compared with the page of a host without a route. */
const BYTES = 4096
/** Host name that can never be registered (RFC 2606), for requesting the page of a host without a route. */
const NOBODY = 'no-such-route.invalid'

/**
 * Requests the page at a public address, as a browser would but without credentials. Treats the response as untrusted.
 * Returns failures as part of the answer; throws only the signal's abort reason.
 */
export async function askAddress(
  address: string,
  { entry, signal, timeout = TIMEOUT }: AskOptions = {},
): Promise<AddressAnswer> {
  const limit = new AbortController()
  const end = () => limit.abort(signal?.reason)
  const timer = setTimeout(end, timeout)
  signal?.addEventListener('abort', end)
  // A pending DNS lookup cannot be cancelled.
  const over = new Promise<AddressAnswer>(resolve => {
    limit.signal.addEventListener('abort', () => resolve({ failure: `no answer within ${timeout / 1000} s` }))
  })
  try {
    const answer = await Promise.race([answerOf(new URL(address), entry, limit.signal), over])
    signal?.throwIfAborted()
    return answer
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    limit.abort()
  }
}

async function answerOf(url: URL, entry: string | undefined, signal: AbortSignal): Promise<AddressAnswer> {
  try {
    const to = (await resolved(url.hostname)) ?? (entry === undefined ? undefined : await resolved(entry))
    if (to === undefined)
      return { failure: `its name does not resolve${entry === undefined ? ', and its route has no address yet' : ''}` }
    const page = await fetchPage(url, url.hostname, to, signal)
    // A 404 of the application is a valid response, but a 404 of the ingress is not; the ingress sends the same 404 for
    // any host.
    const isDoubtful = page.status === 404 || page.status === 503
    const other = isDoubtful ? await fetchPage(url, NOBODY, to, signal).catch(() => undefined) : undefined
    const { status, certificate } = page
    const isLikeNoRoute = other !== undefined && other.status === status && other.body === page.body
    return { status, ...(certificate !== undefined && { certificate }), ...(isLikeNoRoute && { isLikeNoRoute }) }
  } catch (error) {
    return { failure: failureText(error) }
  }
}

interface Page {
  readonly status: number
  readonly body: string
  readonly certificate?: string
}

function fetchPage(url: URL, host: string, to: string, signal: AbortSignal): Promise<Page> {
  const isSecure = url.protocol === 'https:'
  const options = {
    host: to,
    port: url.port || (isSecure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.port ? `${host}:${url.port}` : host, 'user-agent': 'devctl', accept: '*/*' },
    agent: false,
    signal,
  }
  return new Promise((resolve, reject) => {
    const take = (response: IncomingMessage) => {
      const certificate = isSecure ? distrust(response.socket as TLSSocket) : undefined // it is one, of https
      readSome(response).then(
        body => resolve({ status: response.statusCode ?? 0, body, ...(certificate !== undefined && { certificate }) }),
        reject,
      )
    }
    // An untrusted certificate is reported, but does not prevent the request: nothing secret is sent.
    const sent = isSecure
      ? secureRequest({ ...options, servername: host, rejectUnauthorized: false }, take)
      : plainRequest(options, take)
    sent.on('error', reject)
    sent.end()
  })
}

async function readSome(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('latin1')
  for await (const part of response) {
    text += part
    if (text.length >= BYTES) break
  }
  response.destroy()
  return text.slice(0, BYTES)
}

/** Resolves a host name or IP address to an address; undefined if it does not resolve. */
const resolved = (name: string): Promise<string | undefined> =>
  lookup(name).then(
    ({ address }) => address,
    () => undefined,
  )

function distrust(socket: TLSSocket): string | undefined {
  if (socket.authorized !== false) return undefined
  const code = `${(socket.authorizationError as NodeJS.ErrnoException | undefined)?.code ?? socket.authorizationError}`
  return CERTIFICATES[code] ?? code.toLowerCase().replaceAll('_', ' ')
}

const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its issuer is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its issuer is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its issuer is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
}

function failureText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') return 'the connection was refused'
  if (code === 'ECONNRESET') return 'the connection was cut'
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'it cannot be reached from here'
  return /SSL|TLS|EPROTO/.test(`${code} ${message}`) ? 'it does not speak TLS as it should' : message
}
