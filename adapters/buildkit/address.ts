import { isIPv6 } from 'node:net'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** The address that BuildKit listens on. */
export interface BuilderAddress {
  /** The address before parsing, for messages. */
  readonly text: string
  /** The target for a gRPC client: `dns:///HOST:PORT` or `unix:PATH`. */
  readonly target: string
  /** Host name or IP address; absent for a Unix socket. */
  readonly host?: string
  /** True if the scheme requires TLS. */
  readonly isSecure: boolean
}

/** Default ports: `BUILDKIT_PORT`, the port of `buildkitd`, and `HTTPS_PORT` for addresses with `https://`. */
const BUILDKIT_PORT = 1234
const HTTPS_PORT = 443

const HINT = { hint: 'write `tcp://HOST:PORT`, `HOST:PORT`, `tls://HOST:PORT`, `https://HOST` or `unix:///PATH`' }

/**
 * Parses the address of a BuildKit daemon: `tcp://HOST:PORT` or `HOST:PORT` without TLS, `tls://` or `https://` with
 * TLS, or `unix:///PATH`. The default port is 1234, or 443 for `https://`. Throws a UserError for any other address.
 */
export function parseBuilderAddress(text: string): BuilderAddress {
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/|unix:(?=\/))?(.*)$/is.exec(text) ?? []
  if (/^unix:/i.test(text)) {
    const path = text.replace(/^unix:(?:\/\/)?/i, '')
    if (path.startsWith('/')) return { text, target: `unix:${path}`, isSecure: false }
    throw new UserError(`the socket of \`${text}\` is not an absolute path`, HINT)
  }
  switch (scheme.toLowerCase()) {
    case 'tcp':
      return { text, ...targetOf(text, rest, BUILDKIT_PORT), isSecure: false }
    case 'tls':
      return { text, ...targetOf(text, rest, BUILDKIT_PORT), isSecure: true }
    case 'https':
      return { text, ...targetOf(text, rest, HTTPS_PORT), isSecure: true }
    default:
      throw new UserError(`\`${text}\` is not an address of BuildKit: \`${scheme}://\` is not supported`, HINT)
  }
}

function targetOf(text: string, rest: string, defaultPort: number): { readonly target: string; readonly host: string } {
  const [, written = '', port = defaultPort] = /^(\[[^\]]*\]|[^:/?#@\s]*)(?::(\d{1,5}))?\/?$/.exec(rest) ?? []
  const host = written.replace(/^\[|\]$/g, '')
  const isHost = written === host ? host !== '' : isIPv6(host)
  if (isHost && Number(port) < 65_536) return { target: `dns:///${written}:${port}`, host }
  throw new UserError(`\`${text}\` is not an address of BuildKit`, HINT)
}
