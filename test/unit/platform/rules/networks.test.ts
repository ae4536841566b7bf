import { isIPv4 as isIPv4OfNode } from 'node:net'
import { describe, expect, test } from 'vitest'
import { toOutside } from '../../../../platform/records/network-rules.ts'
import {
  isIPv4,
  isWithin,
  NEVER_OUTSIDE,
  NOT_PUBLIC,
  networksAround,
  outermost,
  toNetwork,
  twoMeanings,
  uncovered,
} from '../../../../platform/rules/networks.ts'

test.each([
  ['10.0.0.1', ['10.0.0.1/32']],
  ['10.0.0.0/8', ['10.0.0.0/8']],
  ['0.0.0.0/0', []],
  ['10.0.0.0/33', []],
  ['10.0.0.0/8/8', []],
  ['fd00::/64', []],
  ['node-a', []],
])('toNetwork reads %s as %j', (text, wanted) => {
  expect(toNetwork(text)).toEqual(wanted)
})

test.each([
  ['10.42.0.0/16', undefined],
  ['10.42.0.1/32', undefined],
  ['10.42.3.7/16', ['10.42.0.0/16', '10.42.3.7/32']],
  ['255.255.255.255/1', ['128.0.0.0/1', '255.255.255.255/32']],
])('twoMeanings finds both meanings of %s', (network, meanings) => expect(twoMeanings(network)).toEqual(meanings))

test('uncovered returns the networks that no named network includes', () => {
  const found = ['10.42.0.0/24', '10.96.0.0/12', '192.168.1.7/32']
  expect(uncovered(found, ['10.0.0.0/8', '192.168.1.0/24'])).toEqual([])
  // A forgotten prefix length names only one address.
  expect(uncovered(found, ['10.0.0.0/32', '192.168.1.0/24'])).toEqual(['10.42.0.0/24', '10.96.0.0/12'])
  expect(uncovered(found, ['10.42.0.0/16', '10.96.0.0/16', '192.168.1.7/32'])).toEqual(['10.96.0.0/12'])
  expect(uncovered(found, [])).toEqual(found)
})

test('outermost drops networks inside of another one', () => {
  expect(outermost(['10.42.0.0/16', '10.0.0.0/8', '20.0.0.1/32', '10.0.0.0/8'])).toEqual(['10.0.0.0/8', '20.0.0.1/32'])
})

interface Block {
  readonly cidr: string
  readonly except?: readonly string[]
}

/** Returns true if an egress rule leads to an address. */
const leadsTo = ({ to }: ReturnType<typeof toOutside>, address: string): boolean =>
  to.some(({ ipBlock }) => {
    const { cidr, except = [] }: Block = ipBlock
    const isIn = cidr === '0.0.0.0/0' || isWithin(`${address}/32`, cidr)
    return isIn && !except.some(one => isWithin(`${address}/32`, one))
  })

describe('toOutside', () => {
  const networks = { clusterNetworks: ['10.42.0.0/16', '10.20.0.7/32', '93.184.216.9/32'] }
  const PUBLIC = ['1.1.1.1', '93.184.216.34', '172.15.255.255', '172.32.0.1', '192.167.1.1', '100.128.0.1']

  test.each(PUBLIC)('the egress rule allows the public address %s', address => {
    expect(leadsTo(toOutside(networks), address)).toBe(true)
  })

  test.each([
    ...['0.0.0.0', '10.42.0.1', '10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.17.0.1', '172.31.1.1'],
    ...['192.0.2.2', '192.168.49.2', '198.18.0.1', '203.0.113.5', '224.0.0.1', '255.255.255.255'],
    '93.184.216.9',
  ])('the egress rule excludes %s, which may be a node', address => {
    expect(leadsTo(toOutside(networks), address)).toBe(false)
  })

  test('the egress rule opens named private networks, without cluster and link-local addresses', () => {
    const open = toOutside({
      ...networks,
      privateNetworks: ['10.20.0.0/16', '10.20.3.0/24', '10.42.7.0/24', '169.254.169.254/32'],
    })
    expect(leadsTo(open, '10.20.3.9')).toBe(true)
    for (const address of ['10.20.0.7', '10.42.7.1', '10.21.0.1', '169.254.169.254'])
      expect([address, leadsTo(open, address)]).toEqual([address, false])
    expect(open.to.map(({ ipBlock }) => ipBlock.cidr)).toEqual(['0.0.0.0/0', '10.20.0.0/16'])
  })

  test('the exceptions of the egress rule are inside of their block, and smaller', () => {
    const { to } = toOutside({ clusterNetworks: ['10.20.0.0/16'], privateNetworks: ['10.0.0.0/8', '10.20.0.0/16'] })
    expect(to[1]).toEqual({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.20.0.0/16'] } })
    expect(uncovered(NEVER_OUTSIDE, NOT_PUBLIC)).toEqual([])
  })
})

test.each<readonly [readonly string[], readonly string[]]>([
  [[], []],
  [['10.244.3.17'], ['10.244.3.0/24']],
  [['10.244.3.17', '10.244.3.200'], ['10.244.3.0/24']],
  [['10.244.3.17', '10.244.0.2'], ['10.244.0.0/22']],
  [['10.244.255.1', '10.244.0.2'], ['10.244.0.0/16']],
  [
    ['10.1.0.1', '10.2.0.1'],
    ['10.1.0.0/24', '10.2.0.0/24'],
  ],
])('networksAround groups the addresses %j', (addresses, wanted) => {
  expect(networksAround(addresses)).toEqual(wanted)
})

test('isIPv4 agrees with Node.js', () => {
  for (const text of ['0.0.0.0', '255.255.255.255', '256.1.1.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.', '::1', ''])
    expect(isIPv4(text), text).toBe(isIPv4OfNode(text))
})
