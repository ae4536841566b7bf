// Networks of IPv4 as texts: `10.42.0.0/16`. No way out leads over IPv6, so its networks are of no account.

const IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

export const isIPv4 = (text: string): boolean => IPV4.test(text)

/**
 * Link-local addresses, where clouds serve the credentials of nodes, and those of a machine itself: nothing opens
 * these.
 */
export const NEVER_OUTSIDE: readonly string[] = ['127.0.0.0/8', '169.254.0.0/16']

/**
 * The networks that are not of the public internet (IANA, IPv4 Special-Purpose Address Registry; multicast and reserved
 * ones). A node may have an address in any of them that its Node object does not list.
 */
export const NOT_PUBLIC: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  ...NEVER_OUTSIDE,
]

/** `10.0.0.1` and `10.1.0.0/16` as networks; nothing for names and for IPv6. */
export function toNetwork(text: string): readonly string[] {
  const [address = '', length = '32', more] = text.split('/')
  const isLength = /^\d{1,2}$/.test(length) && Number(length) >= 1 && Number(length) <= 32
  return isIPv4(address) && isLength && more === undefined ? [`${address}/${length}`] : []
}

/**
 * Returns both meanings of a network with an address inside: `10.1.2.3/16` is `10.1.0.0/16` or `10.1.2.3/32`;
 * undefined: it is clear.
 */
export function twoMeanings(network: string): readonly [string, string] | undefined {
  const [address = '', length = '32'] = network.split('/')
  const start = textOf(firstOf(network))
  return start === address ? undefined : [`${start}/${length}`, `${address}/32`]
}

/** True if a network is in another one, or the same. */
export const isWithin = (one: string, other: string): boolean =>
  lengthOf(other) <= lengthOf(one) && firstOf(one, lengthOf(other)) === firstOf(other)

/** The networks that are in none of the others. */
export const uncovered = (networks: readonly string[], by: readonly string[]): readonly string[] =>
  networks.filter(one => !by.some(other => isWithin(one, other)))

/** The networks without those that are in another one of them, each once, in order. */
export function outermost(networks: readonly string[]): readonly string[] {
  const all = [...new Set(networks)]
  return all
    .filter(
      one =>
        uncovered(
          [one],
          all.filter(other => other !== one),
        ).length > 0,
    )
    .sort()
}

/** The longest and the shortest prefix of a network around addresses. */
const [LONGEST, SHORTEST] = [24, 16]

/** Networks around IPv4 addresses, one for each /16: the smallest with all of its addresses, but at least a /24. */
export function networksAround(addresses: readonly string[]): readonly string[] {
  const starts = new Set(addresses.map(one => firstOf(`${one}/32`, SHORTEST)))
  return [...starts]
    .map(start => {
      const group = addresses.filter(one => firstOf(`${one}/32`, SHORTEST) === start)
      let length = LONGEST
      while (new Set(group.map(one => firstOf(`${one}/32`, length))).size > 1) length--
      return `${textOf(firstOf(`${group[0]}/32`, length))}/${length}`
    })
    .sort()
}

const lengthOf = (network: string): number => Number(network.split('/')[1] ?? 32)

/** The first address of a network, or of a larger one around it, as a number. */
function firstOf(network: string, length = lengthOf(network)): number {
  const address = (network.split('/')[0] ?? '').split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - length)
  return Math.floor(address / size) * size
}

const textOf = (address: number): string => [24, 16, 8, 0].map(at => Math.floor(address / 2 ** at) % 256).join('.')
