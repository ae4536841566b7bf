import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { Run } from '../../../platform/api/runs.ts'
import { RUNS_NAMESPACE } from '../../../platform/records/names.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import { createServices, type Services } from '../../../platform/server/create-services.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few, longTest } from '../../support/takes-all.ts'

// Namespaces and previews are deleted after runs have destroyed their environments. The cluster has no node: the test
// sets the state of the Pods.

const found = findCluster()

describe.skipIf(!found)('deletion of namespaces', () => {
  let platform: TestPlatform
  let parts: Services
  let keeper: RunController
  let [owner, developer]: Person[] = []
  const repository = 'https://git.example.com/team/shop'
  const commit = 'b'.repeat(40)
  let number = 0
  const aName = () => `d${++number}-${RUN}`
  /** Log output of the containers of runs. */
  let said: readonly string[] = []

  beforeAll(async () => {
    platform = await openPlatform({ namespacesPerUser: 20 })
    ;[owner, developer] = await platform.people('owner', 'developer')
    const cluster = new Proxy(platform.own, {
      get(target, key) {
        if (key === 'logs')
          return async function* (_: unknown, { container }: { readonly container: string }) {
            if (container === 'run') for (const line of said) yield `2026-01-01T00:00:00.5Z ${line}`
          }
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }) as Cluster
    const world = { ...platform.world, cluster }
    parts = createServices(world)
    keeper = new RunController(world, parts)
  })
  afterAll(() => platform?.close())

  const signal = () => AbortSignal.timeout(60_000)
  /** Runs the tasks of the leader. */
  const look = async (by = parts) => {
    await keeper.run(signal())
    await by.deletions.run(signal())
  }
  const until = <T>(what: string, ask: () => Promise<T | undefined>) =>
    eventually(what, async () => {
      await look()
      return ask()
    })
  const runsIn = (namespace: string) => parts.runs.list({ namespace })
  const state = (id: string, wanted: string) =>
    until(`${id} is ${wanted}`, async () => ((await parts.runs.find(id))?.state === wanted ? true : undefined))
  const live = (name: string) => platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
  const isGone = (name: string) => until(`${name} is gone`, async () => ((await live(name)) ? undefined : true))
  /** Returns whether Kubernetes deletes a namespace, or has deleted it. */
  async function isGoing(name: string): Promise<boolean> {
    const one = await live(name)
    return one === undefined || one.metadata.deletionTimestamp !== undefined
  }
  /**
   * Waits until the server has deleted the namespace: Kubernetes takes some seconds longer, and one test waits for
   * that.
   */
  const isDeleted = (name: string) => until(`${name} is deleted`, async () => (await isGoing(name)) || undefined)

  /** Sets the status of a Pod as a node does when its programs have ended. */
  async function ends(id: string, isGood = true, cloned = commit): Promise<void> {
    await state(id, 'running')
    const labels = `batch.kubernetes.io/job-name=r-${id}`
    const pod = await eventually(`the Pod of ${id} is made`, async () => {
      const pods = await platform.cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels })
      return pods[0]
    })
    const container = (name: string, exitCode: number, message?: string) => ({
      name,
      image: 'x',
      imageID: 'x',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode, finishedAt: '2026-01-01T00:00:01Z', ...(message && { message }) } },
    })
    const status = {
      phase: isGood ? 'Succeeded' : 'Failed',
      containerStatuses: [container('clone', 0, JSON.stringify({ commit: cloned })), container('run', isGood ? 0 : 1)],
    }
    const path = `/api/v1/namespaces/${RUNS_NAMESPACE}/pods/${pod.metadata.name}/status`
    const answer = await found!.send('PATCH', path, { status }, 'application/merge-patch+json')
    expect(answer.status, answer.body).toBe(200)
    await until(`${id} is settled`, async () => {
      await keeper.settled()
      return (await parts.runs.find(id))?.isSettled ? true : undefined
    })
  }

  const create = async (name: string) =>
    expect((await platform.call('POST /namespaces', { token: owner!.token, body: { name } })).status).toBe(200)
  const start = async (namespace: string, environment: string, token = owner!.token): Promise<Run> => {
    const body = { namespace, environment, action: 'deploy', repository, file: 'dev/devctl.yml' }
    const answer = await platform.call('POST /runs', { token, body })
    expect(answer.status, JSON.stringify(answer.error)).toBe(200)
    return answer.body
  }
  const deployed = async (namespace: string, environment = 'shop', token = owner!.token) =>
    ends((await start(namespace, environment, token)).id)
  const del = (name: string, query = {}) =>
    platform.call('DELETE /namespaces/:ns', { token: owner!.token, params: { ns: name }, query })
  const shown = async (name: string) =>
    (await platform.call('GET /namespaces/:ns', { token: owner!.token, params: { ns: name } })).body
  /** Returns the names of the variables that a run gets, of those that this test has set. */
  const variablesOf = async (id: string, ns: string) => {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${id}-input`, namespace: RUNS_NAMESPACE }
    const secret = (await platform.cluster.get(ref)) as unknown as { data: Record<string, string> }
    const { token } = JSON.parse(Buffer.from(secret.data['input.json']!, 'base64').toString())
    const { status, body } = await platform.call('GET /namespaces/:ns/variables/effective', { token, params: { ns } })
    expect(status).toBe(200)
    return body.variables.map(({ name }) => name).filter(one => one.endsWith(RUN))
  }
  const set = async (token: string, scope: string, name: string) => {
    const call = { token, params: { scope, name: `${name}_${RUN}` }, body: { value: 'x' } }
    expect((await platform.call('PUT /variables/:scope/:name', call)).status).toBe(204)
  }
  const lastRuns = async (name: string) => (await runsIn(name)).filter(run => run.deletion !== undefined)

  test('a namespace without deploys by runs is deleted at once, without a leader', async () => {
    const name = aName()
    await create(name)
    expect((await del(name)).status).toBe(204)
    expect(await isGoing(name)).toBe(true)
  })

  test('a deletion first destroys each environment at its commit, as the user who deployed it', async () => {
    const name = aName()
    await create(name)
    const params = { ns: name, user: developer!.id }
    await platform.call('PUT /namespaces/:ns/members/:user', {
      token: owner!.token,
      params,
      body: { role: 'developer' },
    })
    await deployed(name, 'shop', developer!.token)
    const waiting = await start(name, 'blog')
    await state(waiting.id, 'running')
    expect((await del(name)).status).toBe(204)
    expect((await shown(name)).status).toBe('Deleting')
    // No new run starts, even if a user requests one immediately.
    const late = { namespace: name, environment: 'late', action: 'deploy', repository }
    expect((await platform.call('POST /runs', { token: owner!.token, body: late })).error.code).toBe(
      'platform/deleting',
    )
    await state(waiting.id, 'cancelled')
    const [run] = await until('there is a run that destroys', async () => {
      const all = await lastRuns(name)
      return all.length > 0 ? all : undefined
    })
    expect(run).toMatchObject({
      environment: 'shop',
      action: 'destroy',
      user: developer!.id,
      repository,
      commit,
      file: 'dev/devctl.yml',
    })
    // The run clones the deployed commit, not the current one of the branch.
    await state(run!.id, 'running')
    const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${run!.id}-clone`, namespace: RUNS_NAMESPACE }
    const secret = (await platform.cluster.get(ref)) as unknown as { data: Record<string, string> }
    expect(JSON.parse(Buffer.from(secret.data['input.json']!, 'base64').toString())).toMatchObject({ commit })
    expect((await live(name))?.metadata.deletionTimestamp).toBeUndefined()
    // Another user requested the deletion, so the run may not use the developer's own variables.
    await set(developer!.token, 'user', 'OWN')
    await set(developer!.token, `namespace:${name}`, 'SHARED')
    expect(await variablesOf(run!.id, name)).toEqual([`SHARED_${RUN}`])
    // Another leader continues, and does nothing twice.
    const other = createServices({ ...platform.world })
    await look(other)
    await look(other)
    expect(await lastRuns(name)).toHaveLength(1)
    const { items } = (await platform.call('GET /runs', { token: owner!.token, query: { namespace: name } })).body
    expect(items.filter(one => one.isDeletion)).toHaveLength(1)
    await ends(run!.id)
    await isGone(name)
  })

  longTest('a destroy run has the variables of its user only if that user requested the deletion', async () => {
    const name = aName()
    await create(name)
    await set(owner!.token, 'user', 'OWN')
    const run = await start(name, 'shop')
    await state(run.id, 'running')
    expect(await variablesOf(run.id, name)).toEqual([`OWN_${RUN}`])
    await ends(run.id)
    await del(name)
    const [last] = await lastRuns(name)
    await state(last!.id, 'running')
    expect(await variablesOf(last!.id, name)).toEqual([`OWN_${RUN}`])
    await ends(last!.id)
    await isDeleted(name)
    // The deletion of an unused namespace has no requester.
    const idle = aName()
    await create(idle)
    await deployed(idle)
    await parts.deletions.begin((await parts.namespaces.find(idle))!)
    const [other] = await lastRuns(idle)
    await state(other!.id, 'running')
    expect(await variablesOf(other!.id, idle)).toEqual([])
    await ends(other!.id)
    await isDeleted(idle)
  })

  test('a deletion cancels a live run, which is not refused for missing rights', async () => {
    const name = aName()
    await create(name)
    const { id } = await start(name, 'shop')
    await state(id, 'running')
    const { namespace } = (await parts.namespaces.find(name))!
    await parts.namespaces.noteDeletion(namespace, 'Deleting', { id: makeUlid(Date.now(), randomBytes(10)) })
    // A new leader immediately checks whether the users of its runs still have access.
    await new RunController(platform.world, parts).run(signal())
    expect((await parts.runs.find(id))?.state).toBe('running')
    await state(id, 'cancelled')
    await isDeleted(name)
  })

  test('a failed destroy keeps the namespace and its reason; --force deletes it', async () => {
    const name = aName()
    await create(name)
    await deployed(name)
    await del(name)
    const [run] = await until('there is a run that destroys', async () => {
      const all = await lastRuns(name)
      return all.length > 0 ? all : undefined
    })
    said = ['ok', 'error: the command `drop.sh` failed with exit status 3', '  = help: look']
    await ends(run!.id, false)
    said = []
    await until('it has failed', async () => ((await shown(name)).status === 'DeleteFailed' ? true : undefined))
    expect((await shown(name)).deleteProblem).toBe(
      'the destroy of shop failed: error: the command `drop.sh` failed with exit status 3',
    )
    await look()
    expect(await lastRuns(name)).toHaveLength(1)
    // Another request is another attempt.
    await del(name)
    expect((await shown(name)).deleteProblem).toBeUndefined()
    await until('there is another run', async () => ((await lastRuns(name)).length === 2 ? true : undefined))
    expect((await del(name, { force: 'true' })).status).toBe(204)
    await isDeleted(name)
  })

  /** Creates an object with a finalizer of another program, as an operator or a controller does; members cannot. */
  const hold = async (namespace: string) => {
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
    await platform.cluster.create({ ...kind, metadata: { name: 'held', namespace, finalizers: ['example.com/x'] } })
    return { ...kind, name: 'held', namespace }
  }

  test('a finalizer that nothing removes is reported, and --force removes it', async () => {
    const name = aName()
    await create(name)
    const held = await hold(name)
    expect((await del(name)).status).toBe(204)
    expect(await shown(name)).toMatchObject({
      status: 'Deleting',
      deleteWaits: 'finalizers of other programs remain: configmap/held (`example.com/x`)',
    })
    expect((await platform.cluster.get(held))?.metadata.deletionTimestamp).toBeDefined()
    expect(await isGoing(name)).toBe(false)

    const late = createServices({ ...platform.world, now: () => Date.now() + 181_000 })
    await late.deletions.run(signal())
    expect(await shown(name)).toMatchObject({
      status: 'DeleteFailed',
      deleteProblem: 'nothing has removed the finalizers of configmap/held (`example.com/x`) within 3 minutes',
    })
    expect((await shown(name)).deleteWaits).toBeUndefined()

    expect((await del(name, { force: 'true' })).status).toBe(204)
    expect(await platform.cluster.get(held)).toBeUndefined()
    await isGone(name)
  })

  longTest('a finalizer that its program removes only delays the deletion', async () => {
    const name = aName()
    await create(name)
    const held = await hold(name)
    expect((await del(name)).status).toBe(204)
    await platform.cluster.patch(held, { metadata: { finalizers: null } }, { manager: 'its-program' })
    await isDeleted(name)
  })

  longTest('a run that a killed leader has half created is completed', async () => {
    const name = aName()
    await create(name)
    await deployed(name)
    await del(name)
    const [run] = await lastRuns(name)
    await platform.cluster.delete({
      apiVersion: 'v1',
      kind: 'Secret',
      name: `r-${run!.id}-held`,
      namespace: RUNS_NAMESPACE,
    })
    await state(run!.id, 'running')
    await ends(run!.id)
    await isDeleted(name)
  })

  test.each(few(['removed', 'suspended'] as const))(
    'commands deployed by a user who is %s are neither cloned nor run by a deletion',
    async how => {
      const name = aName()
      await create(name)
      const gone = await platform.person(`gone-${how}`)
      const params = { ns: name, user: gone.id }
      await platform.call('PUT /namespaces/:ns/members/:user', {
        token: owner!.token,
        params,
        body: { role: 'developer' },
      })
      const login = {
        token: gone.token,
        params: { scope: 'user', host: 'git.example.com' },
        body: { user: 'x', password: 'x' },
      }
      expect((await platform.call('PUT /credentials/:scope/:host', login)).status).toBe(204)
      await deployed(name, 'shop', gone.token)
      if (how === 'suspended') await parts.users.change(gone.id, { isSuspended: true })
      else await platform.call('DELETE /namespaces/:ns/members/:user', { token: owner!.token, params })
      const log = platform.log.length
      await del(name)
      const [run] = await lastRuns(name)
      const secrets = { apiVersion: 'v1', kind: 'Secret', namespace: RUNS_NAMESPACE }
      await until(`${name} is deleted`, async () => {
        for (const part of ['clone', 'input'])
          expect(await platform.cluster.get({ ...secrets, name: `r-${run!.id}-${part}` })).toBeUndefined()
        return (await isGoing(name)) || undefined
      })
      // Only the log reports it: the namespace no longer exists.
      expect(platform.log.slice(log)).toContain(
        `deleting ${name}: the commands of shop were not run: the person who requested it ${how === 'suspended' ? 'may no longer log in' : 'is no longer a developer there'}`,
      )
    },
  )

  longTest('a preview is destroyed before its deletion, also when nobody uses it', async () => {
    const [name, idle] = [aName(), aName()]
    for (const one of [name, idle]) {
      const { body } = await platform.call('POST /previews', { token: owner!.token, body: { name: one, repository } })
      await ends(body.run!.id)
    }
    const destroy = { token: owner!.token, params: { name } }
    expect((await platform.call('DELETE /previews/:name', destroy)).status).toBe(204)
    expect((await platform.call('GET /previews/:name', destroy)).body).toMatchObject({
      status: 'Deleting',
      run: { isDeletion: true, action: 'destroy' },
    })
    await parts.deletions.begin((await parts.namespaces.find(idle))!)
    for (const one of [name, idle]) {
      const [run] = await lastRuns(one)
      await ends(run!.id)
      await isDeleted(one)
    }
  })

  longTest('an environment cloned with a login for one deploy is destroyed without its commands', async () => {
    const name = aName()
    const cloneLogin = { user: 'git', password: 'for-this-deploy' }
    const { body } = await platform.call('POST /previews', {
      token: owner!.token,
      body: { name, repository, cloneLogin },
    })
    await ends(body.run!.id)
    await platform.call('DELETE /previews/:name', { token: owner!.token, params: { name } })
    const [run] = await lastRuns(name)
    expect(run).toMatchObject({ action: 'destroy' })
    expect(run!.repository).toBeUndefined()
    await ends(run!.id)
    await isDeleted(name)
    expect(platform.log.join('\n')).toContain(`deleting ${name}: the commands of shop are not run`)
  })

  longTest('a deletion of a personal namespace empties it, and keeps its members', async () => {
    const ann = await platform.person('ann')
    const params = { ns: ann.home, user: developer!.id }
    await platform.call('PUT /namespaces/:ns/members/:user', { token: ann.token, params, body: { role: 'viewer' } })
    const before = (await live(ann.home))?.metadata.uid
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'left', namespace: ann.home } }
    await platform.cluster.create(secret)
    expect((await platform.call('DELETE /namespaces/:ns', { token: ann.token, params })).status).toBe(204)
    await until('it is there again', async () => {
      const uid = (await live(ann.home))?.metadata.uid
      return uid !== undefined && uid !== before ? true : undefined
    })
    const now = await until('it is as before', async () => {
      const { body } = await platform.call('GET /namespaces/:ns', { token: ann.token, params })
      return body.members?.length === 2 ? body : undefined
    })
    expect(now).toMatchObject({ kind: 'personal', status: 'Active', role: 'owner' })
    expect(now.members.find(one => one.user.id === developer!.id)?.role).toBe('viewer')
    const left = await platform.cluster.get({ apiVersion: 'v1', kind: 'Secret', name: 'left', namespace: ann.home })
    expect(left).toBeUndefined()
  })

  test.each(['waits', 'is deleted by Kubernetes'] as const)(
    'a member who is removed while a personal namespace %s is not a member of the new one',
    async how => {
      const [ann, bob] = await platform.people(`ann${++number}`, `bob${number}`)
      const params = { ns: ann!.home, user: bob!.id }
      for (const [user, role] of [
        [bob!.id, 'developer'],
        [developer!.id, 'developer'],
      ] as const)
        await platform.call('PUT /namespaces/:ns/members/:user', {
          token: ann!.token,
          params: { ns: ann!.home, user },
          body: { role },
        })
      const before = (await live(ann!.home))?.metadata.uid
      // Before the deletion begins, the server waits for finalizers of other programs, but not for those of
      // Kubernetes.
      const finalizers = [how === 'waits' ? 'example.com/held' : 'service.kubernetes.io/load-balancer-cleanup']
      const held = { apiVersion: 'v1', kind: 'Service', name: 'held', namespace: ann!.home }
      await platform.cluster.create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'held', namespace: ann!.home, finalizers },
        spec: { ports: [{ port: 80 }] },
      })
      expect((await platform.call('DELETE /namespaces/:ns', { token: ann!.token, params })).status).toBe(204)
      await look()
      expect((await live(ann!.home))?.metadata.deletionTimestamp === undefined).toBe(how === 'waits')
      const removed = await platform.call('DELETE /namespaces/:ns/members/:user', { token: ann!.token, params })
      expect(removed.status, removed.error?.message).toBe(204)
      const lower = await platform.call('PUT /namespaces/:ns/members/:user', {
        token: ann!.token,
        params: { ns: ann!.home, user: developer!.id },
        body: { role: 'viewer' },
      })
      expect([lower.status, lower.error?.code]).toEqual(how === 'waits' ? [200, undefined] : [409, 'platform/deleting'])
      await platform.cluster.patch(held, { metadata: { finalizers: null } }, { manager: 'test' })
      const members = await until('its other member is back', async () => {
        // The server checks for such objects every few seconds.
        platform.later += 4000
        const now = await live(ann!.home)
        if (now === undefined || now.metadata.uid === before) return undefined
        const { body } = await platform.call('GET /namespaces/:ns', { token: ann!.token, params })
        return body.members?.length === 2 ? body.members : undefined
      })
      expect(members.find(one => one.user.id === developer!.id)?.role).toBe('viewer')
      expect((await platform.call('GET /namespaces/:ns', { token: bob!.token, params })).status).toBe(404)
    },
  )
})
