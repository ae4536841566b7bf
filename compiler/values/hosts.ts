import { failed, type Parsed, parsed } from './parsed.ts'

/**
 * An entry of `extra_hosts`. Addresses are as written, without brackets: IP addresses, or the keyword `host-gateway`.
 */
export interface ExtraHost {
  readonly host: string
  readonly addresses: readonly string[]
}

/**
 * Parses the short form of an extra host, `HOST=ADDRESS[,ADDRESS…]`, which may also use a colon instead of the equals
 * sign. Does not check the addresses. (Compose Specification, services, extra_hosts)
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
 * Splits a comma-separated list of addresses and removes blanks and brackets. A missing address becomes an empty
 * string.
 */
export function parseAddresses(text: string): string[] {
  return text.split(',').map(address => /^\[(.+)\]$/.exec(address.trim())?.[1] ?? address.trim())
}
