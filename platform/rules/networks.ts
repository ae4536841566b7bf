// IPv4 networks as strings, such as `10.42.0.0/16`. IPv6 networks do not matter, because no network policy allows IPv6
// addresses outside the cluster.

const IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

export const isIPv4 = (text: string): boolean => IPV4.test(text)

/**
 * Loopback addresses, and link-local addresses, where clouds serve the credentials of nodes. No option allows
 * connections to them.
 */
export const NEVER_OUTSIDE: readonly string[] = ['127.0.0.0/8', '169.254.0.0/16']

/**
 * Networks that are not part of the public internet, according to the IPv4 Special-Purpose Address Registry of IANA,
 * and the multicast and reserved networks. A node can have an address in these networks that its Node object does not
 * list.
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

/**
 * Converts an IPv4 address or network, such as `10.0.0.1` or `10.1.0.0/16`, to a list with one network. Returns an
 * empty list for names and for IPv6.
 */
export function toNetwork(text: string): readonly string[] {
  const [address = '', length = '32', more] = text.split('/')
  const isLength = /^\d{1,2}$/.test(length) && Number(length) >= 1 && Number(length) <= 32
  return isIPv4(address) && isLength && more === undefined ? [`${address}/${length}`] : []
}

/**
 * Returns both possible meanings of a network that is written with an address other than its first one: `10.1.2.3/16`
 * is `10.1.0.0/16` or `10.1.2.3/32`. Returns undefined if the network is unambiguous.
 */
export function twoMeanings(network: string): readonly [string, string] | undefined {
  const [address = '', length = '32'] = network.split('/')
  const start = textOf(firstOf(network))
  return start === address ? undefined : [`${start}/${length}`, `${address}/32`]
}

/** True if the network `one` is within the network `other`, or equal to it. */
export const isWithin = (one: string, other: string): boolean =>
  lengthOf(other) <= lengthOf(one) && firstOf(one, lengthOf(other)) === firstOf(other)

/** Returns the networks that no network of `by` contains. */
export const uncovered = (networks: readonly string[], by: readonly string[]): readonly string[] =>
  networks.filter(one => !by.some(other => isWithin(one, other)))

/** Returns the networks in order, without duplicates and without networks that another network of the list contains. */
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

/** Maximum and minimum prefix length of the networks that `networksAround` returns. */
const [LONGEST, SHORTEST] = [24, 16]

/**
 * Returns networks that contain the given IPv4 addresses, one for each /16 in which there are such addresses. Each
 * network is the smallest one that contains all given addresses of its /16, but not smaller than a /24.
 */
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

/**
 * Returns the first address of a network as a number. If `length` is less than the prefix length of the network,
 * returns the first address of the enclosing network with this prefix length.
 */
function firstOf(network: string, length = lengthOf(network)): number {
  const address = (network.split('/')[0] ?? '').split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - length)
  return Math.floor(address / size) * size
}

const textOf = (address: number): string => [24, 16, 8, 0].map(at => Math.floor(address / 2 ** at) % 256).join('.')
