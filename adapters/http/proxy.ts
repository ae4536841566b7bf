import { isIP } from 'node:net'

/**
 * Returns the proxy set in the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case), by the rules of
 * Go programs such as kubectl: no proxy is used for this machine, nor for hosts that `NO_PROXY` lists directly or
 * through a parent domain.
 */
export function proxyFor(server: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return undefined
  const excepted = (env.NO_PROXY || env.no_proxy || '').split(',').map(entry => entry.trim().toLowerCase())
  if (excepted.some(entry => covers(entry, host, server.port))) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const [, name, ofPort] = /^(.*?)(?::(\d+))?$/.exec(entry)!
  if (ofPort !== undefined && isIP(entry) === 0 && ofPort !== (port || '443')) return false
  if (entry.includes('/')) return inNetwork(host, entry)
  const domain = isIP(entry) === 0 ? name!.replace(/^\*?\./, '') : entry
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`))
}

/** Returns true if an IPv4 address is in a network such as `10.0.0.0/8`. */
function inNetwork(host: string, network: string): boolean {
  const [base, length] = network.split('/')
  if (isIP(host) !== 4 || isIP(base!) !== 4) return false
  const number = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(length))
  return Math.floor(number(host) / size) === Math.floor(number(base!) / size)
}
