import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { Run, RunEvent } from '../../../platform/api/runs.ts'
import { RUNS_NAMESPACE } from '../../../platform/records/names.ts'
import { jobRef } from '../../../platform/records/run.ts'
import { createServices, type Services } from '../../../platform/server/create-services.ts'
import { createApp } from '../../../platform/server/http/app.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few, longTest } from '../../support/takes-all.ts'

// Tests runs with a real API server and the real controller of Jobs. There is no node: the test sets the state of the
// Pods (`ends`), and the output of their containers.

const found = findCluster()

describe.skipIf(!found)('runs', () => {
  let platform: TestPlatform
  let parts: Services
  let keeper: RunController
  let [owner, developer, viewer, stranger]: Person[] = []
  const name = `runs-${RUN}`
  const repository = 'https://git.example.com/team/shop'
  /** Log output of containers, by their name. */
  const said: Record<string, readonly string[]> = {}
  /** Containers whose logs were requested. */
  const asked: string[] = []
  const CANARY = 'canary-c2VjcmV0'

  beforeAll(async () => {
    platform = await openPlatform()
    ;[owner, developer, viewer, stranger] = await platform.people('owner', 'developer', 'viewer', 'stranger')
    await platform.call('POST /namespaces', { token: owner.token, body: { name } })
    for (const [person, role] of [
      [developer, 'developer'],
      [viewer, 'viewer'],
    ] as const)
      await platform.call('PUT /namespaces/:ns/members/:user', {
        token: owner.token,
        params: { ns: name, user: person!.id },
        body: { role },
      })
    const world = { ...platform.world, cluster: withNode(platform.own) }
    parts = createServices(world)
    keeper = new RunController(world, parts)
    app = createApp(world, parts)
    await app.ready()
  })
  afterAll(() => platform?.close())
  let app: ReturnType<typeof createApp>

  /** Returns the cluster with a node that has the logs. */
  function withNode(cluster: Cluster): Cluster {
    return new Proxy(cluster, {
      get(target, key) {
        if (key === 'logs')
          return async function* (_: unknown, { container }: { readonly container: string }) {
            asked.push(container)
            for (const line of said[container] ?? []) yield `2026-01-01T00:00:00.5Z ${line}`
          }
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  const podOf = (id: string) =>
    eventually(`the Pod of ${id} is made`, async () => {
      const labels = `batch.kubernetes.io/job-name=r-${id}`
      const pods = await platform.cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels })
      return pods[0]
    })

  const state = (terminated?: object) => (terminated ? { terminated } : { running: {} })
  const container = (name: string, end?: object) => ({
    name,
    image: 'x',
    imageID: 'x',
    ready: false,
    restartCount: 0,
    state: state(end),
  })

  async function setStatus(id: string, status: object): Promise<void> {
    const { metadata } = await podOf(id)
    const path = `/api/v1/namespaces/${RUNS_NAMESPACE}/pods/${metadata.name}/status`
    const answer = await found!.send('PATCH', path, { status }, 'application/merge-patch+json')
    expect(answer.status, answer.body).toBe(200)
  }

  /** Sets the status of a Pod as a node does when its programs have ended. */
  async function ends(id: string, phase: 'Succeeded' | 'Failed' = 'Succeeded', commit = 'a'.repeat(40)): Promise<void> {
    const end = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: '2026-01-01T00:00:01Z' }
    await setStatus(id, {
      phase,
      containerStatuses: [
        container('clone', { ...end, exitCode: 0, message: JSON.stringify({ commit }) }),
        container('run', end),
      ],
    })
  }

  const start = async (environment: string, more: object = {}, token = owner!.token): Promise<Run> => {
    const body = { namespace: name, environment, action: 'deploy', repository, ...more }
    const answer = await platform.call('POST /runs', { token, body })
    expect(answer.status, JSON.stringify(answer.error)).toBe(200)
    return answer.body
  }
  const look = () => keeper.run(new AbortController().signal)
  const get = async (id: string) => (await platform.call('GET /runs/:id', { token: owner!.token, params: { id } })).body
  const until = (id: string, wanted: string) =>
    eventually(
      `${id} is ${wanted}`,
      async () => {
        await look()
        await keeper.settled()
        const run = await get(id)
        return run.state === wanted ? run : undefined
      },
      { explain: async () => JSON.stringify(await get(id)) },
    )
  const settled = (id: string) =>
    eventually(`${id} is settled`, async () => {
      await look()
      await keeper.settled()
      return (await parts.runs.find(id))?.isSettled ? true : undefined
    })
  async function log(
    id: string,
    after?: string,
  ): Promise<readonly { readonly id?: string; readonly data: RunEvent }[]> {
    const headers = {
      authorization: `Bearer ${viewer!.token}`,
      ...(after !== undefined && { 'last-event-id': after }),
    }
    const answer = await app.inject({ method: 'GET', url: `/api/v1/runs/${id}/log`, headers })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.body
      .split('\n\n')
      .filter(block => block.includes('data: '))
      .map(block => ({
        ...(/^id: (.*)$/m.exec(block) && { id: /^id: (.*)$/m.exec(block)![1]! }),
        data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!),
      }))
  }

  test('each role may start, read and cancel runs as expected: owner, developer, viewer, stranger', async () => {
    const people = [owner, developer, viewer, stranger] as Person[]
    const { id } = await start('roles')
    const body = { namespace: name, environment: 'roles', action: 'deploy', repository }
    const statuses = async (call: (token: string) => Promise<{ readonly status: number }>) => {
      const all = []
      for (const { token } of people) all.push((await call(token)).status)
      return all
    }
    expect(await statuses(token => platform.call('POST /runs', { token, body }))).toEqual([200, 200, 403, 404])
    const params = { id }
    expect(await statuses(token => platform.call('GET /runs/:id', { token, params }))).toEqual([200, 200, 200, 404])
    const query = { namespace: name }
    expect(await statuses(token => platform.call('GET /runs', { token, query }))).toEqual([200, 200, 200, 404])
    const { body: all } = await platform.call('GET /runs', { token: stranger!.token })
    expect(all.items.filter(run => run.namespace === name)).toEqual([])
    const none = await platform.call('GET /runs/:id', { token: stranger!.token, params: { id: '0'.repeat(26) } })
    const other = await platform.call('GET /runs/:id', { token: stranger!.token, params })
    expect(none.error).toEqual(other.error)
    expect((await platform.call('GET /runs/:id/log', { token: stranger!.token, params })).status).toBe(404)
    expect(await statuses(token => platform.call('POST /runs/:id/cancel', { token, params }))).toEqual([
      200, 200, 403, 404,
    ])
    for (const run of await parts.runs.list({ namespace: name, environment: 'roles' }))
      await parts.runs.stop(run.id, { why: 'cancelled' })
  })

  test.each([
    ['ext::sh -c id', 'neither'],
    ['https://ann:secret@git.example.com/x', 'a user or a password'],
    ['ssh://git@git.example.com/x', 'no SSH keys'],
  ])('a run cannot clone %s', async (repository, why) => {
    const body = { namespace: name, environment: 'bad', action: 'deploy', repository }
    const { status, error } = await platform.call('POST /runs', { token: owner!.token, body })
    expect([status, error.message]).toEqual([400, expect.stringContaining(why)])
  })

  test('a run is queued, started and saved with its log, and its credentials are deleted', async () => {
    const variables = { GREETING: CANARY }
    const run = await start('shop', { branch: 'main', variables }, developer!.token)
    expect(run).toMatchObject({ state: 'queued', branch: 'main', variables: ['GREETING'], user: { id: developer!.id } })
    await until(run.id, 'running')
    const job = await platform.cluster.get(jobRef(run.id))
    const pod = await podOf(run.id)
    expect(JSON.stringify([job, pod])).not.toContain(CANARY)
    expect(JSON.stringify([job, pod])).not.toMatch(/devctl_run_/)
    expect(pod['spec']).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: 'default' })
    // The inputs of the clone and of the run are separate.
    const { containers } = pod['spec'] as { containers: { name: string; volumeMounts: object[] }[] }
    expect(containers.map(one => one.name)).toEqual(['clone', 'run'])
    expect(JSON.stringify(containers[1]!.volumeMounts)).not.toContain('"clone"')
    expect(JSON.stringify(containers[0]!.volumeMounts)).not.toContain('"input"')

    const token = await inputOf(run.id)
    const kube = await platform.call('POST /kube-token', { token })
    expect(kube.status).toBe(200)
    expect(await userOf(kube.body.token)).toMatch(new RegExp(`^system:serviceaccount:devctl-runs:ns-${name}-`))
    const unseen = await unseenToken(token)
    for (const [route, more] of [
      ['POST /runs', { body: { namespace: name, environment: 'x', action: 'deploy', repository } }],
      ['GET /me', {}],
      ['POST /namespaces', { body: { name: `other-${RUN}` } }],
      ['DELETE /namespaces/:ns', { params: { ns: name } }],
      ['POST /me/tokens', { body: { label: 'x' } }],
    ] as const)
      expect((await platform.call(route, { token, ...more })).status, route).toBe(403)

    said['clone'] = ['cloning', 'commit']
    said['run'] = ['{"type":"note","text":"one"}', 'two', 'three']
    await ends(run.id)
    await settled(run.id)
    expect(await get(run.id)).toMatchObject({ state: 'succeeded', commit: 'a'.repeat(40) })
    const left = await platform.cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: RUNS_NAMESPACE })
    const own = left
      .filter(({ metadata }) => metadata.name.startsWith(`r-${run.id}`))
      .map(({ metadata }) => metadata.name)
    expect(own).toEqual([`r-${run.id}-log-0`])
    expect((await platform.call('POST /kube-token', { token })).status).toBe(401)
    await eventually('the token of Kubernetes has ended', async () =>
      (await userOf(unseen)) === undefined ? true : undefined,
    )
    const all = await platform.call('GET /runs', { token: owner!.token })
    expect(JSON.stringify(all.body)).not.toContain(CANARY)

    delete said['clone']
    delete said['run']
    const events = await log(run.id)
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', undefined])
    expect(events.at(-1)?.data).toMatchObject({ type: 'state', run: { state: 'succeeded' } })
    expect(events.at(2)?.data).toMatchObject({ number: 3, step: 'run', text: '{"type":"note","text":"one"}' })
    expect((await log(run.id, '4')).map(({ id }) => id)).toEqual(['5', undefined])

    // The commands of a repository would run with the variables of the user who destroys.
    for (const [person, cloned] of [
      [owner!, undefined],
      [developer!, repository],
    ] as const) {
      const body = { namespace: name, environment: 'shop', action: 'destroy' }
      const made = await platform.call('POST /runs', { token: person.token, body })
      expect([made.status, made.body.repository]).toEqual([200, cloned])
      await platform.call('POST /runs/:id/cancel', { token: person.token, params: { id: made.body.id } })
    }
  })

  test('a login in the request is only for the clone of this run', async () => {
    const cloneLogin = { user: 'git', password: CANARY }
    const run = await start('private', { cloneLogin }, developer!.token)
    expect(JSON.stringify(run)).not.toContain(CANARY)
    const secret = async (part: string) => {
      const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${run.id}-${part}`, namespace: RUNS_NAMESPACE }
      const data = (await platform.cluster.get(ref))?.['data'] as Record<string, string> | undefined
      return data && JSON.stringify(Object.values(data).map(one => Buffer.from(one, 'base64').toString()))
    }
    expect(await secret('held')).not.toContain(CANARY)
    await until(run.id, 'running')
    expect(await secret('clone')).toContain(CANARY)
    expect(await secret('input')).not.toContain(CANARY)
    expect(JSON.stringify([await platform.cluster.get(jobRef(run.id)), await podOf(run.id)])).not.toContain(CANARY)
    await ends(run.id)
    await settled(run.id)
    for (const part of ['held', 'clone', 'input']) expect(await secret(part)).toBeUndefined()
  })

  test('a login that git cannot read as a line is refused', async () => {
    const body = { namespace: name, environment: 'x', action: 'deploy', repository }
    for (const cloneLogin of [
      { user: 'git', password: 'a\nb' },
      { user: 'git\u0000', password: 'a' },
    ])
      expect((await platform.call('POST /runs', { token: owner!.token, body: { ...body, cloneLogin } })).status).toBe(
        400,
      )
  })

  async function inputOf(id: string): Promise<string> {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${id}-input`, namespace: RUNS_NAMESPACE }
    const { data } = (await platform.cluster.get(ref))! as unknown as { data: Record<string, string> }
    const input = JSON.parse(Buffer.from(data['input.json']!, 'base64').toString())
    expect(input).toMatchObject({
      action: 'deploy',
      environment: 'shop',
      namespace: name,
      variables: { GREETING: CANARY },
    })
    return input.token
  }

  /** Returns a Kubernetes token that the API server has not seen: it caches an accepted one for 10 s. */
  async function unseenToken(token: string): Promise<string> {
    const { status, body } = await platform.call('POST /kube-token', { token })
    expect(status).toBe(200)
    return body.token
  }

  async function userOf(token: string): Promise<string | undefined> {
    const spec = { token }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {} as never, spec }
    const { status } = (await platform.cluster.create(review)) as unknown as {
      status: { authenticated?: boolean; user?: { username: string } }
    }
    return status.authenticated ? status.user?.username : undefined
  }

  test('a log is followed from the Pod, with the numbers that it keeps when it is saved', async () => {
    const { id } = await start('live')
    await until(id, 'running')
    said['clone'] = ['cloning']
    said['run'] = ['one', 'two']
    await setStatus(id, { phase: 'Running', containerStatuses: [container('clone')] })
    asked.length = 0
    const following = log(id)
    const isRead = (name: string) =>
      eventually(`the log of ${name} is read`, async () => asked.includes(name) || undefined)
    await isRead('clone')
    await setStatus(id, {
      containerStatuses: [container('clone', { exitCode: 0 }), container('run')],
    })
    await isRead('run')
    await ends(id)
    await eventually('the Job is done', async () => ((await get(id)).state === 'succeeded' ? true : undefined))
    const events = await following
    expect(events.map(event => event.id)).toEqual([undefined, '1', '2', '3', undefined])
    await settled(id)
    expect((await log(id)).map(event => event.id)).toEqual(['1', '2', '3', undefined])
  })

  test('a run has ended with its program, although its Pod and Job have not ended yet', async () => {
    const { id } = await start('quick')
    await until(id, 'running')
    said['clone'] = ['cloning']
    said['run'] = ['done']
    const containerStatuses = [container('clone', { exitCode: 0 }), container('run', { exitCode: 0 })]
    await setStatus(id, { phase: 'Running', containerStatuses })
    expect((await log(id)).at(-1)?.data).toMatchObject({ type: 'state', run: { state: 'succeeded' } })
    expect((await get(id)).state).toBe('succeeded')
    const { status } = (await platform.cluster.get(jobRef(id))) as unknown as { status: object }
    expect(JSON.stringify(status)).not.toContain('Complete')
    // A Pod that is deleted before its end counts as failed.
    expect((await podOf(id)).metadata.deletionTimestamp).toBeUndefined()
    await ends(id)
    await settled(id)
    expect((await get(id)).state).toBe('succeeded')
  })

  test('a newer run replaces queued and running deploys, whose last output is kept', async () => {
    const first = await start('again')
    await until(first.id, 'running')
    said['clone'] = ['cloning']
    said['run'] = ['last words']
    await setStatus(first.id, {
      phase: 'Running',
      containerStatuses: [container('clone', { exitCode: 0 }), container('run')],
    })
    const [second, third] = [await start('again'), await start('again')]
    await until(second.id, 'replaced')
    await until(third.id, 'running')
    await until(first.id, 'replaced')
    await settled(first.id)
    expect((await log(first.id)).map(({ data }) => (data.type === 'line' ? data.text : data.run.state))).toEqual([
      'cloning',
      'last words',
      'replaced',
    ])
    await parts.runs.stop(third.id, { why: 'cancelled' })
    await until(third.id, 'cancelled')
    const pods = await platform.cluster.list({
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: RUNS_NAMESPACE,
      labels: `batch.kubernetes.io/job-name=r-${third.id}`,
    })
    expect(pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([])
  })

  test('a run is refused if its user is no developer any more when it starts', async () => {
    const people = [owner, developer] as Person[]
    const run = await start('rights', {}, people[1]!.token)
    await platform.call('DELETE /namespaces/:ns/members/:user', {
      token: owner!.token,
      params: { ns: name, user: developer!.id },
    })
    const ended = await until(run.id, 'refused')
    expect(ended.reason).toContain('no longer a developer there')
  })

  const member = async (login: string, role: string): Promise<Person> => {
    const person = await platform.person(login)
    const params = { ns: name, user: person.id }
    await platform.call('PUT /namespaces/:ns/members/:user', { token: owner!.token, params, body: { role } })
    return person
  }
  const unshare = (user: string) =>
    platform.call('DELETE /namespaces/:ns/members/:user', { token: owner!.token, params: { ns: name, user } })
  const suspend = async (user: string) => {
    const { token } = await platform.person('root', 'admin')
    const answer = await platform.call('PATCH /admin/users/:user', {
      token,
      params: { user },
      body: { isSuspended: true },
    })
    expect(answer.status).toBe(200)
  }

  const leaving = [
    ['removed from the namespace', 'no longer a developer there', unshare],
    ['suspended', 'may no longer log in', suspend],
    ['refused by their provider', 'may no longer log in', (id: string) => parts.users.change(id, { isRefused: true })],
  ] as const
  test.each(few<(typeof leaving)[number]>(leaving))(
    'a live run ends with its tokens when its user is %s',
    async (what, why, leave) => {
      const person = await member(`leaves-${what.slice(0, 4)}`, 'developer')
      const run = await start('shop', { variables: { GREETING: CANARY } }, person.token)
      await until(run.id, 'running')
      await podOf(run.id)
      const token = await inputOf(run.id)
      const kube = await platform.call('POST /kube-token', { token })
      expect(await userOf(kube.body.token)).toContain('system:serviceaccount:devctl-runs')
      const unseen = await unseenToken(token)
      platform.later += 6000
      await look()
      expect((await get(run.id)).state, 'nothing has happened').toBe('running')
      await leave(person.id)
      platform.later += 6000
      const ended = await until(run.id, 'refused')
      expect(ended.reason).toContain(why)
      expect((await platform.call('POST /kube-token', { token })).status).toBe(401)
      await eventually('the token of Kubernetes has ended', async () =>
        (await userOf(unseen)) === undefined ? true : undefined,
      )
      await settled(run.id)
    },
  )

  test('a suspended user and a removed member stop receiving the log of a run', async () => {
    const people = [await member('follower', 'viewer'), await member('suspended', 'viewer'), viewer!]
    const { id } = await start('followed')
    await until(id, 'running')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const end = new AbortController()
    const streams = await Promise.all(
      people.map(async ({ token }) => {
        const headers = { authorization: `Bearer ${token}` }
        const { body } = await fetch(`${url}/api/v1/runs/${id}/log`, { headers, signal: end.signal })
        const stream = { text: '', isOver: false }
        const read = async () => {
          for await (const part of body!.pipeThrough(new TextDecoderStream())) stream.text += part
        }
        read().then(
          () => {
            stream.isOver = true
          },
          () => {},
        )
        return stream
      }),
    )
    try {
      await eventually('all follow', async () => streams.every(({ text }) => text.includes('running')) || undefined)
      await unshare(people[0]!.id)
      await suspend(people[1]!.id)
      await eventually('two streams have ended', async () =>
        streams[0]!.isOver && streams[1]!.isOver ? true : undefined,
      )
      expect(streams[2]!.isOver).toBe(false)
    } finally {
      end.abort()
    }
    await parts.runs.stop(id, { why: 'cancelled' })
    await until(id, 'cancelled')
  })

  test('a run wakes a namespace that sleeps', async () => {
    await platform.call('POST /namespaces/:ns/sleep', { token: owner!.token, params: { ns: name } })
    const status = async () =>
      (await platform.call('GET /namespaces/:ns', { token: owner!.token, params: { ns: name } })).body.status
    expect(await status()).toBe('Sleeping')
    const { id } = await start('asleep')
    await until(id, 'running')
    expect(await status()).not.toBe('Sleeping')
    await parts.sleep.settled()
    await parts.runs.stop(id, { why: 'cancelled' })
    await until(id, 'cancelled')
  })

  test('a run with an invalid record is skipped, and the others continue', async () => {
    const poisoned = await start('poisoned')
    const patch = { metadata: { annotations: { 'dev.platform/run': '{"id":' } } }
    await platform.cluster.patch(jobRef(poisoned.id), patch, { manager: 'test' })
    const { id } = await start('fine')
    await until(id, 'running')
    const { body } = await platform.call('GET /runs', { token: owner!.token, query: { namespace: name } })
    expect(body.items.map(run => run.id)).not.toContain(poisoned.id)
    await platform.cluster.delete(jobRef(poisoned.id), { propagation: 'Background' })
    await parts.runs.stop(id, { why: 'cancelled' })
    await until(id, 'cancelled')
  })

  longTest('runs of a deleted namespace are deleted', async () => {
    const short = `gone-${RUN}`
    await platform.call('POST /namespaces', { token: owner!.token, body: { name: short } })
    const body = { namespace: short, environment: 'shop', action: 'deploy', repository }
    const { body: run } = await platform.call('POST /runs', { token: owner!.token, body })
    await platform.call('DELETE /namespaces/:ns', { token: owner!.token, params: { ns: short } })
    await eventually('the namespace is gone', async () =>
      (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: short })) ? undefined : true,
    )
    await eventually('the run is gone', async () => {
      platform.later += 20_000
      await look()
      await keeper.settled()
      return (await platform.cluster.get(jobRef(run.id))) ? undefined : true
    })
  })
})
