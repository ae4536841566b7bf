import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { builderIngressProblem, missingIngress } from '../../../../../platform/install/checks/builder-ingress.ts'
import { type BundledBuilders, builderObjects } from '../../../../../platform/install/manifests/builders.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const PODS = { namespace: 'kube-system', labels: { app: 'traefik' }, ports: [8443] }

/** Checks builders that were installed with these rules, when the platform is at an address. */
async function problem(host: string, installed: Partial<BundledBuilders>, services: readonly KubeObject[] = []) {
  const cluster = new MemoryCluster({ namespaces: ['devctl-build', 'kube-system'] })
  const one = { image: 'x', count: 1, untrusted: 0, size: '9Gi', networks: [], ingress: [], ...installed }
  for (const object of builderObjects({
    clusterNetworks: ['10.0.0.0/8'],
    privateNetworks: ['192.168.0.0/16', '10.0.7.0/24'],
    ...one,
  }))
    if (object.kind === 'NetworkPolicy') await cluster.create(object)
  for (const { status, ...service } of services) {
    await cluster.create(service as KubeObject)
    const { name, namespace } = service.metadata
    cluster.act({ apiVersion: 'v1', kind: 'Service', name, namespace }, live => ({ ...live, status }))
  }
  return (await builderIngressProblem(cluster, { host, networks: one.networks }, AbortSignal.timeout(5000)))?.message
}

const balancer = (namespace: string, ip: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'ingress', namespace },
  spec: { type: 'LoadBalancer', selector: { app: 'traefik' }, ports: [{ port: 443, targetPort: 8443 }] },
  status: { loadBalancer: { ingress: [{ ip }] } },
})

describe('access of builds to the ingress controller', () => {
  test('access is open to the address and the Pods that were found', async () => {
    expect(await problem('10.0.0.9', { ingress: [{ cidr: '10.0.0.9/32' }] })).toBeUndefined()
    const both = [{ cidr: '10.0.0.9/32' }, PODS]
    expect(await problem('10.0.0.9', { ingress: both }, [balancer('kube-system', '10.0.0.9')])).toBeUndefined()
  })

  test('access is open to a named or private network, and outside of the cluster', async () => {
    expect(await problem('10.0.0.9', { networks: ['10.0.0.0/24'] })).toBeUndefined()
    expect(await problem('93.184.216.9', {})).toBeUndefined()
    expect(await problem('192.168.1.9', { ingress: [{ cidr: '192.168.1.9/32' }] })).toBeUndefined()
    expect(await problem('192.168.1.9', {})).toBeUndefined()
  })

  test('access is closed if the controller has moved', async () => {
    expect(await problem('10.0.0.10', { ingress: [{ cidr: '10.0.0.9/32' }] })).toBe(
      'builds cannot reach the ingress controller, which has moved: 10.0.0.10/32',
    )
    expect(
      await problem('93.184.216.9', { ingress: [{ cidr: '93.184.216.9/32' }] }, [
        balancer('kube-system', '93.184.216.9'),
      ]),
    ).toBe('builds cannot reach the ingress controller, which has moved: Pods of `kube-system`')
  })

  test('access is closed if the controller was never found', async () => {
    expect(await problem('127.0.0.1', {})).toContain('the ingress controller was not found')
    expect(await problem('127.0.0.1', { networks: ['10.0.0.0/24'] })).toBeUndefined()
    expect(await problem('127.0.0.1', { ingress: [PODS] })).toBeUndefined()
  })
})

test('a missing ingress controller is reported before the installation, with what to do', () => {
  expect(missingIngress('platform.dev.example.com', [PODS], [])).toBeUndefined()
  expect(missingIngress('platform.dev.example.com', [], ['10.0.0.0/24'])).toBeUndefined()
  expect(missingIngress('platform.dev.example.com', [], [])).toEqual({
    message:
      'the ingress controller was not found, so builds cannot use what it serves, such as a registry of the platform',
    notes: ['neither the DNS record of `platform.dev.example.com` nor a Service of type `LoadBalancer` leads to it'],
    hint: 'create the DNS record `*.dev.example.com` and install again, or name the address of the ingress controller: `devctl platform install --builder-networks 10.42.0.5/32`',
  })
})
