import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, ClusterError, type KubeObject, type ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { policyJson } from '../../../constructs/isolation-policy.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { planOf } from '../../support/plan/compose.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { longTest } from '../../support/takes-all.ts'

// Tests all ways in which a member can write network policies: none opens what the policies of the platform close.

describe.skipIf(!process.env.KUBECONFIG)('network policies that a member writes', () => {
  let platform: TestPlatform
  /** The cluster with the rights that Ann has in her namespace. */
  let member: Cluster
  let token: string
  const namespace = `policies-${RUN}`
  const ref: ObjectRef = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: 'mine', namespace }
  const policy = (spec: object, name = 'mine'): KubeObject => ({
    apiVersion: ref.apiVersion,
    kind: ref.kind,
    metadata: { name, namespace },
    spec: { podSelector: {}, ...spec },
  })
  const harmless = policy({ ingress: [] })
  const everything = policy({ policyTypes: ['Egress'], egress: [{}] })

  beforeAll(async () => {
    platform = await openPlatform()
    const ann = await platform.person('ann')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: namespace } })).status).toBe(200)
    token = (await platform.call('POST /kube-token', { token: ann.token })).body.token
    member = platform.world.clusterAs(async () => token, 'ann')
    await eventually('the policy is in force', () =>
      member.apply(everything, { manager: 'test', dryRun: true }).then(
        () => undefined,
        (error: Error) => (error.message.includes('`egress` can only allow Pods') ? true : undefined),
      ),
    )
  })
  afterAll(() => platform?.close())

  const dns = [{ port: 53, protocol: 'UDP' }]
  const pods = { podSelector: { matchLabels: { app: 'db' } } }
  const out = (...to: readonly object[]) => ({ policyTypes: ['Egress'], egress: [{ to }] })
  const outBy = (ports: readonly object[], ...to: readonly object[]) => ({ egress: [{ to, ports }] })
  const wide: readonly (readonly [string, object])[] = [
    ['everything', everything['spec'] as object],
    ['everything, without the types', { egress: [{}] }],
    ['everything, by an empty list', out()],
    ['everything, on a port', { egress: [{ ports: [{ port: 6443, protocol: 'TCP' }] }] }],
    ['everything, on the port of DNS', { egress: [{ ports: dns }] }],
    ['everything, but said to be about what comes in', { policyTypes: ['Ingress'], egress: [{}] }],
    ['all addresses', out({ ipBlock: { cidr: '0.0.0.0/0' } })],
    ['all addresses but some', out({ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } })],
    ['all addresses of IPv6', out({ ipBlock: { cidr: '::/0' } })],
    ['one address', out({ ipBlock: { cidr: '10.96.0.1/32' } })],
    ['the metadata of a cloud', out({ ipBlock: { cidr: '169.254.169.254/32' } })],
    ['link-local addresses', out({ ipBlock: { cidr: '169.254.0.0/16' } })],
    ['addresses around those of DNS', outBy(dns, { ipBlock: { cidr: '169.0.0.0/8' } })],
    ['all namespaces', out({ namespaceSelector: {} })],
    ['Pods of another namespace', out({ namespaceSelector: { matchLabels: { a: 'b' } }, ...pods })],
    ['the own Pods, and others', out(pods, { namespaceSelector: {} })],
    ['other namespaces on another port', outBy([{ port: 80, protocol: 'TCP' }], { namespaceSelector: {} })],
    ['other namespaces by DNS and more', outBy([...dns, { port: 80 }], { namespaceSelector: {} })],
    ['other namespaces on a range', outBy([{ port: 53, endPort: 9000 }], { namespaceSelector: {} })],
    ['other namespaces on a port by name', outBy([{ port: 'dns', protocol: 'TCP' }], { namespaceSelector: {} })],
    ['other namespaces on all ports of UDP', outBy([{ protocol: 'UDP' }], { namespaceSelector: {} })],
    ['other namespaces on no port', outBy([], { namespaceSelector: {} })],
    ['a good rule, and everything', { egress: [{ to: [pods] }, {}] }],
  ]
  const refused = async (work: Promise<unknown>, what: string, why: RegExp) => {
    const error = await work.then(
      () => new Error('it was not refused'),
      caught => caught as Error,
    )
    expect(error.message, what).toMatch(why)
  }
  /** Replaces a policy, up to 10 times if another writer changes it at the same moment. */
  const replace = async (one: KubeObject): Promise<unknown> => {
    for (let attempt = 1; ; attempt++) {
      const { resourceVersion } = (await member.get({ ...ref, name: one.metadata.name }))!.metadata
      try {
        return await member.replace({ ...one, metadata: { ...one.metadata, resourceVersion } } as KubeObject)
      } catch (error) {
        if (attempt === 10 || !(error instanceof ClusterError) || error.failure !== 'conflict') throw error
      }
    }
  }

  /** Deletes all policies of the namespace with one request. Returns the response. */
  async function deleteAll(): Promise<string> {
    const { server, ca } = platform.world.settings.kubernetes
    const url = new URL(`/apis/${ref.apiVersion}/namespaces/${namespace}/networkpolicies`, server)
    const sent = request(url, { method: 'DELETE', ca, headers: { authorization: `Bearer ${token}` } })
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
    return await text(answer)
  }

  test.each(wide)('network policies cannot allow egress to %s, however they are written', async (_, spec) => {
    const one = policy(spec)
    const why = /`egress` can only allow Pods/
    await refused(member.create(one), 'create', why)
    await refused(member.apply(one, { manager: 'thief', force: true }), 'apply', why)
    await member.create(harmless)
    try {
      await refused(member.patch(ref, { spec: one['spec'] }, { manager: 'thief' }), 'patch', why)
      await refused(replace(one), 'replace', why)
      await refused(member.apply(one, { manager: 'thief', force: true }), 'apply over it', why)
    } finally {
      await member.delete(ref)
    }
  })

  const narrow: readonly (readonly [string, object])[] = [
    ['nothing', { policyTypes: ['Ingress', 'Egress'] }],
    ['nothing, by an empty list', { policyTypes: ['Egress'], egress: [] }],
    ['the own Pods', out({ podSelector: {} })],
    ['some of them, on a port', outBy([{ port: 5432, protocol: 'TCP' }], pods)],
    [
      'DNS',
      outBy(
        [...dns, { port: 5353, protocol: 'TCP' }],
        { namespaceSelector: {} },
        { ipBlock: { cidr: '169.254.0.0/16' } },
      ),
    ],
    ['DNS of one namespace', outBy(dns, { namespaceSelector: { matchLabels: { a: 'b' } }, ...pods })],
  ]
  test.each(narrow)('network policies may allow egress to %s, and be changed and deleted', async (_, spec) => {
    await member.create(policy(spec))
    await replace(policy({ ...spec, ingress: [{ from: [{ namespaceSelector: {} }] }, { ports: [{ port: 80 }] }, {}] }))
    expect(await member.delete(ref)).toBe(true)
  })

  test('network policies that devctl compiles are allowed', async () => {
    const { plan } = planOf(`
services:
  web: {image: w, networks: [front, back], ports: ["8080:80"]}
  db: {image: d, networks: [back], depends_on: {far: {condition: service_healthy}}}
  far: {image: d, networks: [other], expose: ["5432"]}
  shy: {image: s, network_mode: none}
networks: {front: , back: {internal: true}, other: {external: true}}
`)
    const names = plan.policies.map(({ name }) => name)
    expect(names).toEqual([
      'app-db-waits-for',
      'app-far-awaited',
      'app-internal-back',
      'app-network-back',
      'app-network-front',
      'app-network-other',
      'app-shy-none',
      'app-web-public',
    ])
    for (const one of plan.policies) {
      const object = policyJson(one, { ...plan.environment, namespace }) as KubeObject
      await member.apply(object, { manager: 'devctl', force: true })
      await member.delete({ ...ref, name: one.name })
    }
  })

  test('members cannot change or delete the policies of the platform', async () => {
    const all = await platform.cluster.list({ ...ref })
    const names = all.map(({ metadata }) => metadata.name).sort()
    expect(names).toEqual(['devctl', 'devctl-inside', 'devctl-outside'])
    for (const name of names) {
      const one = policy({ ingress: [{}] }, name)
      const where = { ...ref, name }
      const why = /belongs to the platform/
      await refused(member.apply(one, { manager: 'thief', force: true }), 'apply', why)
      await refused(
        member.patch(where, { spec: { podSelector: { matchLabels: { a: 'b' } } } }, { manager: 'thief' }),
        'patch',
        why,
      )
      await refused(member.patch(where, { metadata: { labels: { a: 'b' } } }, { manager: 'thief' }), 'labels', why)
      await refused(replace(one), 'replace', why)
      await refused(member.delete(where), 'delete', why)
    }
    expect(await deleteAll()).toContain('belongs to the platform')
    expect((await platform.cluster.list({ ...ref })).map(({ spec }) => spec)).toEqual(all.map(({ spec }) => spec))
  })

  test('cluster administrators and the platform may write policies; only the former delete them', async () => {
    for (const who of [platform.cluster, platform.own]) {
      await who.apply(everything, { manager: 'test', force: true })
      await who.patch({ ...ref, name: 'devctl' }, { metadata: { labels: { a: 'b' } } }, { manager: 'test' })
    }
    await refused(platform.own.delete(ref), 'delete', /cannot delete/)
    expect(await platform.cluster.delete(ref)).toBe(true)
  })

  longTest('the deletion of a namespace deletes all of its policies', async () => {
    const gone = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
    await platform.cluster.delete(gone)
    await eventually('it is gone', async () => ((await platform.cluster.get(gone)) ? undefined : true))
  })
})
