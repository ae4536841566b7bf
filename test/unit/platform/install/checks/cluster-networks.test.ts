import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import {
  apiServerAddresses,
  clusterNetworks,
  isProxy,
  rangesIn,
  readPrivateNetworks,
} from '../../../../../platform/install/checks/cluster-networks.ts'
import { platformObjects } from '../../../../../platform/install/manifests/server.ts'
import { toOutside } from '../../../../../platform/records/network-rules.ts'
import { namespaceDefaults } from '../../../../../platform/server/namespaces/namespace-defaults.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

test('the networks of a cluster are those of its Pods, nodes, Services and API server', async () => {
  const cluster = new MemoryCluster({ namespaces: ['default'] })
  cluster.register({ apiVersion: 'v1', kind: 'Node', name: 'nodes', namespaced: false, hasStatus: false })
  cluster.register({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    name: 'servicecidrs',
    namespaced: false,
    hasStatus: false,
  })
  cluster.register({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    name: 'endpointslices',
    namespaced: true,
    hasStatus: false,
  })
  const node = (name: string, podCIDRs: readonly string[], address: string) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { podCIDRs },
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address },
      ],
    },
  })
  for (const one of [
    node('a', ['10.42.0.0/24', 'fd00::/64'], '192.168.1.2'),
    node('b', ['10.42.1.0/24'], '192.168.1.3'),
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs: ['10.43.0.0/16'] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.168.1.9'] }],
      ports: [{ port: 6443 }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes-6', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv6',
      endpoints: [{ addresses: ['fd00::9'] }],
      ports: [{ port: 6443 }],
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: { clusterIP: '10.43.0.1', ports: [{ port: 443 }] },
    },
  ])
    await cluster.create(one)
  expect(await apiServerAddresses(cluster, new AbortController().signal)).toEqual([
    { cidr: '10.43.0.1/32', port: 443 },
    { cidr: '192.168.1.9/32', port: 6443 },
    { cidr: 'fd00::9/128', port: 6443 },
  ])
  expect((await clusterNetworks(cluster, new AbortController().signal)).networks).toEqual([
    '10.42.0.0/24',
    '10.42.1.0/24',
    '10.43.0.0/16',
    '192.168.1.2/32',
    '192.168.1.3/32',
    '192.168.1.9/32',
  ])
})

test('rangesIn reads the range from the error of an older API server', () => {
  const message =
    'Service "x" is invalid: spec.clusterIPs: Invalid value: ["192.0.2.1"]: failed to allocate IP 192.0.2.1: the provided IP (192.0.2.1) is not in the valid range. The range of valid IPs is 10.96.0.0/16'
  expect(rangesIn(message)).toEqual(['10.96.0.0/16'])
  expect(rangesIn('forbidden')).toEqual([])
})

test('the egress rules of namespaces, runs and builds exclude the networks of the cluster', () => {
  const one = { version: '', domain: '', image: '', runnerImage: '', replicas: 1, kubernetes: { server: '' } }
  const networks = { clusterNetworks: ['20.42.0.0/16'], privateNetworks: ['10.9.0.0/16'] }
  const outside = (objects: readonly KubeObject[]) => {
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
    const rules = policies.flatMap(({ spec }) => (spec as { readonly egress?: readonly object[] }).egress ?? [])
    return rules.filter(rule => JSON.stringify(rule).includes('0.0.0.0/0'))
  }
  const bundledBuilders = { image: '', count: 1, untrusted: 0, size: '', networks: [] }
  const wanted = toOutside(networks)
  expect(outside(namespaceDefaults('shop', networks))).toEqual([wanted])
  expect(outside(platformObjects({ ...one, ...networks, bundledBuilders }))).toEqual([wanted, wanted])
})

test.each([
  ['10.0.0.1', true],
  ['10.0.0.0/24', true],
  ['fd00::/64', true],
  ['::1', true],
  ['0.0.0.0/0', false],
  ['::/0', false],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['ingress', false],
  ['', false],
])('isProxy(%s) returns %s', (text, wanted) => {
  expect(isProxy(text)).toBe(wanted)
})

test.each([
  ['169.254.169.254', 'cannot open `169.254.169.254/32`'],
  ['10.20.0.0/16,93.184.216.0/24', '`93.184.216.0/24` is no private network'],
  ['8.0.0.0/5', '`8.0.0.0/5` is no private network'],
  ['10.20.1.0/16', 'is not a network, but an address in one'],
  ['corp', 'is not an IPv4 network'],
])('%s cannot be opened as a private network', (text, why) => expect(() => readPrivateNetworks(text)).toThrow(why))

test('readPrivateNetworks reads named networks, and `-` as none', () => {
  expect(readPrivateNetworks('10.20.0.0/16, 192.168.7.9')).toEqual(['10.20.0.0/16', '192.168.7.9/32'])
  expect(readPrivateNetworks('-')).toEqual([])
})
