import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Span } from '../../../text/source.ts'
import { spanInside } from '../../../text/span-inside.ts'
import type { MapTree, ScalarTree, Tree } from '../../../text/tree.ts'
import { isIp } from '../../../values/ip-address.ts'
import type { Service, ServiceNetwork } from '../../project.ts'
import type { ReadContext } from '../context.ts'
import { entries, list, nonEmptyText, scalars, textOf } from '../tree-values.ts'

const badDns = diagnostic({
  code: 'dns/bad-address',
  severity: 'error',
  explain:
    '`dns` lists the IP addresses of name servers: `8.8.8.8` or `2001:4860:4860::8888`. Host names are not allowed.',
  text: (p: { address: string }) => ({ message: `the name server \`${p.address}\` is not an IP address` }),
})

const badSearch = diagnostic({
  code: 'dns/bad-search',
  severity: 'error',
  explain:
    '`dns_search` lists domains that are appended to short host names. A domain consists of labels of letters, digits, `-` and `_`, joined by dots, and has at most 253 characters.',
  text: (p: { domain: string }) => ({
    message: `the search domain \`${p.domain}\` is not a valid domain name`,
    hint: 'write a domain, for example `example.com`',
  }),
})

const badOption = diagnostic({
  code: 'dns/bad-option',
  severity: 'error',
  explain:
    'An item of `dns_opt` is a resolv.conf(5) option: `NAME` or `NAME:VALUE`, for example `use-vc` or `ndots:2`.',
  text: (p: { option: string }) => ({ message: `the resolver option \`${p.option}\` has no name` }),
})

const badHost = diagnostic({
  code: 'extra-hosts/bad-address',
  severity: 'error',
  explain: `\`extra_hosts\` gives a host name a fixed address: \`name=192.0.2.10\`, or \`name=host-gateway\` for the machine that runs the containers. Other host names are not allowed in place of the address.`,
  text: (p: { host: string; address: string }) => ({
    message: `the address \`${p.address}\` of the extra host \`${p.host}\` is not an IP address`,
    hint: `write \`${p.host || 'name'}=192.0.2.10\``,
  }),
})

/** Reads `networks` of a service. */
export function readServiceNetworks(service: MapTree): readonly ServiceNetwork[] {
  const found: ServiceNetwork[] = []
  for (const [name, { key, value }] of entries(service, 'networks'))
    found.push({ name, span: key, aliases: list(value, 'aliases'), addresses: readAddresses(value) })
  return found
}

const readAddresses = (network: Tree): readonly string[] =>
  ['ipv4_address', 'ipv6_address'].flatMap(key => nonEmptyText(network, key)?.value ?? [])

/** Reads `dns`. Reports items that are not IP addresses. */
export function readNameServers(service: MapTree, { reporter }: ReadContext): Service['dns'] {
  return list(service, 'dns').filter(({ value, span }) => {
    if (isIp(value)) return true
    reporter.report(badDns, span, { address: value })
    return false
  })
}

/**
 * Reads `dns_search` in lower case. Drops empty names, which have no effect. `.` alone means no search domains. Reports
 * invalid domains.
 */
export function readSearchDomains(service: MapTree, { reporter }: ReadContext): Service['dnsSearch'] {
  return list(service, 'dns_search').flatMap(({ value, span }) => {
    const domain = value.trim().toLowerCase()
    if (domain === '') return []
    const isDomain = domain.length <= 253 && domain.replace(/\.$/, '').split('.').every(isSearchLabel)
    if (domain === '.' || isDomain) return [{ value: domain, span }]
    reporter.report(badSearch, span, { domain: value })
    return []
  })
}

const isSearchLabel = (label: string): boolean => label.length <= 63 && /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/.test(label)

/** Reads `dns_opt`. Drops empty options, which have no effect. Reports options without a name. */
export function readDnsOptions(service: MapTree, { reporter }: ReadContext): Service['dnsOpt'] {
  return list(service, 'dns_opt').filter(({ value, span }) => {
    if (value === '') return false
    if (!value.startsWith(':')) return true
    reporter.report(badOption, span, { option: value })
    return false
  })
}

/** Reads `extra_hosts`. Reports invalid IP addresses. */
export function readExtraHosts(service: MapTree, context: ReadContext): Service['extraHosts'] {
  return scalars(service, 'extra_hosts').flatMap(item => readExtraHost(item, context) ?? [])
}

/** Reads an extra host in its canonical form, `host=address`. Reports an invalid item and returns undefined. */
function readExtraHost(item: ScalarTree, { reporter }: ReadContext): Service['extraHosts'][number] | undefined {
  const { value, span } = textOf(item)
  const equals = value.indexOf('=')
  const host = value.slice(0, Math.max(0, equals))
  const address = value.slice(equals + 1)
  if (host !== '' && (address === 'host-gateway' || isIp(address))) return { host, address, span }
  const place: Span = spanInside(item, equals + 1, value.length)
  reporter.report(badHost, place, { host, address })
  return undefined
}
