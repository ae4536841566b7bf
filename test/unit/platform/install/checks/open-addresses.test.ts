import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { clusterNetworks } from '../../../../../platform/install/checks/cluster-networks.ts'
import {
  type OpenAddresses,
  openAddresses,
  openProblem,
} from '../../../../../platform/install/checks/open-addresses.ts'
import { nodeAddresses } from '../../../../../platform/records/cluster-addresses.ts'
import type { Networks } from '../../../../../platform/records/network-rules.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const node = (name: string, ...addresses: readonly string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec: { podCIDRs: ['10.42.0.0/24'] },
  status: { addresses: addresses.map(address => ({ type: 'InternalIP', address })) },
})
const pod = (name: string, ip: string, more: object = {}, status: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'kube-system' },
  spec: { containers: [], ...more },
  status: { phase: 'Running', podIP: ip, podIPs: [{ ip }, { ip: 'fd00::7' }], ...status },
})

async function find(listed: Networks, ...objects: readonly KubeObject[]): Promise<OpenAddresses> {
  const cluster = new MemoryCluster({ namespaces: ['default', 'kube-system'] })
  cluster.register({ apiVersion: 'v1', kind: 'Node', name: 'nodes', namespaced: false, hasStatus: false })
  const services = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' }
  cluster.register({ ...services, name: 'servicecidrs', namespaced: false, hasStatus: false })
  await cluster.create({ ...services, metadata: { name: 'kubernetes' }, spec: { cidrs: ['20.43.0.0/16'] } })
  for (const { status, ...object } of objects) {
    const { apiVersion, kind, metadata } = await cluster.create(object as KubeObject)
    cluster.act({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace }, one => ({ ...one, status }))
  }
  const signal = AbortSignal.timeout(5000)
  return openAddresses(cluster, await clusterNetworks(cluster, signal), listed, signal)
}

const LISTED = { clusterNetworks: ['10.42.0.0/16', '20.43.0.0/16', '192.168.7.0/24'] }
const NOTHING: OpenAddresses = { nodes: [], pods: [], networks: [] }

describe('openAddresses', () => {
  test('openAddresses finds nothing if the listed networks include all addresses', async () => {
    expect(await find(LISTED, node('a', '192.168.7.4', 'fd00::1'), pod('dns', '10.42.0.9'))).toEqual(NOTHING)
  })

  test('openAddresses finds nodes, Pods and Services outside of the listed networks', async () => {
    const found = await find(
      { clusterNetworks: ['10.42.0.0/24'], privateNetworks: ['10.244.0.0/16'] },
      node('a', '10.42.0.1', '93.184.216.9'),
      pod('dns', '10.244.3.17'),
      pod('closed', '10.245.3.17'),
      pod('proxy', '93.184.216.9', { hostNetwork: true }),
      pod('done', '10.244.3.18', {}, { phase: 'Succeeded' }),
      pod('pending', '', {}, { podIP: undefined, podIPs: undefined }),
    )
    expect(found).toEqual({
      nodes: [{ of: 'a', address: '93.184.216.9' }],
      pods: [{ of: 'kube-system/dns', address: '10.244.3.17' }],
      networks: ['20.43.0.0/16'],
    })
  })

  test('link-local addresses are excluded without being listed', async () => {
    expect((await find(LISTED, pod('dns', '169.254.20.10'))).pods).toEqual([])
  })
})

describe('openProblem', () => {
  const pods = [3, 4, 5, 6, 7, 8].map(at => ({ of: `kube-system/dns-${at}`, address: `10.244.${at}.17` }))

  test('openProblem reports nothing without open addresses', () => {
    expect(openProblem(NOTHING, { clusterNetworks: [], areNetworksNamed: false })).toBeUndefined()
  })

  test('openProblem names the network of Pods, as far as their addresses show it', () => {
    expect(openProblem({ ...NOTHING, pods }, { clusterNetworks: ['10.43.0.0/16'], areNetworksNamed: false })).toEqual({
      message: 'namespaces, runs and builds can reach parts of the cluster that its listed networks do not include',
      notes: [
        'Pods: 10.244.3.17 (`kube-system/dns-3`), 10.244.4.17 (`kube-system/dns-4`), 10.244.5.17 (`kube-system/dns-5`), 10.244.6.17 (`kube-system/dns-6`), 10.244.7.17 (`kube-system/dns-7`), and 1 more',
      ],
      hint: '`devctl platform install --cluster-networks 10.244.0.0/20,10.43.0.0/16` excludes them; 10.244.0.0/20 is derived from the Pods that run now: name the whole network of Pods if you know it',
    })
  })

  test('openProblem uses the networks of Pods that nodes name', () => {
    const found = { ...NOTHING, pods: pods.slice(0, 1), networks: ['10.244.3.0/24'] }
    expect(openProblem(found, { clusterNetworks: ['10.43.0.0/16'], areNetworksNamed: true })?.hint).toBe(
      '`devctl platform install --cluster-networks 10.244.3.0/24,10.43.0.0/16` excludes them',
    )
  })
})

test('nodeAddresses returns each IPv4 address of a node once', () => {
  expect(nodeAddresses(node('a', '192.168.7.4', '192.168.7.4', 'fd00::1', 'a.example.com'))).toEqual(['192.168.7.4'])
  expect(nodeAddresses({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })).toEqual([])
})
