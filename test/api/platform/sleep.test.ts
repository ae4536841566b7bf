import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { LAST_ACTIVE } from '../../../platform/records/namespace.ts'
import { PAGES_OF_MEMBERS } from '../../../platform/server/http/member-objects.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

// Tests sleep and wake with a real API server and the rights of the server.

describe.skipIf(!process.env.KUBECONFIG)('sleep of a namespace', () => {
  let platform: TestPlatform
  let ann: Person
  let bob: Person
  const ns = `nap-${RUN}`
  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, bob] = await platform.people('ann', 'bob')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: ns } })).status).toBe(200)
    for (const object of application()) await platform.cluster.apply(object, { manager: 'devctl', force: true })
  })
  afterAll(async () => {
    await platform?.parts.sleep.settled()
    await platform?.close()
  })

  const sleep = (who = ann) => platform.call('POST /namespaces/:ns/sleep', { token: who.token, params: { ns } })
  const wake = (who = ann) => platform.call('POST /namespaces/:ns/wake', { token: who.token, params: { ns } })
  const get = (apiVersion: string, kind: string, name: string) =>
    platform.cluster.get({ apiVersion, kind, name, namespace: ns })
  const spec = async (apiVersion: string, kind: string, name: string) =>
    ((await get(apiVersion, kind, name))?.['spec'] ?? {}) as Readonly<Record<string, unknown>>
  const state = async () => ({
    web: (await spec('apps/v1', 'Deployment', 'web'))['replicas'],
    none: (await spec('apps/v1', 'Deployment', 'none'))['replicas'],
    flux: (await spec('apps/v1', 'Deployment', 'flux'))['replicas'],
    db: (await spec('apps/v1', 'StatefulSet', 'db'))['replicas'],
    claims: (await spec('apps/v1', 'StatefulSet', 'db'))['persistentVolumeClaimRetentionPolicy'],
    nightly: (await spec('batch/v1', 'CronJob', 'nightly'))['suspend'],
    route: (await spec('networking.k8s.io/v1', 'Ingress', 'web'))['ingressClassName'],
    old: (await get('networking.k8s.io/v1', 'Ingress', 'old'))?.metadata.annotations?.['kubernetes.io/ingress.class'],
  })
  const status = async () =>
    (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ns }))?.metadata.labels?.[
      'dev.platform/status'
    ]
  const isReady = (ready: boolean) =>
    platform.cluster.apply(
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'web-test', namespace: ns, labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready } }],
        ports: [{ port: 80 }],
      },
      { manager: 'test', force: true },
    )

  const awake = {
    web: 2,
    none: 0,
    flux: 1,
    db: 1,
    claims: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    nightly: false,
    route: 'traefik',
    old: 'nginx',
  }
  const asleep = {
    web: 0,
    none: 0,
    // Flux restores the replicas that git has.
    flux: 1,
    db: 0,
    // Sleep deletes no data.
    claims: { whenScaled: 'Retain', whenDeleted: 'Retain' },
    nightly: true,
    route: 'devctl-asleep',
    old: 'devctl-asleep',
  }

  test('sleep stops all workloads, and reports those that it cannot stop', async () => {
    expect(await state()).toEqual(awake)
    const { status: code, body } = await sleep()
    expect([code, body]).toEqual([200, { kept: ['`deployment/flux` stays awake: Flux keeps it as it is in git'] }])
    expect(await state()).toEqual(asleep)
    expect(await status()).toBe('Sleeping')
    // A second sleep forgets nothing.
    expect((await sleep()).status).toBe(200)
    expect(await state()).toEqual(asleep)
  })

  test('wake restores the workloads first, and routes when their backends are ready', async () => {
    await isReady(false)
    expect(await wake()).toMatchObject({ status: 200, body: { status: 'Waking' } })
    expect(await state()).toEqual({ ...awake, route: 'devctl-asleep', old: 'devctl-asleep' })
    expect(await status()).toBe('Waking')
    // Concurrent requests cause one wake.
    expect((await Promise.all([wake(), wake(), wake()])).map(({ body }) => body.status)).toEqual(
      Array(3).fill('Waking'),
    )
    await isReady(true)
    await eventually('its routes are open', async () => ((await status()) === 'Active' ? true : undefined))
    expect(await state()).toEqual(awake)
    expect((await wake()).body).toEqual({ status: 'Active' })
  })

  test('wake does not revert changes that were made by hand in the meantime', async () => {
    await sleep()
    await platform.cluster.patch(
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: ns },
      { spec: { replicas: 5 } },
      { manager: 'kubectl' },
    )
    await platform.cluster.delete({ apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', namespace: ns })
    await wake()
    await eventually('it is awake', async () => ((await status()) === 'Active' ? true : undefined))
    expect(await state()).toEqual({ ...awake, web: 5, nightly: undefined })
  })

  test('a server that dies during sleep or wake leaves a namespace that can be woken', async () => {
    for (const object of application()) await platform.cluster.apply(object, { manager: 'devctl', force: true })
    const before = await state()
    for (let dies = 1; dies <= 12; dies += TAKES_ALL ? 1 : 3) {
      let left = dies
      const dying = new Proxy(platform.own, {
        get(target, key) {
          const value = Reflect.get(target, key)
          if (key !== 'patch') return typeof value === 'function' ? value.bind(target) : value
          return (...words: Parameters<typeof target.patch>) =>
            left-- > 0 ? target.patch(...words) : Promise.reject(new Error('it is dead'))
        },
      })
      const { Sleep } = await import('../../../platform/server/sleep/sleep.ts')
      const broken = new Sleep({ ...platform.world, cluster: dying })
      await broken.sleep({ name: ns }).catch(() => {})
      await broken.wake({ name: ns }).catch(() => {})
      await broken.settled()
      if ((await status()) === 'Sleeping') await wake()
      else await platform.parts.sleep.goOn({ name: ns }, AbortSignal.timeout(60_000))
      await eventually('it is awake', async () => ((await status()) === 'Active' ? true : undefined))
      expect(await state(), `dead after ${dies} changes`).toEqual(before)
    }
  })

  test('sleep is refused during a deploy, and to other users', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'devctl-shop', namespace: ns },
      spec: { holderIdentity: 'ann@laptop (1)', renewTime: new Date().toISOString().replace('Z', '000Z') },
    }
    await platform.cluster.apply(lease, { manager: 'test', force: true })
    expect((await sleep()).error).toMatchObject({
      code: 'platform/busy',
      message: expect.stringContaining('ann@laptop'),
    })
    await platform.cluster.delete({ ...lease, name: 'devctl-shop', namespace: ns })
    expect(await status()).toBe('Active')
    expect((await sleep(bob)).status).toBe(404)
    expect((await wake(bob)).status).toBe(404)
  })

  test('the account of the server may change no other fields of workloads and routes', async () => {
    const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: ns }
    const route = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', namespace: ns }
    const cron = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', namespace: ns }
    const wrong: readonly (readonly [typeof web, object])[] = [
      [web, { spec: { template: { spec: { containers: [{ name: 'web', image: 'evil' }] } } } }],
      [web, { spec: { template: { spec: { serviceAccountName: 'other' } } } }],
      [web, { spec: { replicas: 1, paused: true } }],
      [web, { metadata: { annotations: { any: 'one' } } }],
      [web, { metadata: { labels: { any: 'one' } } }],
      [web, { metadata: { finalizers: ['any/one'] } }],
      // These hosts belong to the namespace; hosts of others are tested in hosts.test.ts.
      [route, { spec: { tls: null, rules: [{ host: `other-${ns}.dev.example.com` }] } }],
      [route, { spec: { rules: [{ host: `web-${ns}.dev.example.com` }] } }],
      [route, { spec: { tls: null } }],
      [route, { metadata: { annotations: { 'nginx.ingress.kubernetes.io/rewrite-target': '/x' } } }],
      [cron, { spec: { schedule: '* * * * *' } }],
      [cron, { spec: { jobTemplate: { spec: { backoffLimit: 3 } } } }],
    ]
    for (const [ref, patch] of wrong)
      await expect(
        platform.own.patch(ref, patch as Readonly<Record<string, unknown>>, { manager: 'thief' }),
        JSON.stringify(patch),
      ).rejects.toMatchObject({ message: expect.stringContaining('the platform may change only the fields of') })
    const mine = { metadata: { name: 'x', namespace: ns } }
    await expect(platform.own.create({ ...application()[0]!, ...mine })).rejects.toMatchObject({ status: 403 })
    await expect(platform.own.delete(web)).rejects.toMatchObject({ status: 403 })
  })

  test('sleep restores a route whose controller ignores the class, and reports it', async () => {
    const { Sleep } = await import('../../../platform/server/sleep/sleep.ts')
    const annotation = async () =>
      (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ns }))?.metadata.annotations?.[
        'dev.platform/routes-unfollowed'
      ]
    const asked: string[] = []
    const by = (leads: (host: string) => boolean | undefined) =>
      new Sleep({
        ...platform.world,
        leadsHere: async host => {
          asked.push(host)
          return leads(host)
        },
      })
    // One controller follows the class; the other one ignores it.
    const one = by(host => host.startsWith('web-'))
    expect(await one.sleep({ name: ns })).toHaveLength(1)
    expect((await state()).old).toBe('devctl-asleep')
    expect(await one.looked(ns)).toEqual([
      `\`ingress/old\` does not wake the namespace: the ingress controller ignores its class; \`devctl namespace wake ${ns}\` wakes it`,
    ])
    expect([await state(), await annotation()]).toEqual([{ ...asleep, old: 'nginx' }, 'true'])
    expect(new Set(asked)).toEqual(new Set([`web-${ns}.dev.example.com`, `old-${ns}.dev.example.com`]))
    await isReady(true)
    await one.wake({ name: ns })
    await one.settled()
    expect([await state(), await annotation(), await status()]).toEqual([awake, undefined, 'Active'])

    if (!TAKES_ALL) return
    // The platform decides nothing if no controller responds.
    const silent = by(() => undefined)
    await silent.sleep({ name: ns })
    expect([await silent.looked(ns), await state(), await annotation()]).toEqual([[], asleep, undefined])
    await isReady(true)
    await silent.wake({ name: ns })
    await silent.settled()
  })

  longTest('sleep reads objects of members in small pages, however many exist', async () => {
    const [web] = application()
    const many = Array.from({ length: 12 }, (_, at) => ({
      ...web!,
      metadata: { ...web!.metadata, name: `many-${at}` },
    }))
    for (const one of many) await platform.cluster.apply(one, { manager: 'devctl', force: true })
    let most = 0
    const { own } = platform
    const cluster = new Proxy(own, {
      get(target, key) {
        if (key === 'list')
          return (...[query, options]: Parameters<typeof own.list>) =>
            query.namespace === ns ? Promise.reject(new Error('all at once')) : target.list(query, options)
        if (key === 'pages')
          return async function* (...words: Parameters<typeof own.pages>) {
            for await (const page of target.pages(...words)) {
              most = Math.max(most, page.length)
              yield page
            }
          }
        const value = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const { lastWork } = await import('../../../platform/server/sleep/activity.ts')
    expect(await lastWork(cluster, ns, Date.now(), AbortSignal.timeout(60_000))).toBeGreaterThan(0)
    const { Sleep } = await import('../../../platform/server/sleep/sleep.ts')
    const few = new Sleep({ ...platform.world, cluster })
    await few.sleep({ name: ns })
    const replicas = () =>
      Promise.all(many.map(async ({ metadata }) => (await spec('apps/v1', 'Deployment', metadata.name))['replicas']))
    expect(await replicas()).toEqual(many.map(() => 0))
    await few.wake({ name: ns })
    expect(await replicas()).toEqual(many.map(() => 2))
    await few.settled()
    expect(most).toBe(PAGES_OF_MEMBERS.size)
    for (const { metadata } of many) await platform.cluster.delete({ ...web!, name: metadata.name, namespace: ns })
  })

  test('a request for the variables of a deploy and a Lease count as activity', async () => {
    const { idleTask } = await import('../../../platform/server/sleep/idle.ts')
    const look = () => idleTask(platform.world, platform.parts).run(AbortSignal.timeout(60_000))
    const ref = { apiVersion: 'v1', kind: 'Namespace', name: ns }
    const lastActive = async () => Date.parse((await platform.cluster.get(ref))!.metadata.annotations![LAST_ACTIVE]!)
    const MINUTE = 60_000
    platform.later = 10 * MINUTE
    const deploys = await platform.call('GET /namespaces/:ns/variables/effective', { token: ann.token, params: { ns } })
    expect(deploys.status).toBe(200)
    expect(await lastActive()).toBeGreaterThan(Date.now() + 9 * MINUTE)
    const first = await lastActive()

    const renewTime = new Date(Date.now() + 12 * MINUTE).toISOString().replace('Z', '000Z')
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'devctl-up-web', namespace: ns },
    }
    await platform.cluster.create({ ...lease, spec: { holderIdentity: 'ann@laptop', renewTime } })
    platform.later = 10 * MINUTE + 10_000
    await look()
    expect(await lastActive()).toBe(first)
    platform.later = 12 * MINUTE
    await look()
    expect(await lastActive()).toBeGreaterThan(Date.now() + 11 * MINUTE)
    await platform.cluster.delete({ ...lease, name: 'devctl-up-web', namespace: ns })
    const last = await lastActive()
    platform.later = 14 * MINUTE
    await look()
    expect(await lastActive()).toBe(last)
    platform.later = 0
  })

  test('a namespace sleeps after hours without use, and is deleted after weeks', async () => {
    const { idleTask } = await import('../../../platform/server/sleep/idle.ts')
    const look = () => idleTask(platform.world, platform.parts).run(AbortSignal.timeout(60_000))
    const there = async () => platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ns })
    const HOUR = 3_600_000
    // According to its annotation, the namespace was not used; but its objects were changed a moment ago.
    const old = { metadata: { annotations: { 'dev.platform/last-active': '2026-01-01T00:00:00Z' } } }
    await platform.cluster.patch({ apiVersion: 'v1', kind: 'Namespace', name: ns }, old, { manager: 'test' })
    await look()
    expect(await status()).toBe('Active')
    expect(Date.now() - Date.parse((await there())!.metadata.annotations!['dev.platform/last-active']!)).toBeLessThan(
      HOUR,
    )
    platform.later = 4 * HOUR
    await look()
    expect(await status()).toBe('Sleeping')
    expect((await state()).web).toBe(0)
    platform.later = 0
    await wake()
    await eventually('it is awake', async () => ((await status()) === 'Active' ? true : undefined))
    platform.later = 14 * 24 * HOUR
    const persistent = (isPersistent: boolean) =>
      platform.cluster.patch(
        { apiVersion: 'v1', kind: 'Namespace', name: ns },
        { metadata: { annotations: { 'dev.platform/persistent': isPersistent ? 'true' : null } } },
        { manager: 'test' },
      )
    await persistent(true)
    await look()
    expect(await status()).toBe('Active')
    await persistent(false)
    await look()
    expect((await there())?.metadata.deletionTimestamp).toBeDefined()
    platform.later = 0
  })

  function application(): readonly KubeObject[] {
    const template = (name: string) => ({
      metadata: { labels: { app: name } },
      spec: { containers: [{ name, image: 'nginx:1.27-alpine' }], restartPolicy: undefined },
    })
    const workload = (kind: string, name: string, more: object, labels = {}): KubeObject => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace: ns, labels },
      spec: { selector: { matchLabels: { app: name } }, template: template(name), ...more },
    })
    const ingress = (name: string, spec: object, annotations = {}): KubeObject => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name, namespace: ns, annotations },
      spec: { ...spec, rules: [rule(`${name}-${ns}.dev.example.com`)] },
    })
    const backend = { service: { name: 'web', port: { number: 80 } } }
    const rule = (host: string) => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })
    return [
      workload('Deployment', 'web', { replicas: 2 }),
      workload('Deployment', 'none', { replicas: 0 }),
      workload('Deployment', 'flux', { replicas: 1 }, { 'kustomize.toolkit.fluxcd.io/name': 'apps' }),
      workload('StatefulSet', 'db', {
        replicas: 1,
        serviceName: 'db',
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
      }),
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'nightly', namespace: ns },
        spec: {
          schedule: '0 3 * * *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'busybox' }] } } },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', namespace: ns },
        spec: { ports: [{ port: 80 }] },
      },
      ingress('web', { ingressClassName: 'traefik', tls: [{ hosts: [`web-${ns}.dev.example.com`] }] }),
      ingress('old', {}, { 'kubernetes.io/ingress.class': 'nginx' }),
    ]
  }
})
