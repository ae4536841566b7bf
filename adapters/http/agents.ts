import { Agent, type AgentOptions } from 'node:http'
import { Agent as SecureAgent, type AgentOptions as SecureAgentOptions } from 'node:https'
import { isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, type TLSSocket } from 'node:tls'

/** Options of Node's agents: for keeping connections open, and for trusted certificates. */
export type ConnectionOptions = Pick<AgentOptions, 'keepAlive' | 'maxSockets' | 'maxFreeSockets' | 'timeout'> &
  Pick<SecureAgentOptions, 'secureContext' | 'rejectUnauthorized' | 'servername'>

/** Timeout for a proxy to establish a tunnel, in milliseconds. */
const TUNNEL = 10_000

/** Error of a proxy that refuses a connection; `code` is `EPROXY`. */
class ProxyError extends Error {
  readonly code = 'EPROXY'
}

/**
 * Returns an agent that connects to a server; if a proxy is set, through the proxy with the method CONNECT
 * (https://www.rfc-editor.org/rfc/rfc9110#CONNECT): the proxy sees the host and the port of the server. `proxy` is an
 * HTTP or HTTPS URL, which may contain a login, as returned by `proxyFor`. Throws a ProxyError for an invalid address.
 */
export async function agentFor(
  server: URL,
  proxy: string | undefined,
  options: ConnectionOptions = {},
): Promise<Agent> {
  const isSecure = server.protocol === 'https:'
  if (proxy === undefined) return isSecure ? new SecureAgent(options) : new Agent(options)
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol))
    throw new ProxyError('the address of the proxy is not an http or https URL')
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent')
  const url = new URL(proxy)
  // The package decodes user and password, and throws at a literal percent sign.
  url.username = withEscapes(url.username)
  url.password = withEscapes(url.password)
  const agent = isSecure
    ? new HttpsProxyAgent({ ...options, proxy: url })
    : new HttpProxyAgent({ ...options, proxy: url })
  return telling(agent, url)
}

/**
 * Opens a TLS connection to a server through a proxy; the handshake may not have finished. The caller checks whether
 * the certificate is trusted.
 */
export async function tunnelTo(server: URL, proxy: string, options: ConnectionOptions): Promise<TLSSocket> {
  const agent = (await agentFor(server, proxy)) as unknown as { createConnection: Connect }
  const { hostname: host, port } = server
  return new Promise((resolve, reject) => {
    agent.createConnection({ timeout: TUNNEL, ...options, host, port: Number(port || 443) }, (error, socket) => {
      if (error) return reject(error)
      // The caller adds its own listeners slightly later.
      socket!.on('error', () => {})
      resolve(socket as TLSSocket) // that of a server with https
    })
  })
}

function withEscapes(part: string): string {
  const escaped = part.replaceAll(/%(?![\da-f]{2})/gi, '%25')
  try {
    decodeURIComponent(escaped)
    return escaped
  } catch {
    // The escapes do not decode to UTF-8.
    return part.replaceAll('%', '%25')
  }
}

type Connect = (options: SecureAgentOptions, done: (error: Error | null, socket?: Duplex) => void) => void

/** Changes an agent so that its error names the proxy if the proxy refuses a connection or cannot be reached. */
function telling<A extends Agent>(agent: A, { host }: URL): A {
  // The packages' types hide that an agent has this method:
  // https://nodejs.org/api/http.html#agentcreateconnectionoptions-callback
  const own = agent as unknown as { createConnection: Connect; proxyRequestOptions: object }
  const connect = own.createConnection.bind(agent)
  own.createConnection = (options, done) => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), TUNNEL)
    // The package reads these options of the CONNECT request before it returns.
    own.proxyRequestOptions = { signal: late.signal }
    connect(withBrackets(options), (error, socket) => {
      clearTimeout(timer)
      done(
        error && toldOf(late.signal.aborted ? new Error(`no answer within ${TUNNEL / 1000} s`) : error, host),
        socket,
      )
    })
  }
  return agent
}

/** Puts an IPv6 address in brackets for CONNECT. TLS compares the certificate with the address itself. */
function withBrackets(options: SecureAgentOptions): SecureAgentOptions {
  const { host } = options
  if (!host || !isIPv6(host)) return options
  return {
    ...options,
    host: `[${host}]`,
    checkServerIdentity: (name, certificate) => checkServerIdentity(name.replace(/^\[|\]$/g, ''), certificate),
  }
}

function toldOf(error: Error, host: string): Error {
  const status = /^Bad response: (\d+)$/.exec(error.message)?.[1]
  if (status !== undefined) return new ProxyError(`the proxy \`${host}\` answers ${status}`, { cause: error })
  return new ProxyError(`the proxy \`${host}\` cannot be reached: ${error.message}`, { cause: error })
}
