import { expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { installSecrets } from '../../../../platform/install/install.ts'
import { planInstall } from '../../../../platform/install/install-plan.ts'
import { requireKubernetes } from '../../../../platform/install/kubernetes-version.ts'
import type { Installation } from '../../../../platform/install/manifests/server.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const installation: Installation = {
  version: '0.1.0',
  domain: 'dev.example.com',
  image: 'registry.example.com/devctl/platform:0.1.0',
  runnerImage: 'registry.example.com/devctl/runner:0.1.0',
  replicas: 1,
  kubernetes: { server: 'https://k.example.com' },
}
const signal = AbortSignal.timeout(20_000)
const worldOf = (cluster: MemoryCluster) => ({ cluster, signal, now: () => Date.now(), on: () => {} })

/** A cluster of Kubernetes 1.29 has the policies only as a beta. */
const register = (cluster: MemoryCluster, version: string) =>
  cluster.register({
    apiVersion: `admissionregistration.k8s.io/${version}`,
    kind: 'ValidatingAdmissionPolicy',
    name: 'validatingadmissionpolicies',
    namespaced: false,
    hasStatus: false,
  })

test.each([
  ['install', planInstall],
  ['install --only-secrets', installSecrets],
])('%s refuses a cluster that is too old, and changes nothing in it', async (_, install) => {
  const cluster = new MemoryCluster({})
  register(cluster, 'v1beta1')
  const error = await install(worldOf(cluster), installation, { providers: [], secrets: {}, changed: [] }).then(
    () => undefined,
    (thrown: unknown) => thrown as UserError,
  )
  expect(error).toBeInstanceOf(UserError)
  expect([error?.message, error?.hint]).toEqual([
    `the cluster of \`${cluster.name}\` is too old for a platform: it has no \`ValidatingAdmissionPolicy\``,
    'upgrade the cluster to Kubernetes 1.30 or later',
  ])
  expect(await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'devctl-platform' })).toBeUndefined()
})

test('requireKubernetes accepts a cluster of Kubernetes 1.30', async () => {
  const cluster = new MemoryCluster({})
  register(cluster, 'v1')
  await requireKubernetes(cluster, signal)
})
