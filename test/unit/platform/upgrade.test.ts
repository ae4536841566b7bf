import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { findPlatform } from '../../../platform/install/installed.ts'
import { platformObjects } from '../../../platform/install/manifests/server.ts'
import { readSettings } from '../../../platform/server/settings.ts'
import { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

const one = {
  version: '1.0.0',
  domain: 'dev.example.com',
  image: 'x',
  runnerImage: 'runner:1',
  replicas: 2,
  tlsSecret: 'wildcard',
  ingressClass: 'traefik',
  clusterNetworks: ['10.42.0.0/16'],
  privateNetworks: ['10.20.0.0/16'],
  kubernetes: { server: 'https://k.example.com' },
}

const isSettings = ({ kind, metadata }: KubeObject) => kind === 'ConfigMap' && metadata.name === 'settings'

test('an upgrade keeps the settings of an administrator and of earlier options', async () => {
  const objects = platformObjects(one)
  const cluster = new MemoryCluster({ namespaces: ['devctl-platform'] })
  cluster.register({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    name: 'ingresses',
    namespaced: true,
    hasStatus: true,
  })
  for (const { apiVersion, kind, metadata, spec, data } of objects) {
    if (kind === 'ConfigMap' && metadata.name === 'settings')
      await cluster.create({ apiVersion, kind, metadata, data: edited(data) })
    if (['Deployment', 'Ingress'].includes(kind)) await cluster.create({ apiVersion, kind, metadata, spec })
  }
  const world = { cluster, signal: AbortSignal.timeout(5000), now: Date.now, on: () => {} }
  const found = await findPlatform(world)
  expect(found?.options).toEqual({
    replicas: 2,
    tlsSecret: 'wildcard',
    ingressClass: 'traefik',
    clusterNetworks: ['10.42.0.0/16'],
    privateNetworks: ['10.20.0.0/16'],
    areNetworksNamed: false,
    server: 'https://k.example.com',
  })
  const upgrade = platformObjects({ ...one, runnerImage: 'runner:2', domain: 'new.example.com', kept: found!.kept })
  expect(readSettings(textOf(upgrade.find(isSettings)?.['data']))).toMatchObject({
    namespacesPerUser: 9,
    registry: 'registry.example.com',
    trustedProxies: ['10.0.0.0/16'],
    domain: 'new.example.com',
    url: 'https://platform.new.example.com',
    runs: { image: 'runner:2', perUser: 7, inAll: 20, deadline: 9000 },
    builders: { default: ['tcp://builder:1234'] },
    idleness: { sleep: { preview: 2 * 3_600_000 } },
  })
  const said = platformObjects({ ...one, trustedProxies: [], kept: found!.kept })
  expect(readSettings(textOf(said.find(isSettings)?.['data'])).trustedProxies).toEqual([])
})

const textOf = (data: unknown): string => (data as Record<string, string>)['settings.json']!

function edited(data: unknown): Readonly<Record<string, string>> {
  const before = JSON.parse(textOf(data))
  const runs = { ...before.runs, perUser: 7, inAll: 20, deadline: 9000 }
  const more = {
    namespacesPerUser: 9,
    registry: 'registry.example.com',
    trustedProxies: ['10.0.0.0/16'],
    builders: { default: ['tcp://builder:1234'] },
    sleepHours: { preview: 2 },
  }
  return { 'settings.json': JSON.stringify({ ...before, ...more, runs }) }
}
