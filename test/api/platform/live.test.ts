import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { recordName } from '../../../environment/record/record.ts'
import type { LiveEvent } from '../../../platform/api/environments.ts'
import { readEvents } from '../../../platform/client/client.ts'
import { rfc3339, USERS_NAMESPACE, userAccount } from '../../../platform/records/names.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

// Tests the live view of a namespace as a client receives it over the network.

interface Stream {
  readonly status: number
  readonly events: readonly LiveEvent[]
  readonly isOver: () => boolean
  close(): void
}

describe.skipIf(!process.env.KUBECONFIG)('the live view', () => {
  let platform: TestPlatform
  let [admin, owner, viewer, guest, stranger]: Person[] = []
  let url: string
  const ns = `live-${RUN}`
  const streams: Stream[] = []

  const labels = (environment: string, service: string) => ({
    'dev.platform/environment': environment,
    'dev.platform/service': service,
  })
  const deployment = (environment: string, service: string, image: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: service, namespace: ns, labels: labels(environment, service) },
    spec: {
      replicas: 0,
      selector: { matchLabels: { 'dev.platform/service': service } },
      template: {
        metadata: { labels: labels(environment, service) },
        spec: { containers: [{ name: service, image }] },
      },
    },
  })
  const apply = (object: KubeObject) => platform.cluster.apply(object, { manager: 'test', force: true })
  const open = async (person: Person, path = 'live'): Promise<Stream> => {
    const events: LiveEvent[] = []
    let isOver = false
    const sent = request(`${url}/api/v1/namespaces/${ns}/${path}`, {
      headers: { authorization: `Bearer ${person.token}` },
      agent: false,
    })
    const status = await new Promise<number>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', response => {
        const read = async () => {
          for await (const { data } of readEvents(response.setEncoding('utf8'))) events.push(JSON.parse(data))
        }
        read()
          .catch(() => {})
          .finally(() => {
            isOver = true
          })
        resolve(response.statusCode ?? 0)
      })
      sent.end()
    })
    const stream = { status, events, isOver: () => isOver, close: () => sent.destroy() }
    streams.push(stream)
    return stream
  }
  const share = (person: Person, role: string) =>
    platform.call('PUT /namespaces/:ns/members/:user', {
      token: owner!.token,
      params: { ns, user: person.id },
      body: { role },
    })
  const seen = <T extends LiveEvent['type']>(stream: Stream, type: T) =>
    stream.events.filter((one): one is Extract<LiveEvent, { type: T }> => one.type === type)
  const until = (what: string, seconds: number, check: () => boolean) =>
    eventually(what, async () => check() || undefined, { seconds, pause: 20 })

  beforeAll(async () => {
    platform = await openPlatform()
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    ;[admin, owner, viewer, guest, stranger] = await platform.people(
      ['admin', 'admin'],
      'owner',
      'viewer',
      'guest',
      'stranger',
    )
    await platform.call('POST /namespaces', { token: owner.token, body: { name: ns } })
    await share(viewer, 'viewer')
    await share(guest, 'viewer')
    await apply(deployment('shop', 'web', 'web:1'))
  })
  afterAll(async () => {
    for (const stream of streams) stream.close()
    await platform?.close()
  })

  test('the live view sends a snapshot first, then the changes, to all its clients', async () => {
    const [first, second] = [await open(viewer!), await open(owner!)]
    for (const stream of [first, second]) {
      await until('the snapshot', 30, () => seen(stream, 'snapshot').length === 1)
      expect(seen(stream, 'snapshot')[0]!.environments).toMatchObject([
        { name: 'shop', services: [{ name: 'web', image: 'web:1' }] },
      ])
    }
    await apply(deployment('shop', 'web', 'web:2'))
    await apply(deployment('blog', 'page', 'page:1'))
    for (const stream of [first, second]) {
      await until('the change', 20, () =>
        seen(stream, 'services').some(
          ({ environment, services }) => environment === 'shop' && services[0]?.image === 'web:2',
        ),
      )
      await until('the new environment', 20, () =>
        seen(stream, 'environment').some(({ environment }) => environment.name === 'blog'),
      )
    }
    await platform.cluster.delete({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'page', namespace: ns })
    await until('its end', 30, () => seen(first, 'removed').some(({ environment }) => environment === 'blog'))
  })

  test('a caller without rights gets an error and no stream', async () => {
    expect((await open(stranger!)).status).toBe(404)
    expect((await open(admin!)).status).toBe(403)
    expect((await open(stranger!, 'logs')).status).toBe(404)
    expect((await open(viewer!, 'logs?tail=many')).status).toBe(400)
  })

  test('a member who is removed loses the streams within seconds; others keep theirs', async () => {
    const [one, other] = [await open(guest!), await open(viewer!)]
    const log = await open(guest!, 'logs?service=web')
    await until('both see it', 30, () => one.events.length > 0 && other.events.length > 0)
    expect([one.isOver(), log.isOver()]).toEqual([false, false])
    await platform.call('DELETE /namespaces/:ns/members/:user', {
      token: owner!.token,
      params: { ns, user: guest!.id },
    })
    await until('the streams have ended', 30, () => one.isOver() && log.isOver())
    expect(other.isOver()).toBe(false)
    await apply(deployment('shop', 'web', 'web:3'))
    await until('the other one sees it', 20, () =>
      seen(other, 'services').some(({ services }) => services[0]?.image === 'web:3'),
    )
    expect(JSON.stringify(one.events)).not.toContain('web:3')
  })

  longTest('streams of a suspended user and of a deleted token end', async () => {
    await share(guest!, 'viewer')
    const { text, record } = await platform.parts.tokens.issue({ kind: 'api', label: 'a page', user: viewer!.id })
    const withToken = { ...viewer!, token: text }
    const other = await open(viewer!)
    const views = [await open(guest!), await open(withToken)]
    const logs = [await open(guest!, 'logs?service=web'), await open(withToken, 'logs?service=web')]
    await until('the views have begun', 30, () => [...views, other].every(({ events }) => events.length > 0))
    expect([...views, ...logs].map(one => one.isOver())).toEqual([false, false, false, false])
    const suspended = await platform.call('PATCH /admin/users/:user', {
      token: admin!.token,
      params: { user: guest!.id },
      body: { isSuspended: true },
    })
    expect(suspended.status).toBe(200)
    const revoked = await platform.call('DELETE /me/tokens/:id', { token: viewer!.token, params: { id: record.id } })
    expect(revoked.status).toBe(204)
    await until('they have ended', 30, () => [...views, ...logs].every(one => one.isOver()))
    const before = views.map(({ events }) => events.length)
    await apply(deployment('shop', 'web', 'web:after'))
    // The other stream is of the same user, with a valid token.
    await until('another one sees it', 20, () =>
      seen(other, 'services').some(({ services }) => services[0]?.image === 'web:after'),
    )
    expect(other.isOver()).toBe(false)
    expect(views.map(({ events }) => events.length)).toEqual(before)
    expect((await open(withToken)).status).toBe(401)
  })

  test('streams of a token for programs end when the provider refuses its user', async () => {
    const [leaver, other] = [await platform.person('leaver'), await open(viewer!)]
    await share(leaver, 'viewer')
    const { text } = await platform.parts.tokens.issue({ kind: 'api', label: 'a page', user: leaver.id })
    const withToken = { ...leaver, token: text }
    const [view, log] = [await open(withToken), await open(withToken, 'logs?service=web')]
    await until('both see it', 30, () => view.events.length > 0 && other.events.length > 0)
    expect([view.isOver(), log.isOver()]).toEqual([false, false])
    // The hourly check does this; the token is kept until the provider accepts the user again.
    await platform.parts.users.change(leaver.id, { isRefused: true })
    await platform.parts.tokens.suspend(await platform.parts.tokens.of(leaver.id))
    await until('the streams have ended', 30, () => view.isOver() && log.isOver())
    const before = view.events.length
    await apply(deployment('shop', 'web', 'web:refused'))
    await until('the other one sees it', 20, () =>
      seen(other, 'services').some(({ services }) => services[0]?.image === 'web:refused'),
    )
    expect(view.events.length).toBe(before)
    expect((await open(withToken)).status).toBe(401)
  })

  test('streams of a token for programs end after 30 days without a login of its user', async () => {
    const quiet = await platform.person('quiet')
    await share(quiet, 'viewer')
    const { text } = await platform.parts.tokens.issue({ kind: 'api', label: 'a page', user: quiet.id })
    const withToken = { ...quiet, token: text }
    const [view, log] = [await open(withToken), await open(withToken, 'logs?service=web')]
    await until('it has begun', 30, () => view.events.length > 0)
    expect([view.isOver(), log.isOver()]).toEqual([false, false])
    const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: userAccount(quiet.id), namespace: USERS_NAMESPACE }
    const annotations = { 'dev.platform/last-login': rfc3339(Date.now() - 31 * 86_400_000) }
    await platform.cluster.patch(ref, { metadata: { annotations } }, { manager: 'test' })
    await until('the streams have ended', 30, () => view.isOver() && log.isOver())
    expect((await open(withToken)).status).toBe(401)
  })

  test('a removed administrator loses access within seconds, even if they keep asking', async () => {
    const look = async () =>
      (await platform.call('GET /namespaces/:ns/environments', { token: admin!.token, params: { ns } })).status
    await share(admin!, 'viewer')
    await eventually('the rights are there', async () => ((await look()) === 200 ? true : undefined))
    await platform.call('DELETE /namespaces/:ns/members/:user', {
      token: owner!.token,
      params: { ns, user: admin!.id },
    })
    await eventually('they are gone', async () => ((await look()) === 403 ? true : undefined), { pause: 500 })
  })

  test('invalid records, large annotations and many objects do not break the live view', async () => {
    const stream = await open(viewer!)
    await until('the snapshot', 30, () => stream.events.length > 0)
    const record = (environment: string, data: object, annotations = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: recordName(environment),
        namespace: ns,
        labels: { 'dev.platform/environment': environment },
        annotations,
      },
      data,
      binaryData: { history: 'H4sIAAAAAAAAA6tWKkktLlGyUlAqLU4tUrICMvMSc1OVrJSUagGbHgcZHQAAAA==' },
    })
    await apply(
      record('poison', { application: '{"services": [{"service": 1}]}', by: 'x', at: 'never', kinds: '\u0000' }),
    )
    await apply(record('heavy', { application: 'x'.repeat(900_000) }))
    await apply({
      ...deployment('shop', 'fat', 'fat:1'),
      metadata: {
        name: 'fat',
        namespace: ns,
        labels: labels('shop', 'fat'),
        annotations: { big: 'x'.repeat(200_000) },
      },
    })
    // An operator may raise the quota of a namespace.
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', name: 'devctl', namespace: ns }
    const hard = { 'count/deployments.apps': '500' }
    await platform.cluster.patch(quota, { spec: { hard } }, { manager: 'test' })
    await eventually('the quota is in force', async () => {
      const live = await platform.cluster.get(quota)
      const { status } = live as unknown as { readonly status?: { readonly hard?: Readonly<Record<string, string>> } }
      return status?.hard?.['count/deployments.apps'] === '500' ? true : undefined
    })
    const many = Array.from({ length: TAKES_ALL ? 300 : 100 }, (_, index) => deployment('crowd', `c${index}`, 'c:1'))
    for (let at = 0; at < many.length; at += 50) await Promise.all(many.slice(at, at + 50).map(apply))
    await apply(deployment('shop', 'web', 'web:4'))
    await until('the change is seen', 30, () =>
      seen(stream, 'services').some(({ services }) => services.some(one => one.image === 'web:4')),
    )
    const { status, body } = await platform.call('GET /namespaces/:ns/environments', {
      token: viewer!.token,
      params: { ns },
    })
    expect(status).toBe(200)
    expect(body.items.map(({ name }) => name)).toEqual(expect.arrayContaining(['crowd', 'poison', 'shop']))
    expect(JSON.stringify(body).length).toBeLessThan(200_000)
  })
})
