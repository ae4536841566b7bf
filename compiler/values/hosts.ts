import { failed, type Parsed, parsed } from './parsed.ts'

/**
 * An entry of `extra_hosts`. Addresses are as written, without brackets: IP addresses, or the word
 * `host-gateway`.
 */
export interface ExtraHost {
  readonly host: string
  readonly addresses: readonly string[]
}

/**
 * Reads the short form of an extra host, `HOST=ADDRESS[,ADDRESS…]`, or with a colon in place of the
 * equals sign. The addresses are not checked. (Compose Specification, services, extra_hosts)
 */
export function parseExtraHost(text: string): Parsed<ExtraHost> {
  const separator = text.includes('=') ? text.indexOf('=') : text.indexOf(':')
  if (separator < 0) return failed('the IP address is missing', `write \`${text || 'HOST'}=ADDRESS\``)
  const host = text.slice(0, separator).trim()
  if (host === '') return failed('the host name is missing', 'write `HOST=ADDRESS`', [0, separator + 1])
  if (host.includes(':')) return failed(`\`${host}\` is not a valid host name`, 'write `HOST=ADDRESS`', [0, separator])
  const addresses = parseAddresses(text.slice(separator + 1))
  if (addresses.includes(''))
    return failed('the IP address is missing', `write \`${host}=ADDRESS\``, [separator, text.length])
  return parsed({ host, addresses })
}

/**
 * The addresses of a comma-separated list, without blanks and brackets; the empty string where one
 * is missing.
 */
export function parseAddresses(text: string): string[] {
  return text.split(',').map(address => /^\[(.+)\]$/.exec(address.trim())?.[1] ?? address.trim())
}
