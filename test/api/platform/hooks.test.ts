import { createHmac, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobRef } from '../../../platform/records/run.ts'
import { hasEnded } from '../../../platform/rules/runs/run-states.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { WebhookController } from '../../../platform/server/hooks/webhook-controller.ts'
import { createApp } from '../../../platform/server/http/app.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { idleTask } from '../../../platform/server/sleep/idle.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { openStubForge, REPOSITORY, type StubForge, type StubPull } from '../../support/platform/stub-forge.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'

// Tests webhooks with a real API server: forged, replayed and oversized deliveries, and the rights of code of forks.
// The forge is a stub, because a real one never sends some of them.

type Server = Pick<TestPlatform['app'], 'inject'>
interface Made {
  readonly id: string
  readonly prefix: string
  readonly secret: string
}

const TOKEN = 'canary-hook-token'
const repository = 'https://git.example.com/team/shop'
const sha = (digit: string) => digit.repeat(40)
const ann = { id: 51, login: 'ann' }
const bob = { id: 52, login: 'bob' }
const own = { id: REPOSITORY, path: 'team/shop', owner: 9 }
const forkOf = ({ id, login }: typeof ann) => ({ id: id + 100, path: `${login}/shop`, owner: id })

describe.skipIf(!process.env.KUBECONFIG)('webhooks', () => {
  let platform: TestPlatform
  let forge: StubForge
  let keeper: WebhookController
  let [admin, owner, colleague, stranger]: Person[] = []
  let number = 0
  const signal = new AbortController().signal

  beforeAll(async () => {
    forge = await openStubForge()
    platform = await openPlatform({
      previewsPerUser: 40,
      builders: { default: ['tcp://127.0.0.1:1'], untrusted: [], atOnce: 1 },
      ci: [{ kind: 'gitea', issuer: 'https://ci.example.com', rules: [{ owner: '7', prefix: `ci-${RUN}-` }] }],
      forges: [{ kind: 'gitea', url: 'https://git.example.com', api: forge.api }],
    })
    ;[admin, owner, colleague, stranger] = await platform.people(['admin', 'admin'], 'owner', 'colleague', 'stranger')
  })
  beforeEach(() => {
    keeper = new WebhookController(platform.world, platform.parts)
    forge.broken = undefined
    forge.meanwhile = undefined
    forge.tokens.clear()
    forge.writers.clear()
    forge.tokens.set(TOKEN, true)
  })
  afterEach(async () => {
    platform.later = 0
    for (const one of await platform.parts.hooks.list()) await platform.parts.hooks.remove(one)
  })
  afterAll(async () => {
    forge?.close()
    if (!platform) return
    for (const run of await platform.parts.runs.list({}))
      if (run.namespace.includes(RUN)) await platform.cluster.delete(jobRef(run.id), { propagation: 'Background' })
    await platform.close()
  })

  const add = (person: Person | undefined, body: object = {}) => {
    const prefix = `h${++number}-${RUN}-`
    return platform.call('POST /hooks', { token: person!.token, body: { repository, token: TOKEN, prefix, ...body } })
  }
  async function made(body: object = {}, person = owner): Promise<Made> {
    const { status, body: answer, error } = await add(person, body)
    expect(status, error?.message).toBe(200)
    return { id: answer.hook.id, prefix: answer.hook.prefix, secret: answer.secret! }
  }
  const payload = (pull: number, more: object = {}) =>
    JSON.stringify({ action: 'opened', pull_request: { number: pull }, repository: { id: REPOSITORY }, ...more })
  /** Sends `POST /hooks/:forge/:id` as the forge does, with the changes of a test. */
  function deliver(
    hook: Pick<Made, 'id' | 'secret'>,
    text: string,
    headers: Readonly<Record<string, string>> = {},
    to: Server = platform.app,
  ) {
    const signature = createHmac('sha256', hook.secret).update(text).digest('hex')
    return to.inject({
      method: 'POST',
      url: `/api/v1/hooks/gitea/${hook.id}`,
      payload: text,
      headers: {
        'content-type': 'application/json',
        'x-gitea-delivery': randomUUID(),
        'x-gitea-signature': signature,
        ...headers,
      },
    })
  }
  /** Sends a delivery that differs from all earlier ones. */
  const send = (hook: Made, pull: number, to: Server = platform.app) =>
    deliver(hook, payload(pull, { now: randomUUID() }), {}, to)
  /** Creates a server whose clock stands still, since time would allow more deliveries. */
  const serverWithoutTime = () => {
    const time = Date.now()
    return createApp({ ...platform.world, now: () => time }, platform.parts)
  }
  const look = async () => {
    await keeper.run(signal)
    await keeper.settled()
  }
  const stateOf = (hook: Made) => platform.parts.hooks.find(hook.id)
  const namespaceOf = (name: string) => platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
  const runsOf = (namespace: string) => platform.parts.runs.list({ namespace })
  /** Adds a pull request that no other test uses; returns its number. */
  function pull(more: Partial<StubPull> = {}): number {
    const one = ++number
    forge.pulls.set(one, { state: 'open', sha: sha('a'), branch: 'feature', author: bob, head: own, ...more })
    return one
  }
  const push = (one: number, to: string) => forge.pulls.set(one, { ...forge.pulls.get(one)!, sha: to })
  const approve = (person: Person | undefined, name: string, commit: string) =>
    platform.call('POST /previews/:name/approve', { token: person!.token, params: { name }, body: { commit } })

  describe('the creation of a webhook', () => {
    test('the secrets of a webhook are shown once, and are sealed', async () => {
      const { id, secret } = await made()
      const { body } = await platform.call('GET /hooks', { token: owner!.token })
      const live = await platform.cluster.get({
        apiVersion: 'v1',
        kind: 'Secret',
        name: `h-${id}`,
        namespace: 'devctl-users',
      })
      const text = JSON.stringify(body) + JSON.stringify(live) + decoded(live) + JSON.stringify(platform.audit)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(TOKEN)
      expect(body.items).toMatchObject([
        { id, repository, forks: 'approve', address: `https://platform.dev.example.com/api/v1/hooks/gitea/${id}` },
      ])
      expect((await platform.call('GET /hooks', { token: stranger!.token })).body.items).toEqual([])
      expect((await platform.call('GET /hooks', { token: admin!.token })).body.items).toHaveLength(1)
    })

    test('the platform refuses tokens, scopes, addresses and prefixes that are not allowed', async () => {
      forge.tokens.set('reader', false)
      const { prefix } = await made()
      const errors: unknown[] = []
      for (const body of [
        { token: 'reader' },
        { token: 'unknown' },
        { scope: 'global' },
        { repository: 'https://10.96.0.1/team/shop' },
        { repository: 'https://git.example.com.attacker.example/team/shop' },
        { forge: 'github' },
        { prefix },
        { prefix: 'shop' },
        // This prefix belongs to previews of CI jobs.
        { prefix: `ci-${RUN}-` },
        { token: 'a b' },
      ]) {
        const { status, error } = await add(owner, body)
        errors.push([status, error.code])
      }
      expect(errors).toEqual([
        [403, 'platform/not-allowed'],
        [400, 'platform/forge'],
        [403, 'platform/not-allowed'],
        [400, 'platform/forge'],
        [400, 'platform/forge'],
        [400, 'platform/forge'],
        [409, 'platform/exists'],
        [400, 'platform/name'],
        [403, 'platform/kept-name'],
        [400, 'platform/value'],
      ])
    })

    const where: readonly (readonly [string, () => TestPlatform['app']])[] = [
      ['of one replica', () => platform.app],
      ['of another replica', () => createApp(platform.world, createServices(platform.world))],
    ]
    test.each(few(where))('two webhooks created at once, the second %s, never share a prefix', async (_, second) => {
      const apps = [platform.app, second()]
      const prefix = `h${++number}-${RUN}-`
      // Neither request continues before the forge was asked for both.
      let asked = 0
      let begin = () => {}
      const both = new Promise<void>(resolve => {
        begin = resolve
      })
      forge.meanwhile = () => {
        if (++asked === 2) begin()
        return both
      }
      const answers = await Promise.all(
        [owner, colleague].map((person, at) =>
          apps[at]!.inject({
            method: 'POST',
            url: '/api/v1/hooks',
            headers: { authorization: `Bearer ${person!.token}` },
            payload: { repository, token: TOKEN, prefix },
          }),
        ),
      )
      expect(answers.map(one => one.statusCode)).toContain(409)
      const made = answers.filter(one => one.statusCode === 200).length
      expect(await platform.parts.hooks.list()).toHaveLength(made)
      if (apps[1] === platform.app) expect(made).toBe(1)
      else await apps[1]!.close()
    })

    test('a token for programs creates no webhook, and only its owner deletes it', async () => {
      const { id } = await made()
      const api = await platform.parts.tokens.issue({ kind: 'api', label: 'a', user: owner!.id })
      const body = { repository, token: TOKEN, prefix: 'x-' }
      expect((await platform.call('POST /hooks', { token: api.text, body })).status).toBe(403)
      const remove = async (token: string) =>
        (await platform.call('DELETE /hooks/:id', { token, params: { id } })).status
      expect([await remove(stranger!.token), await remove(api.text), await remove(owner!.token)]).toEqual([
        404, 403, 200,
      ])
    })
  })

  test('names for the pull requests of a webhook are reserved before they exist', async () => {
    const hook = await made()
    const name = `${hook.prefix}pr-777`
    const take = (person: Person | undefined, what: 'namespace' | 'preview') =>
      what === 'namespace'
        ? platform.call('POST /namespaces', { token: person!.token, body: { name } })
        : platform.call('POST /previews', { token: person!.token, body: { name, repository, branch: 'main' } })
    for (const what of ['namespace', 'preview'] as const)
      expect((await take(stranger, what)).error).toMatchObject({
        code: 'platform/kept-name',
        message: `names that begin with \`${hook.prefix}pr-\` are reserved for pull requests of a webhook`,
      })
    // A name that shares only the beginning is not reserved.
    const like = await platform.call('POST /namespaces', {
      token: stranger!.token,
      body: { name: `${hook.prefix}login` },
    })
    expect(like.status, like.error?.message).toBe(200)
    expect((await take(admin, 'namespace')).status).toBe(200)

    if (!TAKES_ALL) return
    // A name that is taken nonetheless is reported.
    const one = pull()
    const params = { ns: `${hook.prefix}pr-${one}` }
    const body = { name: params.ns }
    expect((await platform.call('POST /namespaces', { token: admin!.token, body })).status).toBe(200)
    await send(hook, one)
    await look()
    expect(await stateOf(hook)).toMatchObject({ pulls: [{ problem: `namespace \`${params.ns}\` is taken` }] })
  })

  describe('deliveries', () => {
    test('a delivery that is not signed with the secret is refused, and leaves only its time', async () => {
      const hook = await made()
      const other = await made()
      const text = payload(7)
      const lines = platform.audit.length
      const forged = [
        await deliver(hook, text, { 'x-gitea-signature': '' }),
        await deliver(hook, text, { 'x-gitea-signature': '0'.repeat(64) }),
        await deliver({ ...hook, secret: other.secret }, text),
        await deliver({ ...hook, secret: TOKEN }, text),
        await deliver(hook, payload(8), {
          'x-gitea-signature': createHmac('sha256', hook.secret).update(text).digest('hex'),
        }),
        // The body is the same JSON in other bytes.
        await deliver(hook, `${text} `, {
          'x-gitea-signature': createHmac('sha256', hook.secret).update(text).digest('hex'),
        }),
        await deliver(hook, text, { 'x-gitea-signature': '', authorization: `Bearer ${owner!.token}` }),
      ]
      expect(forged.map(one => one.statusCode)).toEqual(Array(7).fill(401))
      expect(await stateOf(hook)).toMatchObject({ look: [], seen: [] })
      expect(platform.audit).toHaveLength(lines)
    })

    test('a delivery for an unknown webhook, another forge or another repository is refused', async () => {
      const hook = await made()
      expect((await deliver({ ...hook, id: 'a'.repeat(16) }, payload(7))).statusCode).toBe(404)
      expect((await deliver({ ...hook, id: '../users' }, payload(7))).statusCode).toBe(404)
      expect((await deliver({ ...hook, id: 'A' }, payload(7))).statusCode).toBe(400)
      const asGitHub = await platform.app.inject({
        method: 'POST',
        url: `/api/v1/hooks/github/${hook.id}`,
        payload: payload(7),
        headers: {
          'content-type': 'application/json',
          'x-hub-signature-256': `sha256=${createHmac('sha256', hook.secret).update(payload(7)).digest('hex')}`,
        },
      })
      expect(asGitHub.statusCode).toBe(404)
      const elsewhere = await deliver(hook, payload(7, { repository: { id: 4 } }))
      expect([elsewhere.statusCode, elsewhere.json().code]).toEqual([403, 'platform/other-repository'])
      expect(await stateOf(hook)).toMatchObject({ look: [] })
    })

    test('a replay is refused, also with another id, by another replica, and after a restart', async () => {
      const hook = await made()
      const text = payload(7)
      const id = { 'x-gitea-delivery': randomUUID() }
      expect((await deliver(hook, text, id)).statusCode).toBe(204)
      const again = createApp(platform.world, createServices(platform.world))
      const replays = [
        await deliver(hook, text, id),
        await deliver(hook, text),
        await deliver(hook, payload(8), id),
        await deliver(hook, text, {}, again),
      ]
      await again.close()
      expect(replays.map(one => one.statusCode)).toEqual([409, 409, 409, 409])
      expect(await stateOf(hook)).toMatchObject({ look: [7] })
    })

    test('the last delivery is shown with its result, also by another replica', async () => {
      const hook = await made()
      const shown = async () => (await platform.call('GET /hooks', { token: owner!.token })).body.items[0]
      expect(await shown()).not.toHaveProperty('lastDelivery')
      expect(await shown()).not.toHaveProperty('lastUnsigned')
      await deliver(hook, payload(7), { 'x-gitea-event': 'pull_request' })
      expect(await shown()).toMatchObject({
        lastDelivery: { event: 'pull_request', result: 'accepted', number: 7, time: expect.any(String) },
      })
      const again = createApp(platform.world, createServices(platform.world))
      await deliver(hook, JSON.stringify({ ref: 'main' }), { 'x-gitea-event': 'push' }, again)
      await again.close()
      expect((await shown())?.lastDelivery).toMatchObject({
        event: 'push',
        result: 'ignored',
        reason: 'it is not about a pull request',
      })
      // Pull requests to check are not affected.
      expect(await stateOf(hook)).toMatchObject({ look: [7] })
    })

    test('forged deliveries are recorded once a minute, with nothing but the time', async () => {
      const hook = await made()
      await send(hook, 7)
      const known = (await stateOf(hook))?.lastDelivery
      const forge = () =>
        deliver({ ...hook, secret: 'guess' }, payload(8), { 'x-gitea-event': 'canary-event', 'user-agent': 'canary' })
      await Promise.all(Array.from({ length: 20 }, forge))
      const first = await stateOf(hook)
      expect(first).toMatchObject({ lastDelivery: known, lastUnsigned: expect.any(String), look: [7] })
      for (let at = 0; at < 20; at++) await forge()
      expect((await stateOf(hook))?.version).toBe(first?.version)
      platform.later = 61_000
      await forge()
      expect(Date.parse((await stateOf(hook))!.lastUnsigned!)).toBeGreaterThan(Date.parse(first!.lastUnsigned!))
      expect(JSON.stringify(await stateOf(hook))).not.toContain('canary')
    })

    test('a delivery that is sent many times at once is accepted once', async () => {
      const hook = await made()
      const text = payload(7)
      const all = await Promise.all(Array.from({ length: 8 }, () => deliver(hook, text)))
      const codes = all.map(one => one.statusCode).sort()
      expect(codes).toEqual([204, ...Array(7).fill(409)])
    })

    test('a delivery that is too long is refused before it is read', async () => {
      const hook = await made()
      const at = (bytes: number) => payload(7, { more: 'x'.repeat(bytes - payload(7, { more: '' }).length) })
      expect((await deliver(hook, at(256 * 1024))).statusCode).toBe(204)
      expect((await deliver(hook, at(256 * 1024 + 1))).statusCode).toBe(413)
      // The rest of the body is never sent.
      const server = createApp(platform.world, platform.parts)
      const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1')
        socket.once('data', data => resolve(String(data)))
        socket.once('error', reject)
        socket.setTimeout(60_000, () => reject(new Error('no answer')))
        socket.write(
          `POST /api/v1/hooks/gitea/${hook.id} HTTP/1.1\r\nhost: platform.dev.example.com\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n{`,
        )
      })
      await server.close()
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    })

    test('deliveries for unknown webhooks do not block signed ones of the same address', async () => {
      const hook = await made()
      const server = serverWithoutTime()
      const from = { 'x-forwarded-for': '203.0.113.9' }
      const guess = () => deliver({ ...hook, id: 'a'.repeat(16) }, payload(7), from, server)
      let last = 0
      for (let batch = 0; batch < 30 && last !== 429; batch++)
        last = (await Promise.all(Array.from({ length: 50 }, guess))).at(-1)!.statusCode
      expect(last).toBe(429)
      const all = await Promise.all([
        ...Array.from({ length: 50 }, guess),
        deliver(hook, payload(7, { now: 1 }), from, server),
        deliver(hook, payload(8, { now: 2 }), from, server),
        deliver({ ...hook, secret: 'guess' }, payload(9), from, server),
      ])
      await server.close()
      expect(all.map(one => one.statusCode).slice(-3)).toEqual([204, 204, 401])
    })

    longTest('guesses of an address are limited, and valid deliveries do not count', async () => {
      const hook = await made()
      const server = serverWithoutTime()
      const from = { 'x-forwarded-for': '203.0.113.7' }
      const codes: number[] = []
      for (let at = 0; at < 400 && codes.at(-1) !== 429; at++)
        codes.push((await deliver({ ...hook, id: 'a'.repeat(16) }, payload(7), from, server)).statusCode)
      await server.close()
      expect(codes[0]).toBe(404)
      expect(codes.at(-1)).toBe(429)
      const other = serverWithoutTime()
      const right: number[] = []
      for (let at = 0; at < 230; at++) right.push((await deliver(hook, '{"zen":"x"}', from, other)).statusCode)
      await other.close()
      expect(new Set(right)).toEqual(new Set([204]))
    })

    longTest('the deliveries of one user are limited, and those of others still arrive', async () => {
      const flooder = await platform.person(`flooder${++number}`)
      const hook = await made({}, flooder)
      const codes: number[] = []
      const server = serverWithoutTime()
      for (let at = 0; at < 260 && codes.at(-1) !== 429; at++) codes.push((await send(hook, 7, server)).statusCode)
      await server.close()
      expect(codes.at(-1)).toBe(429)
      expect((await send(await made(), 7)).statusCode).toBe(204)
    })

    test('a delivery of another type, without JSON or about no pull request is ignored', async () => {
      const hook = await made()
      const form = await deliver(hook, 'payload=%7B%7D', { 'content-type': 'application/x-www-form-urlencoded' })
      const codes = [form, await deliver(hook, 'no'), await deliver(hook, '{"zen":"x"}')].map(one => one.statusCode)
      expect(codes).toEqual([415, 400, 204])
      expect(await stateOf(hook)).toMatchObject({ look: [], seen: [] })
    })
  })

  describe('a pull request of the repository itself', () => {
    test('a pull request gets a preview with one run per commit, until it is closed', async () => {
      const hook = await made()
      const one = pull()
      const name = `${hook.prefix}pr-${one}`
      // The platform does not trust the payload about the state and the commit.
      const text = payload(one, {
        pull_request: { number: one, state: 'closed', head: { sha: sha('f'), ref: 'evil' } },
      })
      expect((await deliver(hook, text)).statusCode).toBe(204)
      await look()
      const [run] = await runsOf(name)
      expect(run).toMatchObject({
        commit: sha('a'),
        branch: 'feature',
        repository,
        trust: 'repository',
        hook: hook.id,
        user: owner!.id,
      })
      expect((await namespaceOf(name))?.metadata.labels).toMatchObject({
        'pod-security.kubernetes.io/enforce': 'baseline',
        'dev.platform/record': 'preview',
      })
      await send(hook, one)
      await look()
      expect(await runsOf(name)).toHaveLength(1)
      push(one, sha('b'))
      await send(hook, one)
      await look()
      expect((await runsOf(name)).map(({ commit }) => commit)).toEqual([sha('b'), sha('a')])
      expect(await stateOf(hook)).toMatchObject({ look: [], pulls: [{ number: one, deployed: { commit: sha('b') } }] })

      forge.pulls.get(one)!.state = 'closed'
      await send(hook, one)
      await look()
      const live = await namespaceOf(name)
      expect(live === undefined || live.metadata.labels?.['dev.platform/status'] === 'Deleting').toBe(true)
      expect(await stateOf(hook)).toMatchObject({ look: [], pulls: [] })
    })

    test('a run clones with the token of the webhook, and gets no variables of a user', async () => {
      const hook = await made()
      const one = pull()
      const name = `${hook.prefix}pr-${one}`
      await platform.call('PUT /variables/:scope/:name', {
        token: owner!.token,
        params: { scope: 'user', name: 'MINE' },
        body: { value: 'canary-mine' },
      })
      await send(hook, one)
      await look()
      const params = { scope: `namespace:${name}`, name: 'SHARED' }
      await platform.call('PUT /variables/:scope/:name', { token: owner!.token, params, body: { value: 'shared' } })
      const { clone, variables, build } = await started(name)
      expect(clone).toMatchObject({ user: 'git', password: TOKEN, commit: sha('a') })
      // The request has reached the check of the upgrade, so the run may use a builder.
      expect(build).toMatchObject({ code: 'platform/upgrade' })
      expect(variables).toEqual([{ name: 'SHARED', value: 'shared', scope: `namespace:${name}` }])
    })

    test('runs clone without the login of the user after the webhook was deleted', async () => {
      const person = await platform.person(`remover${++number}`)
      const login = (scope: string, password: string) =>
        platform.call('PUT /credentials/:scope/:host', {
          token: person.token,
          params: { scope, host: 'git.example.com' },
          body: { user: 'git', password },
        })
      await login('user', 'canary-of-the-person')
      const hook = await made({}, person)
      const [queued, deployed] = [pull(), pull()]
      const names = [queued, deployed].map(one => `${hook.prefix}pr-${one}`) as [string, string]
      for (const one of [queued, deployed]) {
        await send(hook, one)
        await look()
      }
      await platform.parts.hooks.remove((await stateOf(hook))!)
      expect((await started(names[0])).clone).not.toHaveProperty('password')

      const [run] = await runsOf(names[1])
      await platform.parts.runs.note(run!.id, { commit: sha('a') })
      await platform.parts.runs.stop(run!.id, { why: 'cancelled' })
      await ended(run!.id)
      await login(`namespace:${names[1]}`, 'of-the-namespace')
      const params = { ns: names[1] }
      expect((await platform.call('DELETE /namespaces/:ns', { token: person.token, params })).status).toBe(204)
      const destroy = await eventually('a run destroys it', async () => {
        await platform.parts.deletions.run(signal)
        return (await runsOf(names[1])).find(({ action }) => action === 'destroy')
      })
      expect(destroy).toMatchObject({ commit: sha('a'), trust: 'repository', hook: hook.id })
      expect((await started(names[1])).clone).toMatchObject({ user: 'git', password: 'of-the-namespace' })
    })

    test('a destroy by the owner of a preview runs no commands of the pull request', async () => {
      const hook = await made()
      const one = pull()
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      const [deployed] = await runsOf(name)
      await platform.parts.runs.note(deployed!.id, { commit: sha('a') })
      const destroy = await platform.call('POST /runs', {
        token: owner!.token,
        body: { namespace: name, environment: 'shop', action: 'destroy' },
      })
      expect([destroy.status, destroy.body.repository]).toEqual([200, undefined])
    })

    test('a forge that fails is asked again later', async () => {
      const hook = await made()
      const one = pull()
      forge.broken = 503
      await send(hook, one)
      await look()
      expect(await runsOf(`${hook.prefix}pr-${one}`)).toEqual([])
      expect(await stateOf(hook)).toMatchObject({ look: [one] })
      forge.broken = undefined
      platform.later = 120_000
      await look()
      expect(await runsOf(`${hook.prefix}pr-${one}`)).toHaveLength(1)
    })

    test('the webhook of a suspended user deploys nothing', async () => {
      const gone = await platform.person(`gone${++number}`)
      const hook = await made({}, gone)
      const params = { user: gone.id }
      await platform.call('PATCH /admin/users/:user', { token: admin!.token, params, body: { isSuspended: true } })
      const one = pull()
      await send(hook, one)
      await look()
      expect(await namespaceOf(`${hook.prefix}pr-${one}`)).toBeUndefined()
      expect(await stateOf(hook)).toMatchObject({ look: [] })
    })

    test('a webhook deploys nothing after its address belongs to another repository', async () => {
      const hook = await made()
      const one = pull()
      const setup = await stateOf(hook)
      await platform.cluster.patch(
        { apiVersion: 'v1', kind: 'Secret', name: `h-${hook.id}`, namespace: 'devctl-users' },
        { data: { setup: Buffer.from(JSON.stringify({ ...setup, repositoryId: '4' })).toString('base64') } },
        { manager: 'test' },
      )
      await deliver(hook, payload(one, { repository: { id: 4 } }))
      await look()
      expect(await namespaceOf(`${hook.prefix}pr-${one}`)).toBeUndefined()
      expect(platform.log.at(-1)).toContain('this address now belongs to a different repository')
    })
  })

  describe('a pull request of a fork', () => {
    test('each commit of a fork waits until a user with write access approves it', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      // The payload claims that the pull request is of the repository itself.
      await deliver(hook, payload(one, { pull_request: { number: one, head: { repo: { id: REPOSITORY } } } }))
      await look()
      expect(await namespaceOf(name)).toBeUndefined()
      const waits = await platform.call('GET /hooks', { token: owner!.token })
      expect(waits.body.items[0]!.pulls).toMatchObject([
        { preview: name, author: 'ann', commit: sha('a'), trust: 'fork', isWaiting: true },
      ])

      const unseen = await approve(stranger, name, sha('a'))
      expect(unseen.status).toBe(404)
      const nothing = await approve(stranger, `${name}0`, sha('a'))
      expect(nothing.error).toEqual(JSON.parse(JSON.stringify(unseen.error).replaceAll(name, `${name}0`)))
      expect((await approve(admin, name, sha('a'))).status).toBe(403)
      expect((await approve(owner, `${name}0`, sha('a'))).status).toBe(404)
      expect((await approve(owner, name, sha('b'))).error).toMatchObject({ code: 'platform/approval' })
      expect((await approve(owner, name, sha('a').slice(0, 12))).status).toBe(409)
      await look()
      expect(await namespaceOf(name)).toBeUndefined()

      expect((await approve(owner, name, sha('a'))).status).toBe(200)
      await look()
      const live = await namespaceOf(name)
      expect(live?.metadata.labels).toMatchObject({
        'pod-security.kubernetes.io/enforce': 'restricted',
        'dev.platform/untrusted': 'true',
      })
      const expires = Date.parse(live?.metadata.annotations?.['dev.platform/expires'] ?? '')
      expect(Math.abs(expires - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000)
      expect(await runsOf(name)).toMatchObject([
        { trust: 'fork', commit: sha('a'), repository: 'https://git.example.com/ann/shop.git' },
      ])

      push(one, sha('b'))
      await send(hook, one)
      await look()
      expect(await runsOf(name)).toHaveLength(1)
      expect((await approve(owner, name, sha('a'))).error.message).toContain(`there is a newer commit: ${sha('b')}`)
      expect((await approve(owner, name, sha('b'))).status).toBe(200)
      await look()
      expect((await runsOf(name)).map(({ commit }) => commit)).toEqual([sha('b'), sha('a')])
    })

    test('a push between an approval and its check is not deployed', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      await send(hook, one)
      await look()
      expect((await approve(owner, `${hook.prefix}pr-${one}`, sha('a'))).status).toBe(200)
      push(one, sha('b'))
      await look()
      expect(await namespaceOf(`${hook.prefix}pr-${one}`)).toBeUndefined()
      expect(await stateOf(hook)).toMatchObject({ pulls: [{ commit: sha('b'), isWaiting: true }] })
    })

    test('another user approves with a login on the forge that has write access', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      forge.tokens.set('colleagues-token', false)
      await platform.call('PUT /credentials/:scope/:host', {
        token: colleague!.token,
        params: { scope: 'user', host: 'git.example.com' },
        body: { user: 'git', password: 'colleagues-token' },
      })
      expect((await approve(colleague, name, sha('a'))).status).toBe(404)
      forge.tokens.delete('colleagues-token')
      expect((await approve(colleague, name, sha('a'))).status).toBe(404)
      forge.tokens.set('colleagues-token', true)
      expect((await approve(colleague, name, sha('a'))).status).toBe(200)
      expect(await stateOf(hook)).toMatchObject({ pulls: [{ approved: { by: colleague!.id } }] })
      // The owner had write access when creating the webhook, but no longer has it.
      push(one, sha('b'))
      await look()
      forge.tokens.set(TOKEN, false)
      expect((await approve(owner, name, sha('b'))).status).toBe(403)
    })

    test('a pull request looks like a missing one to users without write access', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      await send(hook, one)
      await look()
      forge.tokens.set('reader', false)
      const seen: Record<string, unknown[]> = {}
      for (const [what, password, broken] of [
        ['without a credential', undefined, undefined],
        ['with a token that may only read', 'reader', undefined],
        ['with a token that the forge refuses', 'unknown', undefined],
        ['while the forge fails', 'reader', 503],
      ] as const) {
        const person = await platform.person(`reader${++number}`)
        if (password !== undefined)
          await platform.call('PUT /credentials/:scope/:host', {
            token: person.token,
            params: { scope: 'user', host: 'git.example.com' },
            body: { user: 'x', password },
          })
        forge.broken = broken
        seen[what] = []
        for (const name of [`${hook.prefix}pr-${one}`, `${hook.prefix}pr-${one + 1000}`]) {
          const before = forge.asked.length
          const { status, error } = await approve(person, name, sha('a'))
          const message = error.message.replace(name, 'NAME')
          seen[what].push({ status, message, asked: forge.asked.slice(before) })
        }
      }
      for (const [what, [there, missing]] of Object.entries(seen)) expect(there, what).toEqual(missing)
    })

    test('a pull request whose deploy failed is deployed again by an approval of the same commit', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      expect((await approve(owner, name, sha('a'))).status).toBe(200)
      await look()
      const [first] = await runsOf(name)
      // An approval does not restart a live run.
      expect((await approve(owner, name, sha('a'))).status).toBe(409)
      await platform.parts.runs.stop(first!.id, { why: 'cancelled' })
      await ended(first!.id)
      expect((await approve(stranger, name, sha('a'))).status).toBe(404)
      expect((await approve(owner, name, sha('b'))).status).toBe(409)
      const again = await approve(owner, name, sha('a'))
      expect([again.status, again.body.deployed]).toEqual([200, undefined])
      await look()
      expect((await runsOf(name)).map(({ commit, trust }) => [commit, trust])).toEqual([
        [sha('a'), 'fork'],
        [sha('a'), 'fork'],
      ])
      expect((await approve(owner, name, sha('a'))).status).toBe(409)
      push(one, sha('b'))
      await send(hook, one)
      await look()
      expect((await approve(owner, name, sha('a'))).error.message).toContain(`there is a newer commit: ${sha('b')}`)
    })

    test('a pull request whose deploy was refused is deployed by another approval of the same commit', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      const taken = await platform.call('POST /namespaces', { token: admin!.token, body: { name } })
      expect(taken.status).toBe(200)
      expect((await approve(owner, name, sha('a'))).status).toBe(200)
      await look()
      const problem = `namespace \`${name}\` is taken`
      expect(await stateOf(hook)).toMatchObject({ pulls: [{ trust: 'fork', problem }] })
      await platform.call('DELETE /namespaces/:ns', { token: admin!.token, params: { ns: name } })
      await eventually('the namespace is gone', async () => ((await namespaceOf(name)) ? undefined : true))
      expect((await approve(stranger, name, sha('a'))).status).toBe(404)
      const again = await approve(owner, name, sha('a'))
      expect([again.status, again.body.problem]).toEqual([200, undefined])
      await look()
      expect((await runsOf(name)).map(({ commit, trust }) => [commit, trust])).toEqual([[sha('a'), 'fork']])
    })

    longTest('a failed deploy is repeated if the approval arrives while the forge is asked', async () => {
      const hook = await made()
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      expect((await approve(owner, name, sha('a'))).status).toBe(200)
      await look()
      const [first] = await runsOf(name)
      await platform.parts.runs.stop(first!.id, { why: 'cancelled' })
      await ended(first!.id)
      // Times are recorded in seconds.
      platform.later = 5000
      await send(hook, one)
      let status: number | undefined
      forge.meanwhile = async path => {
        if (!path.endsWith(`/pulls/${one}`)) return
        forge.meanwhile = undefined
        status = (await approve(owner, name, sha('a'))).status
      }
      await look()
      expect(status).toBe(200)
      await look()
      expect(await runsOf(name)).toHaveLength(2)
      expect(await stateOf(hook)).toMatchObject({ look: [], pulls: [{ deployed: { commit: sha('a') } }] })
    })

    test('a preview of a fork gets no variables and no login, and users cannot deploy into it', async () => {
      const hook = await made({ forks: 'sandbox' })
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      for (const [token, scope] of [
        [admin!.token, 'admin'],
        [owner!.token, 'user'],
      ] as const)
        await platform.call('PUT /variables/:scope/:name', {
          token,
          params: { scope, name: 'SECRET' },
          body: { value: 'canary-secret' },
        })
      await platform.call('PUT /credentials/:scope/:host', {
        token: owner!.token,
        params: { scope: 'user', host: 'git.example.com' },
        body: { user: 'git', password: 'canary-login' },
      })
      await send(hook, one)
      await look()
      const { clone, variables, build } = await started(name)
      expect(build).toMatchObject({ code: 'platform/no-builders', message: expect.stringContaining('forks') })
      expect(clone).toEqual({
        repository: 'https://git.example.com/ann/shop.git',
        branch: 'feature',
        commit: sha('a'),
      })
      expect(variables).toEqual([])
      const token = owner!.token
      const effective = await platform.call('GET /namespaces/:ns/variables/effective', { token, params: { ns: name } })
      expect(effective.body.variables).toEqual([])
      const refused = [
        await platform.call('POST /runs', {
          token,
          body: { namespace: name, environment: 'shop', action: 'deploy', repository },
        }),
        await platform.call('POST /runs', { token, body: { namespace: name, environment: 'shop', action: 'destroy' } }),
        await platform.call('POST /previews', {
          token,
          body: { name, repository: 'https://git.example.com/ann/shop.git', branch: 'feature' },
        }),
      ]
      expect(refused.map(({ status, error }) => [status, error.code])).toEqual(
        Array(3).fill([409, 'platform/untrusted']),
      )
      await platform.call('DELETE /variables/:scope/:name', {
        token: admin!.token,
        params: { scope: 'admin', name: 'SECRET' },
      })
    })

    test('a preview of a fork is destroyed by its own commands, without variables or a login', async () => {
      const hook = await made({ forks: 'sandbox' })
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      const [deployed] = await runsOf(name)
      await platform.parts.runs.note(deployed!.id, { commit: sha('a') })
      forge.pulls.get(one)!.state = 'closed'
      await send(hook, one)
      await look()
      const [destroy] = await runsOf(name)
      expect(destroy).toMatchObject({ action: 'destroy', commit: sha('a'), trust: 'fork', hook: hook.id })
      const { clone, variables } = await started(name)
      expect(clone).not.toHaveProperty('password')
      expect(variables).toEqual([])
    })

    longTest('a preview of a fork ends after a day, even if it is persistent', async () => {
      const hook = await made({ forks: 'sandbox' })
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      const params = { ns: name }
      await platform.call('PATCH /namespaces/:ns', { token: owner!.token, params, body: { isPersistent: true } })
      const idle = idleTask(platform.world, platform.parts)
      platform.later = 23 * 3_600_000
      await idle.run(signal)
      expect((await namespaceOf(name))?.metadata.labels?.['dev.platform/status']).toBe('Active')
      platform.later = 24 * 3_600_000 + 60_000
      await idle.run(signal)
      const live = await namespaceOf(name)
      expect(live === undefined || live.metadata.labels?.['dev.platform/status'] === 'Deleting').toBe(true)
    })

    test('a webhook that allows no forks creates no preview for them', async () => {
      const hook = await made({ forks: 'never' })
      const one = pull({ author: ann, head: forkOf(ann) })
      await send(hook, one)
      await look()
      expect(await namespaceOf(`${hook.prefix}pr-${one}`)).toBeUndefined()
      expect(await stateOf(hook)).toMatchObject({ look: [], pulls: [{ problem: expect.stringContaining('fork') }] })
      expect((await approve(owner, `${hook.prefix}pr-${one}`, sha('a'))).error.message).toContain(
        'no commit is waiting',
      )
    })

    test('a pull request of a writer is trusted only from the writer’s own fork', async () => {
      const hook = await made()
      forge.writers.add(ann.id)
      const [theirs, others] = [pull({ author: ann, head: forkOf(ann) }), pull({ author: ann, head: forkOf(bob) })]
      await send(hook, theirs)
      await look()
      await send(hook, others)
      await look()
      expect(await runsOf(`${hook.prefix}pr-${theirs}`)).toMatchObject([{ trust: 'repository' }])
      expect(await namespaceOf(`${hook.prefix}pr-${others}`)).toBeUndefined()
    })

    test('a preview of trusted code is deleted before code of a fork replaces it', async () => {
      const hook = await made({ forks: 'sandbox' })
      forge.writers.add(ann.id)
      const one = pull({ author: ann, head: forkOf(ann) })
      const name = `${hook.prefix}pr-${one}`
      await send(hook, one)
      await look()
      const before = (await namespaceOf(name))?.metadata.uid
      forge.writers.delete(ann.id)
      push(one, sha('b'))
      await send(hook, one)
      for (let at = 1; at <= 40; at++) {
        platform.later = at * 120_000
        await look()
        const { metadata } = (await namespaceOf(name)) ?? {}
        if (metadata?.uid !== before && metadata?.labels?.['dev.platform/untrusted'] === 'true') break
        await new Promise(resolve => setTimeout(resolve, 250))
      }
      const live = await namespaceOf(name)
      expect(live?.metadata.uid).not.toBe(before)
      expect(live?.metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
      const [run] = await runsOf(name)
      expect(run).toMatchObject({ trust: 'fork', commit: sha('b'), namespaceUid: live?.metadata.uid })
    })

    test('a pull request of a fork with an invalid repository path gets no preview', async () => {
      const hook = await made({ forks: 'sandbox' })
      const one = pull({ author: ann, head: { ...forkOf(ann), path: '../../ann/shop' } })
      await send(hook, one)
      await look()
      expect(await namespaceOf(`${hook.prefix}pr-${one}`)).toBeUndefined()
      expect(await stateOf(hook)).toMatchObject({ pulls: [{ problem: expect.any(String) }] })
    })
  })

  /** Waits until the leader has recorded the end of a run. */
  async function ended(id: string): Promise<void> {
    const runKeeper = new RunController(platform.world, platform.parts)
    await eventually(`${id} has ended`, async () => {
      await runKeeper.run(signal)
      await runKeeper.settled()
      const run = await platform.parts.runs.find(id)
      return run && hasEnded(run.state) ? true : undefined
    })
  }

  /** Returns the clone input, the variables and the build error of a preview's run, once its turn comes. */
  async function started(namespace: string) {
    const runKeeper = new RunController(platform.world, platform.parts)
    const [run] = await runsOf(namespace)
    for (let at = 0; at < 40; at++) {
      await runKeeper.run(signal)
      if ((await platform.parts.runs.find(run!.id))?.state === 'running') break
      // Runs of other tests occupy the places.
      for (const other of await platform.parts.runs.list({ isLive: true }))
        if (other.id !== run!.id) await platform.parts.runs.stop(other.id, { why: 'cancelled' })
      await new Promise(resolve => setTimeout(resolve, 250))
    }
    const input = async (name: string) => {
      const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${run!.id}-${name}`, namespace: 'devctl-runs' }
      const data = (await platform.cluster.get(ref))?.['data'] as Readonly<Record<string, string>>
      return JSON.parse(Buffer.from(data['input.json']!, 'base64').toString()) as Record<string, unknown>
    }
    const { token } = await input('input')
    const { body } = await platform.call('GET /namespaces/:ns/variables/effective', {
      token: String(token),
      params: { ns: namespace },
    })
    const { error: build } = await platform.call('GET /builders/connect', {
      token: String(token),
      query: { namespace },
    })
    return { clone: await input('clone'), variables: body.variables, build }
  }
})

const decoded = (live: unknown): string => {
  const { data = {} } = (live ?? {}) as { readonly data?: Readonly<Record<string, string>> }
  return Object.values(data)
    .map(one => Buffer.from(one, 'base64').toString())
    .join('\n')
}
