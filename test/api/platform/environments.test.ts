import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { withChangeList } from '../../../environment/record/change-lists.ts'
import { recordName } from '../../../environment/record/record.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests the environments of a namespace as its members see them, with a real API server. The only Pods are those that
// the test creates.

const ENVIRONMENT = 'shop'
const labels = (service?: string) => ({
  'dev.platform/environment': ENVIRONMENT,
  ...(service !== undefined && { 'dev.platform/service': service }),
})

describe.skipIf(!process.env.KUBECONFIG)('environments of a namespace', () => {
  let platform: TestPlatform
  let [admin, owner, viewer, stranger]: Person[] = []
  const ns = `env-${RUN}`

  const apply = (object: KubeObject) => platform.cluster.apply(object, { manager: 'test', force: true })
  const deployment = (service: string, image: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: service, namespace: ns, labels: labels(service) },
    spec: {
      replicas: 1,
      selector: { matchLabels: { 'dev.platform/service': service } },
      template: { metadata: { labels: labels(service) }, spec: { containers: [{ name: service, image }] } },
    },
  })
  const record = (data: object, binaryData: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: recordName(ENVIRONMENT), namespace: ns, labels: labels() },
    data,
    binaryData,
  })
  const read = (person: Person | undefined) =>
    platform.call('GET /namespaces/:ns/environments/:env', {
      token: person!.token,
      params: { ns, env: ENVIRONMENT },
    })

  beforeAll(async () => {
    platform = await openPlatform()
    ;[admin, owner, viewer, stranger] = await platform.people(['admin', 'admin'], 'owner', 'viewer', 'stranger')
    await platform.call('POST /namespaces', { token: owner.token, body: { name: ns } })
    await platform.call('PUT /namespaces/:ns/members/:user', {
      token: owner.token,
      params: { ns, user: viewer.id },
      body: { role: 'viewer' },
    })
    const application = {
      services: [
        { service: 'db', kind: 'StatefulSet', image: 'postgres:17', file: 'compose.yaml', line: 9 },
        {
          service: 'api',
          kind: 'Deployment',
          needs: [{ service: 'db', condition: 'service_healthy' }],
          file: 'compose.yaml',
          line: 2,
          keys: { image: { line: 3 } },
        },
      ],
    }
    const at = '2026-11-20T10:00:00.000Z'
    const history = withChangeList(undefined, {
      by: 'ann@laptop',
      at,
      commit: 'abc123',
      changes: [{ action: 'create', object: 'deployment/api', service: 'api', values: [] }],
    })
    await apply(
      record(
        {
          kinds: '',
          repository: 'git.example.com/shop',
          file: '.',
          by: 'ann@laptop',
          at,
          application: JSON.stringify(application),
        },
        { history },
      ),
    )
    await apply(deployment('api', 'api:1'))
  })
  afterAll(() => platform?.close())

  test('members read the list of environments, and one of them with the record of its deploy', async () => {
    const list = await platform.call('GET /namespaces/:ns/environments', { token: viewer!.token, params: { ns } })
    expect(list.body.items).toEqual([
      expect.objectContaining({ name: ENVIRONMENT, state: 'waiting', services: 2, ready: 0 }),
    ])
    const ask = (namespaces: string) =>
      platform.call('GET /environments', { token: viewer!.token, query: { namespaces } })
    expect((await ask(`not-there,${ns},${ns}`)).body).toEqual({
      items: [{ namespace: ns, environments: list.body.items, failedDeploys: [], deploys: [] }],
    })
    expect((await ask(Array.from({ length: 25 }, (_, index) => `n${index}`).join())).status).toBe(400)
    const { status, body } = await read(viewer)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: ENVIRONMENT,
      namespace: ns,
      deployed: { by: 'ann@laptop', number: 1, commit: 'abc123' },
      source: { repository: 'git.example.com/shop', file: '.' },
      services: [
        { name: 'db', state: 'missing', image: 'postgres:17', place: { file: 'compose.yaml', line: 9 } },
        {
          name: 'api',
          state: 'waiting',
          image: 'api:1',
          ready: 0,
          wanted: 1,
          dependsOn: [{ service: 'db', condition: 'service_healthy' }],
        },
      ],
    })
    expect(body).not.toHaveProperty('history')
    const params = { ns, env: ENVIRONMENT }
    const history = await platform.call('GET /namespaces/:ns/environments/:env/history', {
      token: viewer!.token,
      params,
    })
    expect(history.body).toMatchObject({
      items: [{ number: 1, changes: [{ action: 'create', object: 'deployment/api' }] }],
    })
  })

  test('the search returns names of environments and services to members only', async () => {
    const found = async (person: Person | undefined) => {
      const { body } = await platform.call('GET /search', { token: person!.token })
      expect(body).not.toHaveProperty('unread')
      return body.items.find(one => one.namespace === ns)
    }
    const members = expect.arrayContaining([
      { user: { id: owner!.id, login: `owner-${RUN}` }, role: 'owner' },
      { user: { id: viewer!.id, login: `viewer-${RUN}` }, role: 'viewer' },
    ])
    const environments = [{ name: ENVIRONMENT, services: ['api', 'db'] }]
    for (const one of [owner, viewer]) expect(await found(one)).toEqual({ namespace: ns, environments, members })
    // An administrator who is not a member sees the members, but not the environments.
    expect(await found(admin)).toEqual({ namespace: ns, environments: [], members })
    expect(await found(stranger)).toBeUndefined()
  })

  test('a service that fails shows the error of a deploy, with its place in the files', async () => {
    const made = await apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: ns, labels: labels('db') },
      spec: {
        serviceName: 'db',
        selector: { matchLabels: { 'dev.platform/service': 'db' } },
        template: { metadata: { labels: labels('db') }, spec: { containers: [{ name: 'db', image: 'postgres:17' }] } },
      },
    })
    const time = new Date(Date.now() + 2000).toISOString()
    await apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'db.1', namespace: ns },
      type: 'Warning',
      reason: 'FailedCreate',
      message: 'pods "db-0" is forbidden: exceeded quota: devctl',
      involvedObject: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', namespace: ns, uid: made.metadata.uid },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    })
    const found = await eventually('the failure is told', async () => {
      const { body } = await read(viewer)
      return body.services[0]!.problems.length > 0 ? body : undefined
    })
    expect(found).toMatchObject({
      state: 'failed',
      services: [
        {
          name: 'db',
          state: 'failed',
          problems: [
            {
              code: 'deploy/refused',
              notes: ['statefulset/db: pods "db-0" is forbidden: exceeded quota: devctl'],
              place: { file: 'compose.yaml', line: 9 },
            },
          ],
        },
        { name: 'api' },
      ],
    })
  })

  test('events of a service are read with the rights of the caller', async () => {
    const events = (who: typeof viewer, service = 'db') =>
      platform.call('GET /namespaces/:ns/environments/:env/services/:service/events', {
        token: who!.token,
        params: { ns, env: ENVIRONMENT, service },
      })
    const { body } = await events(viewer)
    expect(body.items).toContainEqual({
      isWarning: true,
      about: 'statefulset/db',
      time: expect.stringMatching(/^\d{4}-/),
      reason: 'FailedCreate',
      message: 'pods "db-0" is forbidden: exceeded quota: devctl',
      count: 1,
    })
    const { body: ofApi } = await events(viewer, 'api')
    expect(ofApi.items.filter(({ about }) => about.includes('db'))).toEqual([])
    expect(await events(viewer, 'other')).toMatchObject({ status: 404, error: { code: 'platform/no-service' } })
    expect(await events(stranger)).toMatchObject({ status: 404, error: { code: 'platform/no-namespace' } })
    expect(await events(admin)).toMatchObject({ status: 403, error: { code: 'platform/not-allowed' } })
  })

  test('settings of a service are read with the rights of the caller, and without values', async () => {
    await apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: ns, labels: labels('db') },
      spec: {
        serviceName: 'db',
        selector: { matchLabels: { 'dev.platform/service': 'db' } },
        template: {
          metadata: { labels: labels('db') },
          spec: { containers: [{ name: 'db', image: 'postgres:17', env: [{ name: 'TOKEN', value: 'canary-value' }] }] },
        },
      },
    })
    const settings = (who: typeof viewer, service = 'db') =>
      platform.call('GET /namespaces/:ns/environments/:env/services/:service/settings', {
        token: who!.token,
        params: { ns, env: ENVIRONMENT, service },
      })
    const { body } = await eventually('the container has its variable', async () => {
      const found = await settings(viewer)
      return found.body.variables.length > 0 ? found : undefined
    })
    expect(body).toMatchObject({ image: 'postgres:17', variables: [{ name: 'TOKEN' }], volumes: [], checks: [] })
    expect(JSON.stringify(body)).not.toContain('canary-value')
    expect(await settings(viewer, 'other')).toMatchObject({ status: 404, error: { code: 'platform/no-service' } })
    expect(await settings(stranger)).toMatchObject({ status: 404, error: { code: 'platform/no-namespace' } })
    expect(await settings(admin)).toMatchObject({ status: 403, error: { code: 'platform/not-allowed' } })
  })

  test('a namespace is hidden from other users, but administrators learn that they are no members', async () => {
    expect(await read(stranger)).toMatchObject({ status: 404, error: { code: 'platform/no-namespace' } })
    expect(await read(admin)).toMatchObject({ status: 403, error: { code: 'platform/not-allowed' } })
    expect(
      await platform.call('GET /namespaces/:ns/environments/:env', {
        token: owner!.token,
        params: { ns, env: 'other' },
      }),
    ).toMatchObject({ status: 404, error: { code: 'platform/no-environment' } })
  })

  test('services of a namespace that sleeps are asleep and not ready, for the API and `ps`', async () => {
    const slept = await platform.call('POST /namespaces/:ns/sleep', { token: owner!.token, params: { ns } })
    expect(slept.status).toBe(200)
    const { services } = await eventually('it is asleep', async () => {
      const { body } = await read(viewer)
      return body.state === 'asleep' ? body : undefined
    })
    expect(services.map(({ name, state }) => [name, state])).toEqual([
      ['db', 'asleep'],
      ['api', 'asleep'],
    ])
    const { body } = await platform.call('GET /environments', { token: viewer!.token, query: { namespaces: ns } })
    expect(body.items[0]?.environments).toMatchObject([{ state: 'asleep', ready: 0, services: 2 }])
    const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const ps = await run(['ps', '--name', ENVIRONMENT, '--namespace', ns, '--output', 'json'], {
      cwd: '/',
      env: { HOME: '/nonexistent', DEVCTL_URL: url, DEVCTL_TOKEN: owner!.token, PATH: process.env.PATH! },
    })
    expect(ps).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(ps.stdout)).toMatchObject([
      { service: 'api', state: 'asleep', ready: false },
      { service: 'db', state: 'asleep', ready: false },
    ])
  })
})
