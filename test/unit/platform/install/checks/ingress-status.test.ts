import { expect, test } from 'vitest'
import { ingressProblem } from '../../../../../platform/install/checks/ingress-status.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const HOST = 'platform.dev.example.com'

async function problem(
  classes: Readonly<Record<string, boolean>>,
  more: { readonly ingressClass?: string; readonly addresses?: readonly string[] },
) {
  const cluster = new MemoryCluster()
  const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' }
  cluster.register({ ...kind, name: 'ingressclasses', namespaced: false, hasStatus: false })
  for (const [name, isDefault] of Object.entries(classes)) {
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) }
    await cluster.create({ ...kind, metadata: { name, annotations } })
  }
  return ingressProblem(cluster, { host: HOST, addresses: [], ...more }, AbortSignal.timeout(5000))
}

test('ingressProblem accepts an existing class, a default class, or an address of a controller', async () => {
  expect(await problem({ nginx: false }, { ingressClass: 'nginx' })).toBeUndefined()
  expect(await problem({ nginx: false, traefik: true }, {})).toBeUndefined()
  expect(await problem({}, { addresses: ['192.0.2.7'] })).toBeUndefined()
})

test('an ingress class that does not exist is a problem, even if the host has an address', async () => {
  expect(await problem({ traefik: true, kong: false }, { ingressClass: 'nginx', addresses: ['192.0.2.7'] })).toEqual({
    message: 'the ingress class `nginx` does not exist, so no ingress controller serves `platform.dev.example.com`',
    notes: [],
    hint: 'name a class that exists: `devctl platform install --ingress-class kong` or `devctl platform install --ingress-class traefik`',
  })
})

test('a cluster without a default ingress class is a problem', async () => {
  const message =
    'no ingress class is named, and the cluster has no default one: ingress controllers may ignore `platform.dev.example.com`'
  expect(await problem({ kong: false }, {})).toEqual({
    message,
    notes: [],
    hint: 'name a class that exists: `devctl platform install --ingress-class kong`',
  })
  expect(await problem({}, {})).toEqual({
    message,
    notes: [],
    hint: 'the cluster has no ingress class: install an ingress controller',
  })
})
