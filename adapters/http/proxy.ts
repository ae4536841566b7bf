import { BlockList, isIP } from 'node:net'

/**
 * Returns the proxy set in the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case), by the rules of
 * Go programs such as kubectl (https://pkg.go.dev/golang.org/x/net/http/httpproxy): no proxy is used for this machine,
 * nor for hosts that `NO_PROXY` lists directly, through a parent domain or through a network.
 */
export function proxyFor(server: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return undefined
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  const excepted = (env.NO_PROXY || env.no_proxy || '').split(',').map(entry => entry.trim().toLowerCase())
  if (excepted.some(entry => covers(entry, { host, port }))) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

/** Host of a server in lower case, without brackets, and its port. */
interface Place {
  readonly host: string
  readonly port: string
}

function covers(entry: string, { host, port }: Place): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inNetwork(host, entry)
  const excepted = placeOf(entry)
  if (excepted.port !== '' && excepted.port !== port) return false
  if (isIP(excepted.host) !== 0) return inNetwork(host, `${excepted.host}/${bitsOf(excepted.host)}`)
  return inDomain(host, excepted.host.replace(/^\*\./, '.'))
}

/** Splits an entry of `NO_PROXY` into host and port; the port is empty if the entry has none. */
function placeOf(entry: string): Place {
  const [, name = '', port = ''] = isIP(entry) === 0 ? /^(.*?)(?::(\d+))?$/.exec(entry)! : [entry, entry]
  return { host: name.replace(/^\[(.*)\]$/, '$1'), port }
}

/**
 * Returns true if a host is in a domain. The domain `example.com` contains the host `example.com` and all hosts below
 * it; `.example.com` contains only the hosts below it. No domain contains IP addresses.
 */
function inDomain(host: string, domain: string): boolean {
  if (domain === '' || isIP(host) !== 0) return false
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`)
}

/** Returns true if an address is in a network such as `10.0.0.0/8` or `fd00::/8`. */
function inNetwork(host: string, network: string): boolean {
  const [base = '', length = ''] = network.split('/')
  if (isIP(host) === 0 || isIP(base) === 0 || !/^\d+$/.test(length) || Number(length) > bitsOf(base)) return false
  const list = new BlockList()
  list.addSubnet(base, Number(length), familyOf(base))
  return list.check(host, familyOf(host))
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
const bitsOf = (address: string) => (isIP(address) === 6 ? 128 : 32)
