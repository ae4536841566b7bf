import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { placeFor } from '../../../platform/rules/registry/registry-access.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few } from '../../support/takes-all.ts'

// Tests requests that a Pod could make its node send, since a node is in networks that Pods are not in, and ways to
// displace other Pods from the node.

const found = findCluster()

describe.skipIf(!found)('Pods that a member creates', () => {
  let platform: TestPlatform
  let member: Cluster
  const namespace = `pods-${RUN}`
  const pod = (spec: object, container = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', namespace },
    // The Pods are scheduled to no node, since only their admission is tested.
    spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'busybox', ...container }], ...spec },
  })
  /** Creates a Pod, and returns why it was refused. */
  const create = (one: KubeObject): Promise<string> =>
    member.create(one).then(
      () => 'it was not refused',
      (error: Error) => error.message,
    )
  const nfs = { volumes: [{ name: 'v', nfs: { server: '10.0.0.1', path: '/' } }] }

  beforeAll(async () => {
    platform = await openPlatform()
    const ann = await platform.person('ann')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: namespace } })).status).toBe(200)
    // Newer versions of the Pod Security level refuse some of these Pods, too.
    const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' }
    const one = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
    await platform.cluster.patch(one, { metadata: { labels } }, { manager: 'test' })
    const { token } = (await platform.call('POST /kube-token', { token: ann.token })).body
    member = platform.world.clusterAs(async () => token, 'ann')
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace }
    await eventually('Pods can be made', async () => ((await platform.cluster.get(account)) ? true : undefined))
    await eventually('the policy is in force', async () => {
      if ((await create(pod(nfs))).includes('mount a network share')) return true
      await member.delete({ apiVersion: 'v1', kind: 'Pod', name: 'one', namespace })
      return undefined
    })
  })
  afterAll(() => platform?.close())

  const volume = (source: object) => pod({ volumes: [{ name: 'v', ...source }] })
  test.each([
    ['a share of NFS', volume({ nfs: { server: '10.0.0.1', path: '/' } })],
    ['a share beside a volume of its own', pod({ volumes: [{ name: 'w', emptyDir: {} }, ...nfs.volumes] })],
    ['a disk of iSCSI', volume({ iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:a', lun: 0 } })],
    ['a share by a driver', volume({ csi: { driver: 'nfs.csi.k8s.io', volumeAttributes: { server: '10.0.0.1' } } })],
    ['a folder of the node', volume({ hostPath: { path: '/' } })],
  ])('Pods cannot mount %s', async (_, one) => {
    expect(await create(one)).toContain('cannot mount a network share')
  })

  const elsewhere = [
    { httpGet: { host: '169.254.169.254', port: 80 } },
    { tcpSocket: { host: '10.96.0.1', port: 443 } },
  ]
  test.each(
    elsewhere.flatMap(action => [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map(
        probe => [probe, action, { [probe]: action }, /a probe here cannot have/] as const,
      ),
      ...['postStart', 'preStop'].map(
        hook => [hook, action, { lifecycle: { [hook]: action } }, /a lifecycle hook here cannot have/] as const,
      ),
    ]),
  )('Pods cannot have a %s with the request %j', async (_, _action, container, why) => {
    expect(await create(pod({}, container))).toMatch(why)
    const waiting = { name: 'i', image: 'busybox', restartPolicy: 'Always', ...container }
    expect(await create(pod({ initContainers: [waiting] })), 'in a sidecar').toMatch(why)
  })

  const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }
  const one = { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace }
  const ended = async () => {
    await member.delete(one)
    await eventually('it is gone', async () => ((await member.get(one)) ? undefined : true))
  }
  const classOf = (name: string, value: number) =>
    platform.cluster.create({ ...priority, metadata: { name }, value } as unknown as KubeObject)
  test('Pods cannot have a priority above 0', async () => {
    const [high, low] = [`high-${RUN}`, `low-${RUN}`]
    await classOf(high, 1)
    await classOf(low, -1)
    try {
      for (const priorityClassName of ['system-node-critical', 'system-cluster-critical', high])
        expect(await create(pod({ priorityClassName })), priorityClassName).toContain('a priority above 0')
      await member.create(pod({ priorityClassName: low }))
    } finally {
      for (const name of [high, low]) await platform.cluster.delete({ ...priority, name })
    }
    await ended()
  })

  describe('affinities of Pods', () => {
    const topology = { topologyKey: 'kubernetes.io/os', labelSelector: {} }
    const forms = (term: object) =>
      ['podAntiAffinity', 'podAffinity'].flatMap(kind => [
        { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [topology, { ...topology, ...term }] } },
        {
          [kind]: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, podAffinityTerm: { ...topology, ...term } },
            ],
          },
        },
      ])
    test.each([
      { namespaceSelector: {} },
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
      { namespaces: ['kube-system'] },
      { namespaces: [namespace, 'kube-system'] },
      { namespaces: [namespace], namespaceSelector: {} },
    ])('Pods cannot have an affinity to Pods of other namespaces: %j', async term => {
      for (const affinity of forms(term))
        expect(await create(pod({ affinity })), JSON.stringify(affinity)).toContain(
          'affinity to Pods of other namespaces',
        )
    })

    test.each(few([{}, { namespaces: [] }, { namespaces: [namespace] }]))(
      'Pods may have an affinity to Pods of their namespace: %j',
      async term => {
        for (const affinity of forms(term)) {
          expect(await create(pod({ affinity })), JSON.stringify(affinity)).toBe('it was not refused')
          await ended()
        }
      },
    )
  })

  describe('images that the node has pulled for others', () => {
    const registry = 'images.dev.example.com'
    const id = 'a'.repeat(64)
    const others = [
      `${registry}/other-1f2e3d4c/web:1`,
      // Image of an earlier namespace of this name, which belonged to another user.
      `${registry}/${namespace}-1f2e3d4c/web:1`,
      `${registry}/${namespace}-pr-1f2e3d4c/web:1`,
      `${registry}/web:1`,
    ]
    const ID = 'an image cannot be referred to by its id'
    const OTHERS = 'an image of another namespace needs `pull_policy: always`'
    beforeAll(() =>
      eventually('the policy is in force', async () => {
        const image = others[0]
        if ((await create(pod({}, { image, imagePullPolicy: 'Never' }))).includes(OTHERS)) return true
        await member.delete(one)
        return undefined
      }),
    )

    test.each([
      // containerd also finds an image by the beginning of its id.
      ...[id, `sha256:${id}`, 'sha256:aa', 'sha256:a'].map(image => [image, 'IfNotPresent', ID]),
      ...others.flatMap(image => ['IfNotPresent', 'Never'].map(policy => [image, policy, OTHERS])),
    ] as const)('a Pod cannot use the image %s with the policy %s', async (image, imagePullPolicy, why) => {
      const container = { image, imagePullPolicy }
      expect(await create(pod({}, container))).toContain(why)
      const waiting = { name: 'i', restartPolicy: 'Always', ...container }
      expect(await create(pod({ initContainers: [waiting] })), 'in a sidecar').toContain(why)
      await member.create(pod({}, { image: 'busybox:1', imagePullPolicy }))
      try {
        await eventually('its image is changed to nothing else', async () => {
          const live = (await member.get(one)) as KubeObject & { spec: { containers: object[] } }
          const [first] = live.spec.containers
          const changed = {
            ...live,
            spec: { ...live.spec, containers: [{ ...first, image }] },
          } as unknown as KubeObject
          const { failure, message = '' } = await member.replace(changed).catch(error => error)
          if (failure === 'conflict') return undefined
          expect(message).toContain(why)
          return true
        })
        const path = `/api/v1/namespaces/${namespace}/pods/one/ephemeralcontainers`
        const debug = { spec: { ephemeralContainers: [{ name: 'e', ...container }] } }
        const answer = await found!.send('PATCH', path, debug, 'application/strategic-merge-patch+json')
        expect([answer.status >= 400, answer.body]).toEqual([true, expect.stringContaining(why)])
      } finally {
        await ended()
      }
    })

    const mount = async (reference: string, pullPolicy: string): Promise<string | undefined> => {
      const answer = await create(volume({ image: { reference, pullPolicy } }))
      if (answer !== 'it was not refused') return answer
      const live = (await member.get(one)) as KubeObject & { spec: { volumes: { image?: object }[] } }
      await ended()
      // Older versions of Kubernetes have no such volumes, and drop the fields.
      return live.spec.volumes.some(({ image }) => image) ? answer : undefined
    }
    test.each([
      ['sha256:aa', 'IfNotPresent', ID],
      [`sha256:${id}`, 'Always', ID],
      ...others.flatMap(image => ['IfNotPresent', 'Never'].map(policy => [image, policy, OTHERS] as const)),
      [`${registry}/shared/base:1`, 'Never', 'it was not refused'],
      [others[0]!, 'Always', 'it was not refused'],
    ] as const)(
      'an image volume of %s with the policy %s has the expected result: %s',
      async (reference, pullPolicy, why) => {
        const answer = await mount(reference, pullPolicy)
        if (answer !== undefined) expect(answer).toContain(why)
      },
    )

    test('a Pod may use images of its own namespace, also existing ones', async () => {
      const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
      const place = placeFor({ name: namespace, uid: live!.metadata.uid! })
      await member.create(pod({}, { image: `${registry}/${place}/web:1`, imagePullPolicy: 'Never' }))
      await ended()
    })

    test.each([
      [`${registry}/shared/base:1`, 'Never'],
      [others[0], 'Always'],
      ['registry.example.com/other-1f2e3d4c/web:1', 'IfNotPresent'],
    ])('a Pod may use the image %s with the policy %s', async (image, imagePullPolicy) => {
      await member.create(pod({}, { image, imagePullPolicy }))
      await ended()
    })
  })

  test('Pods end within ten minutes, however they are deleted', async () => {
    expect(await create(pod({ terminationGracePeriodSeconds: 601 }))).toContain('stop_grace_period')
    // A Pod without a node would end at once.
    await member.create(pod({ terminationGracePeriodSeconds: 600, nodeName: 'nowhere' }))
    const ask = async (method: string, path: string, body?: object) =>
      (await found!.send(method, `/api/v1/namespaces/${namespace}/pods${path}`, body)).body
    const late = { gracePeriodSeconds: 31_536_000 }
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'one', namespace },
      deleteOptions: late,
    }
    const ways = [
      ['DELETE', '/one', late],
      ['DELETE', '/one?gracePeriodSeconds=31536000', undefined],
      ['DELETE', '', late],
      ['DELETE', '?gracePeriodSeconds=31536000', undefined],
      ['POST', '/one/eviction', eviction],
    ] as const
    await eventually('the policy is in force', async () => {
      const answer = await ask('DELETE', '/one', { ...late, dryRun: ['All'] })
      return answer.includes('has to end within 10 minutes') ? true : undefined
    })
    for (const [method, path, body] of ways)
      expect(await ask(method, path, body), `${method} ${path}`).toContain('has to end within 10 minutes')
    for (const seconds of [600, 0])
      expect(await ask('DELETE', '/one', { gracePeriodSeconds: seconds })).toContain('"Pod"')
    await ended()
    await member.create(pod({}))
    expect(await ask('POST', '/one/eviction', { ...eviction, deleteOptions: undefined })).toContain('Success')
    await ended()
  })

  test('Pods may have usual volumes, probes and hooks', async () => {
    const sources = [
      { emptyDir: {} },
      { configMap: { name: 'x' } },
      { secret: { secretName: 'x' } },
      { persistentVolumeClaim: { claimName: 'x' } },
      { downwardAPI: { items: [] } },
      { projected: { sources: [{ secret: { name: 'x' } }] } },
      {
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
      { csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true } },
      {},
    ]
    const check = { httpGet: { port: 80, path: '/' } }
    const container = {
      livenessProbe: check,
      readinessProbe: { tcpSocket: { port: 80 } },
      startupProbe: { exec: { command: ['true'] } },
      lifecycle: { postStart: check, preStop: { exec: { command: ['true'] } } },
    }
    const volumes = sources.map((source, at) => ({ name: `v${at}`, ...source }))
    await member.create(pod({ volumes }, container))
    await member.patch(
      { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace },
      { metadata: { labels: { a: 'b' } } },
      { manager: 'test' },
    )
  })
})
