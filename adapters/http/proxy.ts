import { isIP } from 'node:net'

/**
 * The proxy that the environment asks for (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either
 * case), as Go's programs read it, kubectl among them: nothing goes through a proxy to this
 * machine, nor to hosts that `NO_PROXY` names, alone or by a domain above them.
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

/** True if an IPv4 address is in a network such as `10.0.0.0/8`. */
function inNetwork(host: string, network: string): boolean {
  const [base, length] = network.split('/')
  if (isIP(host) !== 4 || isIP(base!) !== 4) return false
  const number = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(length))
  return Math.floor(number(host) / size) === Math.floor(number(base!) / size)
}
