import { isIp } from './ip-address.ts'
import { type Failed, failed, type Parsed, parsed } from './parsed.ts'

export interface PublishedPort {
  readonly target: number
  /**
   * Published port: a number, or a range from which the engine chooses one port for the target. `0` lets the engine
   * choose any port.
   */
  readonly published?: string
  /** Host address without brackets. */
  readonly hostIp?: string
  readonly protocol: 'tcp' | 'udp' | 'sctp'
}

/**
 * Parses the short form of a port, `[[IP:][host]:]container[/protocol]`, where host and container may be ranges.
 * Returns one entry per container port, sorted by text like the reference loader. An IPv6 address may have no brackets.
 * (Compose Specification, services, ports, short syntax)
 */
export function parsePorts(text: string, spend: (ports: number) => void = () => {}): Parsed<PublishedPort[]> {
  const parts = split(text)
  const protocol = parseProtocol(parts.protocol)
  if (!protocol.ok) return protocol
  if (parts.container.text === '') {
    return failed('the container port is missing', 'write `HOST:CONTAINER`, or only the container port', [
      0,
      text.length,
    ])
  }
  const target = parseRange(parts.container, 'container', 1)
  if (!target.ok) return target
  const host = parts.host.text === '' ? undefined : parseRange(parts.host, 'host', 0)
  if (host?.ok === false) return host
  const address = parseAddress(parts.address)
  if (!address.ok) return address

  const [first, last] = target.value
  const pool = first === last
  if (host && !pool && host.value[1] - host.value[0] !== last - first) {
    return failed(
      `${count(host.value)} of the host cannot stand for ${count(target.value)} of the container`,
      'give both ranges the same length',
    )
  }
  spend(last - first)
  const ports: PublishedPort[] = []
  for (let port = first; port <= last; port++) {
    const published = host && (pool ? rangeText(host.value) : String(host.value[0] + port - first))
    ports.push({
      target: port,
      ...(published !== undefined && { published }),
      ...(address.value !== '' && { hostIp: address.value }),
      protocol: protocol.value,
    })
  }
  return parsed(ports.sort((a, b) => byText(`${a.target}/`, `${b.target}/`)))
}

type Range = readonly [first: number, last: number]

interface Part {
  readonly text: string
  readonly start: number
}

/**
 * Splits the text of a port at its slash and at its last two colons. The address before these colons may be an IPv6
 * address, which contains colons itself.
 */
function split(text: string): { address: Part; host: Part; container: Part; protocol: Part } {
  const slash = text.indexOf('/')
  const ports = slash < 0 ? text : text.slice(0, slash)
  const protocol = slash < 0 ? { text: '', start: text.length } : { text: text.slice(slash + 1), start: slash + 1 }
  const second = ports.lastIndexOf(':')
  const first = second < 0 ? -1 : ports.slice(0, second).lastIndexOf(':')
  return {
    address: { text: ports.slice(0, Math.max(first, 0)), start: 0 },
    host: { text: ports.slice(first + 1, Math.max(second, 0)), start: first + 1 },
    container: { text: ports.slice(second + 1), start: second + 1 },
    protocol,
  }
}

function parseProtocol(part: Part): Parsed<'tcp' | 'udp' | 'sctp'> {
  const protocol = part.text === '' ? 'tcp' : part.text.toLowerCase()
  if (protocol === 'tcp' || protocol === 'udp' || protocol === 'sctp') return parsed(protocol)
  return failed(`\`${part.text}\` is not a valid protocol`, 'use `tcp`, `udp` or `sctp`', place(part))
}

function parseRange(part: Part, what: 'host' | 'container', least: number): Parsed<Range> {
  const match = /^([0-9]+)(?:-([0-9]+))?$/.exec(part.text)
  if (!match) return notPort(part, what)
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  for (const port of [first, last]) {
    if (port < least || port > 65535) return failed(`${port} is not between ${least} and 65535`, undefined, place(part))
  }
  if (last < first) return failed(`the range \`${part.text}\` is descending`, `write \`${last}-${first}\``, place(part))
  return parsed([first, last])
}

function notPort(part: Part, what: 'host' | 'container'): Failed {
  const hint = isIp(part.text)
    ? `after an IP address come a host port and a container port: \`${part.text}:8080:80\``
    : 'a port is a number or a range such as `8000-8010`'
  return failed(`\`${part.text}\` is not a valid ${what} port`, hint, place(part))
}

/** Parses the address of a port and removes its brackets. Returns an empty text if there is no address. */
function parseAddress(part: Part): Parsed<string> {
  const address = /^\[(.*)\]$/.exec(part.text)?.[1] ?? part.text
  if (address === '' || isIp(address)) return parsed(address)
  const hint = 'host ports are bound to addresses such as `127.0.0.1` or `[::1]`, not to names'
  return failed(`\`${address}\` is not an IP address`, hint, place(part))
}

const place = (part: Part): [number, number] => [part.start, part.start + part.text.length]
const rangeText = ([first, last]: Range): string => (first === last ? String(first) : `${first}-${last}`)
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function count([first, last]: Range): string {
  const ports = last - first + 1
  return ports === 1 ? '1 port' : `${ports} ports`
}
