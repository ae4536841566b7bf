import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { fromMember } from '../../../platform/records/member.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Limits an attacker who has broken into the server: its account has no rights outside of namespaces that it created.

describe.skipIf(!process.env.KUBECONFIG)("the platform's own account", () => {
  let platform: TestPlatform
  let ann: Person
  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
  })
  afterAll(() => platform?.close())

  const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  })
  const refused = async (work: Promise<unknown>) => {
    const error: { readonly failure?: string; readonly status?: number } = await work.then(
      () => ({}),
      caught => caught,
    )
    // Missing rights give the status 403, a policy gives 422.
    expect([403, 422]).toContain(error.status)
  }
  const apply = (object: KubeObject) => platform.own.apply(object, { manager: 'thief', force: true })

  test('the account creates only managed namespaces, and adopts none', async () => {
    await refused(platform.own.create(namespace(`plain-${RUN}`)))
    await refused(apply(namespace('kube-system', { 'dev.platform/managed': 'true' })))
    await refused(apply(namespace('default', { 'dev.platform/managed': 'true' })))
    await refused(
      platform.own.patch(
        { apiVersion: 'v1', kind: 'Namespace', name: ann.home },
        { metadata: { labels: { 'dev.platform/managed': null } } },
        { manager: 'thief' },
      ),
    )
    await refused(platform.own.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-public' }))
  })

  test('the account creates no namespace whose Pods could take over a node', async () => {
    const managed = { 'dev.platform/managed': 'true' }
    const level = (value: string, key = 'enforce') => ({ [`pod-security.kubernetes.io/${key}`]: value })
    for (const labels of [{}, level('privileged'), { ...level('baseline'), ...level('v1.0', 'enforce-version') }])
      await refused(platform.own.create(namespace(`roots-${RUN}`, { ...managed, ...labels })))
    await refused(
      platform.own.patch(
        { apiVersion: 'v1', kind: 'Namespace', name: ann.home },
        { metadata: { labels: level('privileged') } },
        { manager: 'thief' },
      ),
    )
  })

  test('the account writes only the pull secret of a namespace, and its reference in the account', async () => {
    const secret = (name: string, type = 'kubernetes.io/dockerconfigjson'): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: ann.home, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type,
      data: { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') },
    })
    await apply(secret('devctl-registry'))
    await refused(apply(secret('other')))
    await refused(platform.own.create(secret('other')))
    const ref = { apiVersion: 'v1', kind: 'Secret', name: 'devctl-registry', namespace: ann.home }
    await refused(platform.own.get(ref))
    await refused(platform.own.delete(ref))
    await platform.cluster.delete(ref)
    await refused(apply(secret('devctl-registry', 'kubernetes.io/service-account-token')))
    await refused(apply({ ...secret('devctl-registry'), metadata: { name: 'devctl-registry', namespace: 'default' } }))

    const account = (name: string, more: object, annotations = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: ann.home, annotations },
      ...more,
    })
    const imagePullSecrets = [{ name: 'devctl-registry' }]
    await apply(account('default', { imagePullSecrets }))
    await refused(apply(account('other', { imagePullSecrets })))
    await refused(apply(account('default', { imagePullSecrets, secrets: [{ name: 'x' }] })))
    await refused(apply(account('default', { imagePullSecrets, automountServiceAccountToken: true })))
    await refused(apply(account('default', { imagePullSecrets }, { 'eks.amazonaws.com/role-arn': 'x' })))
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const ofAccount = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace: ann.home }
    await refused(platform.own.createIn(ofAccount, 'token', token))
  })

  test('the account deletes no quota, limits or network policy, and opens no network to runs', async () => {
    for (const [apiVersion, kind] of [
      ['v1', 'ResourceQuota'],
      ['v1', 'LimitRange'],
      ['networking.k8s.io/v1', 'NetworkPolicy'],
    ] as const) {
      const ref = { apiVersion, kind, name: 'devctl', namespace: ann.home }
      await refused(platform.own.delete(ref))
      expect(await platform.cluster.get(ref), kind).toBeDefined()
    }
    const open = (namespace: string): KubeObject => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'devctl-runs', namespace },
      spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
    })
    for (const namespace of ['devctl-runs', 'devctl-users', 'devctl-platform']) await refused(apply(open(namespace)))
  })

  test('the account gives itself and others no role of a developer', async () => {
    const binding = fromMember({ namespace: ann.home, user: ann.id, role: 'developer' })
    for (const subject of [
      { kind: 'ServiceAccount', namespace: 'devctl-platform', name: 'platform' },
      { kind: 'ServiceAccount', namespace: ann.home, name: 'default' },
      { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' },
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mallory' },
    ])
      await refused(apply({ ...binding, metadata: { ...binding.metadata, name: 'more' }, subjects: [subject] }))
  })

  test('the account gives users no rights outside of managed namespaces, and no more than a role', async () => {
    await refused(apply(fromMember({ namespace: 'kube-system', user: ann.id, role: 'developer' })))
    await refused(apply(fromMember({ namespace: 'devctl-platform', user: ann.id, role: 'developer' })))
    const binding = fromMember({ namespace: ann.home, user: ann.id, role: 'owner' })
    await refused(
      apply({
        ...binding,
        metadata: { ...binding.metadata, name: 'more' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      }),
    )
  })

  test('the account gives users and runs no rights but those of members', async () => {
    const subjects = [
      { kind: 'ServiceAccount', namespace: 'devctl-users', name: `u-${ann.id}` },
      { kind: 'ServiceAccount', namespace: 'devctl-runs', name: 'thief' },
    ]
    for (const subject of subjects) {
      const bind = (namespace: string, name: string, kind = 'ClusterRole') =>
        apply({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'more', namespace },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
          subjects: [subject],
        })
      // The policy would not apply to the platform's own role: neither to the level of a namespace, nor to further
      // rights.
      await refused(bind(ann.home, 'devctl-platform'))
      await refused(bind(ann.home, 'devctl-keeper'))
      for (const namespace of ['devctl-users', 'devctl-runs']) {
        // A developer could delete the network policies there.
        await refused(bind(namespace, 'devctl-developer'))
        await refused(bind(namespace, 'devctl-platform', 'Role'))
        await refused(bind(namespace, 'devctl-platform'))
      }
    }
  })

  test('the account reads no Secret, Pod or ConfigMap of users', async () => {
    for (const kind of ['Secret', 'Pod', 'ConfigMap'])
      await refused(platform.own.list({ apiVersion: 'v1', kind, namespace: ann.home }))
    await refused(platform.own.list({ apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system' }))
  })

  test('the account sees its own workload, and changes neither the workload nor its settings', async () => {
    await platform.deployServer()
    const server = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: 'devctl-platform' }
    expect((await platform.own.get(server))?.metadata.name).toBe('platform')
    await refused(platform.own.get({ ...server, name: 'another' }))
    await refused(platform.own.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'devctl-platform' }))
    await refused(platform.own.patch(server, { spec: { replicas: 0 } }, { manager: 'test' }))
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'devctl-platform' }
    await refused(platform.own.patch(settings, { data: { 'settings.json': '{}' } }, { manager: 'test' }))
    for (const name of ['keys', 'login', 'registry', 'builders'])
      await refused(platform.own.get({ apiVersion: 'v1', kind: 'Secret', name, namespace: 'devctl-platform' }))
  })

  test('the account gets no token of another account', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace: 'kube-system' }
    await refused(
      platform.own.createIn(account, 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 600 },
      }),
    )
  })
})
