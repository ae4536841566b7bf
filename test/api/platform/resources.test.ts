import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pause } from '../../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { namespaceDefaults } from '../../../platform/server/namespaces/namespace-defaults.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

/** Largest number of revisions of StatefulSets and DaemonSets, as set by the quota. */
const REVISIONS = 5

// Tests the resources of nodes that one namespace can use up, at the expense of others, by Pods of a member.

describe.skipIf(!process.env.KUBECONFIG)('memory and disk of a namespace', () => {
  let platform: TestPlatform
  let member: Cluster
  const namespace = `resources-${RUN}`
  beforeAll(async () => {
    platform = await openPlatform({
      quota: {
        'count/widgets.example.com': '7',
        'count/leases.coordination.k8s.io': '150',
        'count/controllerrevisions.apps': String(REVISIONS),
      },
    })
    const ann = await platform.person('ann')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: namespace } })).status).toBe(200)
    const { token } = (await platform.call('POST /kube-token', { token: ann.token })).body
    member = platform.world.clusterAs(async () => token, 'ann')
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace }
    await eventually('Pods can be made', async () => ((await platform.cluster.get(account)) ? true : undefined))
    // The API server refuses all Pods until the controller has counted the existing objects.
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', name: 'devctl', namespace }
    await eventually('the quota is counted', async () => {
      const { status } = (await platform.cluster.get(quota)) as { readonly status?: { readonly used?: object } }
      return status?.used
    })
  })
  afterAll(() => platform?.close())

  const pod = (name: string, ...all: readonly object[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    // The Pods are scheduled to no node, since only their admission is tested.
    spec: {
      schedulerName: 'nobody',
      containers: all.map((resources, at) => ({ name: `c${at}`, image: 'busybox', resources })),
    },
  })
  const refused = (one: KubeObject) =>
    member.create(one).then(
      () => 'it was not refused',
      (error: Error) => error.message,
    )

  test('a container without resources gets requests and limits', async () => {
    const made = await member.create(pod('plain', {}))
    const { containers } = made['spec'] as { containers: { resources: object }[] }
    expect(containers[0]!.resources).toEqual({
      requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '32Mi' },
      limits: { memory: '2Gi', 'ephemeral-storage': '8Gi' },
    })
  })

  test('a container cannot have more than the limit of one', async () => {
    expect(await refused(pod('memory', { limits: { memory: '9Gi' } }))).toContain('maximum memory usage')
    expect(await refused(pod('disk', { limits: { 'ephemeral-storage': '21Gi' } }))).toContain('ephemeral-storage usage')
    expect(await refused(pod('request', { requests: { memory: '3Gi' } }))).toContain('memory limit of 2Gi')
    await member.create(pod('large', { requests: { memory: '3Gi' }, limits: { memory: '8Gi' } }))
  })

  test('all containers together cannot have more than the quota', async () => {
    const eight = { requests: { memory: '32Mi' }, limits: { memory: '8Gi' } }
    expect(await refused(pod('many', ...Array.from({ length: 8 }, () => eight)))).toContain('limits.memory=64Gi')
    const disk = { limits: { 'ephemeral-storage': '20Gi' } }
    expect(await refused(pod('disks', disk, disk, disk))).toContain('requests.ephemeral-storage=50Gi')
  })

  test('the quota limits the number of all kinds that a member can create', async () => {
    const { cluster } = platform
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'devctl-developer' }
    interface Rule {
      readonly apiGroups?: readonly string[]
      readonly resources?: readonly string[]
      readonly verbs: readonly string[]
    }
    const rules = await eventually('the role has rights', async () => {
      const found = (await cluster.get(role))?.['rules'] as readonly Rule[] | undefined
      return found?.some(({ resources }) => resources?.includes('deployments')) ? found : undefined
    })
    const kinds = rules
      .filter(({ verbs }) => verbs.includes('create') || verbs.includes('*'))
      .flatMap(({ apiGroups = [], resources = [] }) =>
        apiGroups.flatMap(group => resources.map(one => (group === '' ? one : `${one}.${group}`))),
      )
      // No quota counts events, and no member may write them (below); subresources are not objects, so none counts
      // them.
      .filter(one => !one.includes('/') && one !== 'events')
      // Kinds that an operator has added are left out.
      .filter(one =>
        /^[^.]+(\.(apps|batch|autoscaling|policy|(coordination|networking|resource)\.k8s\.io))?$/.test(one),
      )
    expect(kinds).toContain('deployments.apps')
    expect(namespaceDefaults(namespace, {}).at(-1)).toMatchObject({
      spec: { hard: { 'count/controllerrevisions.apps': '500' } },
    })
    const quota = await cluster.get({ apiVersion: 'v1', kind: 'ResourceQuota', name: 'devctl', namespace })
    const { hard } = quota!['spec'] as { readonly hard: Readonly<Record<string, string>> }
    // The settings of the operator apply to all namespaces.
    expect(hard).toMatchObject({ 'count/widgets.example.com': '7', 'count/leases.coordination.k8s.io': '150' })
    expect(kinds.filter(one => hard[`count/${one}`] === undefined && hard[one] === undefined)).toEqual([])
    for (const one of kinds) expect(Number(hard[`count/${one}`] ?? hard[one]), one).toBeLessThanOrEqual(500)
  })

  test('members cannot create more objects of a kind than the quota', async () => {
    const claim = (name: string): KubeObject => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: {},
    })
    const names = Array.from({ length: 210 }, (_, at) => `l${at}`)
    const refusals = await Promise.all(names.map(name => refused(claim(name))))
    expect(refusals.filter(one => one.includes('exceeded quota')).length).toBeGreaterThanOrEqual(60)
    const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace }
    expect((await member.list(leases)).length).toBeLessThanOrEqual(150)
  })

  test('controllers cannot create more objects for a member than the quota', async () => {
    const labels = { app: 'revised' }
    const revised = (revision: number): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'revised', namespace },
      spec: {
        replicas: 0,
        revisionHistoryLimit: 100_000,
        serviceName: 'revised',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { revision: String(revision) } },
          spec: { containers: [{ name: 'c', image: 'busybox' }] },
        },
      },
    })
    const revisions = async () =>
      (await platform.cluster.list({ apiVersion: 'apps/v1', kind: 'ControllerRevision', namespace })).length
    let revision = 0
    await eventually('its history is as long as it may be', async () => {
      await member.apply(revised(revision++), { manager: 'test', force: true })
      return (await revisions()) >= REVISIONS ? true : undefined
    })
    for (const _ of Array.from({ length: 20 }))
      await member.apply(revised(revision++), { manager: 'test', force: true })
    await pause(1000, undefined)
    expect(await revisions()).toBe(REVISIONS)
  })

  test('members cannot write events, which no quota counts', async () => {
    const about = { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace }
    const event = (name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: about,
      reason: 'Test',
      message: 'x'.repeat(1000),
      type: 'Normal',
    })
    const newer = (name: string): KubeObject => ({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/test',
      reportingInstance: 'test',
      action: 'Test',
      reason: 'Test',
      regarding: about,
      type: 'Normal',
    })
    // The API server takes a moment to follow a new policy.
    await eventually('the policy is in force', async () =>
      (await refused(event(`mine-${Math.random()}`))).includes('events are written by controllers and nodes only')
        ? true
        : undefined,
    )
    expect(await refused(newer('mine'))).toContain('forbidden')
    // Controllers create events with their own rights.
    await platform.cluster.create(event('theirs'))
    const theirs = { apiVersion: 'v1', kind: 'Event', name: 'theirs', namespace }
    await expect(member.patch(theirs, { message: 'y' }, { manager: 'ann' })).rejects.toThrow('events are written by')
    const emptied = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'theirs', namespace }, message: 'z' }
    await expect(member.apply(emptied, { manager: 'ann', force: true })).rejects.toThrow('events are written by')
  })

  test('members cannot set a finalizer that only other programs remove', async () => {
    const map = (name: string, finalizers: readonly string[]): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, finalizers },
    })
    const denied = 'the finalizer example.com/x cannot be set here'
    await eventually('the policy is in force', async () =>
      (await refused(map(`held-${Math.random()}`, ['example.com/x']))).includes(denied) ? true : undefined,
    )
    // Kubernetes removes this finalizer only from objects of other kinds.
    const ofClaims = 'kubernetes.io/pvc-protection'
    expect(await refused(map('like-a-claim', [ofClaims]))).toContain(`the finalizer ${ofClaims} cannot be set`)
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'claim', namespace, finalizers: [ofClaims] },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    }
    await member.create(claim)
    await member.create(map('collected', ['foregroundDeletion']))

    await member.create(map('later', []))
    const later = { apiVersion: 'v1', kind: 'ConfigMap', name: 'later', namespace }
    const held = { metadata: { finalizers: ['example.com/x'] } }
    await expect(member.patch(later, held, { manager: 'ann' })).rejects.toThrow(denied)
    await expect(member.apply(map('later', ['example.com/x']), { manager: 'ann', force: true })).rejects.toThrow(denied)
    // Other users may set it, and members may change objects that have it, and remove it.
    await platform.cluster.patch(later, held, { manager: 'its-program' })
    await member.patch(later, { data: { a: 'b' } }, { manager: 'ann' })
    await member.patch(later, { metadata: { finalizers: [] } }, { manager: 'ann' })
  })
})
