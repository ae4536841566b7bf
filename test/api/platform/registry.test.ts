import { createHash, X509Certificate } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArtifacts } from '../../../adapters/registry/artifact-store.ts'
import { lastLine } from '../../../environment/status/last-line.ts'
import { placeFor, type RegistryAccess } from '../../../platform/rules/registry/registry-access.ts'
import { pullSecretsTask } from '../../../platform/server/registry/pull-secrets.ts'
import { registryPassword } from '../../../platform/server/registry/registry-logins.ts'
import { namespaceImages } from '../../../platform/session/namespace-images.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { altered } from '../../support/platform/altered.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few } from '../../support/takes-all.ts'
import { findRegistry, startRegistry, type TestRegistry } from './docker-registry.ts'

// Tests tokens for the registry, and what a real registry does with them.

/** Pattern of devctl's message when a registry refuses access. */
const REFUSED = /login|not allow|denied/i

const basic = (password: string, name = 'anybody') => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

describe.skipIf(!process.env.KUBECONFIG)('tokens for the registry', () => {
  let platform: TestPlatform
  let port: number
  let [admin, owner, developer, viewer, stranger]: Person[] = []
  const name = `images-${RUN}`
  let uid: string
  /** Returns the repository path of a namespace's images. */
  const placeOf = async (namespace: string) => {
    const { uid } = (await platform.parts.namespaces.find(namespace))!.namespace
    return placeFor({ name: namespace, uid: uid! })
  }
  let place: string
  let [ofOwner, ofStranger] = ['', '']

  beforeAll(async () => {
    port = await freePort()
    platform = await openPlatform({ registry: `127.0.0.1:${port}`, url: 'http://127.0.0.1' })
    ;[admin, owner, developer, viewer, stranger] = await platform.people(
      ['r-admin', 'admin'],
      'r-owner',
      'r-developer',
      'r-viewer',
      'r-stranger',
    )
    expect((await platform.call('POST /namespaces', { token: owner.token, body: { name } })).status).toBe(200)
    for (const [person, role] of [
      [developer, 'developer'],
      [viewer, 'viewer'],
    ] as const)
      expect(
        await platform.call('PUT /namespaces/:ns/members/:user', {
          token: owner.token,
          params: { ns: name, user: person.id },
          body: { role },
        }),
      ).toMatchObject({ status: 200 })
    uid = (await platform.parts.namespaces.find(name))!.namespace.uid!
    place = await placeOf(name)
    ofOwner = await placeOf(owner.home)
    ofStranger = await placeOf(stranger.home)
  })
  afterAll(() => platform?.close())

  const ask = (password: string, scope: string) =>
    platform.call('GET /registry/token', { headers: basic(password), query: { scope, service: `127.0.0.1:${port}` } })

  /** Returns the part of a requested access that the token grants. */
  async function granted(password: string, scope: string): Promise<string> {
    const { status, body } = await ask(password, scope)
    expect(status).toBe(200)
    const { certificate } = platform.world.registryKey!
    const { payload } = await jwtVerify<{ access: readonly RegistryAccess[] }>(body.token, certificate.publicKey, {
      issuer: 'http://127.0.0.1',
      audience: `127.0.0.1:${port}`,
      algorithms: ['ES256'],
    })
    expect(payload.exp! - payload.iat!).toBe(300)
    const [first] = decodeProtectedHeader(body.token).x5c ?? []
    expect(new X509Certificate(Buffer.from(first!, 'base64')).fingerprint256).toBe(certificate.fingerprint256)
    return payload.access.map(({ name, actions }) => `${name}:${actions.join(',')}`).join(' ')
  }

  const loginOf = async (person: Person, ns = name) =>
    platform.call('POST /namespaces/:ns/registry-login', { token: person.token, params: { ns } })

  test('each role gets its actions on images of a namespace, shared images and others', async () => {
    const table: readonly (readonly [string, readonly (readonly string[])[]])[] = [
      [`repository:${place}/web:pull,push`, [[], ['pull', 'push'], ['pull', 'push'], ['pull'], []]],
      [`repository:${place}/web:delete`, [[], ['delete'], ['delete'], [], []]],
      ['repository:shared/node:pull,push', [['pull', 'push'], ['pull'], ['pull'], ['pull'], ['pull']]],
      [`repository:${place}:pull`, [[], [], [], [], []]],
      [`repository:${name}/web:pull,push`, [[], [], [], [], []]],
      [`repository:${name}-00000000/web:pull,push`, [[], [], [], [], []]],
      ['repository:nobodys-1f2e3d4c/web:pull', [[], [], [], [], []]],
      ['repository:kube-system/web:pull', [[], [], [], [], []]],
      ['repository:library/node:pull', [[], [], [], [], []]],
      ['registry:catalog:*', [[], [], [], [], []]],
    ]
    for (const [scope, wanted] of table) {
      const people = [admin, owner, developer, viewer, stranger]
      const all = await Promise.all(people.map(one => granted(one!.token, scope)))
      const path = scope.split(':')[1]
      expect(all, scope).toEqual(wanted.map(actions => (actions.length > 0 ? `${path}:${actions.join(',')}` : '')))
    }
  })

  test('a CI job, whose login has a colon, gets a token for the registry', async () => {
    const job = await platform.person('ci:acme/shop')
    const { body } = await platform.call('POST /namespaces/:ns/registry-login', {
      token: job.token,
      params: { ns: job.home },
    })
    const scope = `repository:${await placeOf(job.home)}/web:pull,push`
    const { status } = await platform.call('GET /registry/token', {
      headers: basic(body.password, body.username),
      query: { scope, service: `127.0.0.1:${port}` },
    })
    expect(status).toBe(200)
  })

  test('a token for several repositories leaves out those that the user may not access', async () => {
    const scope = `repository:${place}/web:push,pull repository:${ofOwner}/web:pull repository:shared/node:pull`
    expect(await granted(developer!.token, scope)).toBe(`${place}/web:pull,push shared/node:pull`)
  })

  test('a login for a namespace is for its and shared images, and ends with token and rights', async () => {
    const { body } = await loginOf(owner!)
    const other = `repository:${ofOwner}/web:pull,push`
    const own = `repository:${place}/web:pull,push`
    expect(body).toMatchObject({ registry: `127.0.0.1:${port}`, password: expect.stringMatching(/^devctl_registry_/) })
    expect(await granted(body.password, own)).toBe(`${place}/web:pull,push`)
    expect(await granted(body.password, other)).toBe('')
    expect(await granted(body.password, 'repository:shared/node:pull,push')).toBe('shared/node:pull')
    // The login gives no other access.
    expect((await platform.call('GET /me', { token: body.password })).status).toBe(401)
    expect((await platform.call('GET /me', { headers: basic(owner!.token) })).status).toBe(401)
    // An administrator's login cannot push shared images, either.
    const ofAdmin = await loginOf(admin!, admin!.home)
    expect(await granted(ofAdmin.body.password, 'repository:shared/node:pull,push')).toBe('shared/node:pull')

    const made = await platform.call('POST /me/tokens', { token: developer!.token, body: { label: 'ci' } })
    const byToken = await loginOf({ ...developer!, token: made.body.token })
    expect(await granted(byToken.body.password, own)).toBe(`${place}/web:pull,push`)
    expect((await platform.call('POST /auth/logout', { token: made.body.token })).status).toBe(204)
    expect((await ask(byToken.body.password, own)).status).toBe(401)

    const helper = await platform.person('r-helper')
    const asHelper = { params: { ns: name, user: helper.id }, token: owner!.token }
    const share = await platform.call('PUT /namespaces/:ns/members/:user', { ...asHelper, body: { role: 'developer' } })
    expect(share.status).toBe(200)
    const ofHelper = (await loginOf(helper)).body.password
    expect(await granted(ofHelper, own)).toBe(`${place}/web:pull,push`)
    expect((await platform.call('DELETE /namespaces/:ns/members/:user', asHelper)).status).toBe(204)
    expect(await granted(ofHelper, own)).toBe('')
  })

  test('owners and developers get a login for a namespace', async () => {
    const all = [admin, owner, developer, viewer, stranger].map(async one => (await loginOf(one!)).status)
    expect(await Promise.all(all)).toEqual([403, 200, 200, 403, 404])
  })

  /** Returns a login as Pods have it after a user has left. */
  const podsLogin = async (ends: number) => {
    const { pullLogins } = (await platform.parts.namespaces.find(name))!.namespace
    return registryPassword(platform.world, { namespace: { name, uid }, ...(pullLogins && { pullLogins }), ends })
  }

  test('the login of Pods pulls images of their namespace or shared ones, by the UID', async () => {
    const ends = platform.world.now() + 60_000
    const ofPods = await podsLogin(ends)
    const scope = `repository:${place}/web:pull,push repository:shared/node:pull,push repository:${ofOwner}/web:pull`
    expect(await granted(ofPods, scope)).toBe(`${place}/web:pull shared/node:pull`)
    const ofEarlier = registryPassword(platform.world, { namespace: { name, uid: 'another' }, ends })
    expect(await granted(ofEarlier, scope)).toBe('shared/node:pull')
    const over = registryPassword(platform.world, { namespace: { name, uid }, ends: platform.world.now() - 1 })
    expect((await ask(over, scope)).status).toBe(401)
  })

  /** Returns the password that Pods of a namespace have. */
  const ofPodsIn = async (namespace: string) => {
    const secret = await platform.cluster.get({ apiVersion: 'v1', kind: 'Secret', name: 'devctl-registry', namespace })
    expect(secret?.['type']).toBe('kubernetes.io/dockerconfigjson')
    const { '.dockerconfigjson': data = '' } = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>
    const { auths } = JSON.parse(Buffer.from(data, 'base64').toString())
    return auths[`127.0.0.1:${port}`].password as string
  }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default' }

  test('Pods of a namespace get a login by their account, which the leader renews', async () => {
    const scope = `repository:${place}/web:pull,push repository:${ofStranger}/web:pull`
    const first = await ofPodsIn(name)
    expect(await granted(first, scope)).toBe(`${place}/web:pull`)
    const namesOf = async () =>
      (await platform.cluster.get({ ...account, namespace: name }))?.['imagePullSecrets'] as { name: string }[]
    expect(await namesOf()).toEqual([{ name: 'devctl-registry' }])
    const own = { imagePullSecrets: [{ name: 'own' }] }
    await platform.cluster.patch({ ...account, namespace: name }, own, { manager: 'ann' })

    const task = pullSecretsTask(platform.world, platform.parts.pullSecrets, platform.parts.users)
    const signal = AbortSignal.timeout(60_000)
    await task.run(signal)
    const second = await ofPodsIn(name)
    expect(second).not.toBe(first)
    expect(await namesOf()).toEqual([{ name: 'own' }, { name: 'devctl-registry' }])
    await task.run(signal)
    expect(await ofPodsIn(name)).toBe(second)
    platform.later += 2 * 3_600_000
    try {
      await task.run(signal)
      expect(await ofPodsIn(name)).not.toBe(second)
      platform.later += 3 * 3_600_000
      expect((await ask(second, scope)).status).toBe(401)
    } finally {
      platform.later = 0
    }
    expect(platform.log.filter(line => line.includes(`login of ${name} `))).toEqual([])
  })

  test('a login of Pods ends when a member leaves, and Pods get the next one', async () => {
    const scope = `repository:${place}/web:pull`
    const pulls = `${place}/web:pull`
    const leaver = await platform.person('r-leaver')
    const asLeaver = { params: { ns: name, user: leaver.id }, token: owner!.token }
    const share = () => platform.call('PUT /namespaces/:ns/members/:user', { ...asLeaver, body: { role: 'developer' } })
    expect((await share()).status).toBe(200)
    const task = pullSecretsTask(platform.world, platform.parts.pullSecrets, platform.parts.users)
    const signal = AbortSignal.timeout(60_000)
    await task.run(signal)
    const kept = await ofPodsIn(name)
    expect(await granted(kept, scope)).toBe(pulls)
    expect((await platform.call('DELETE /namespaces/:ns/members/:user', asLeaver)).status).toBe(204)
    expect(await granted(kept, scope)).toBe('')
    const next = await ofPodsIn(name)
    expect(await granted(next, scope)).toBe(pulls)
    // The leader reverts nothing, and writes what a replica that has ended could not write.
    await task.run(signal)
    expect(await granted(await ofPodsIn(name), scope)).toBe(pulls)
    const metadata = { annotations: { 'dev.platform/pull-logins': 'another' } }
    const own = { apiVersion: 'v1', kind: 'Namespace', name }
    await platform.cluster.patch(own, { metadata }, { manager: 'devctl' })
    expect(await granted(await ofPodsIn(name), scope)).toBe('')
    await task.run(signal)
    expect(await granted(await ofPodsIn(name), scope)).toBe(pulls)
  })

  test.each(few([{ isSuspended: true }, { isRefused: true }]))(
    'a login of Pods ends when a member is %j, and Pods get the next one',
    async barred => {
      const scope = `repository:${place}/web:pull`
      const pulls = `${place}/web:pull`
      const kim = await platform.person(`r-${Object.keys(barred)[0]!.toLowerCase()}`)
      const asKim = { params: { ns: name, user: kim.id }, token: owner!.token }
      const member = { ...asKim, body: { role: 'developer' } }
      expect((await platform.call('PUT /namespaces/:ns/members/:user', member)).status).toBe(200)
      const task = pullSecretsTask(platform.world, platform.parts.pullSecrets, platform.parts.users)
      const signal = AbortSignal.timeout(60_000)
      await task.run(signal)
      const kept = await ofPodsIn(name)
      expect(await granted(kept, scope)).toBe(pulls)
      await platform.parts.users.change(kim.id, barred)
      expect(await granted(kept, scope)).toBe('')
      await task.run(signal)
      const next = await ofPodsIn(name)
      expect(await granted(next, scope)).toBe(pulls)
      await task.run(signal)
      expect(await ofPodsIn(name), 'it is renewed once').toBe(next)
      expect(await granted(kept, scope)).toBe('')
      expect((await platform.call('DELETE /namespaces/:ns/members/:user', asKim)).status).toBe(204)
    },
  )

  test('the server may read the log of the disk usage, and no other log beside it', async () => {
    const { namespace, options } = {
      namespace: 'devctl-platform',
      options: { container: 'disk', longest: 1000, signal: AbortSignal.timeout(60_000) },
    }
    const failures = ['registry-0', 'platform-0'].map(pod =>
      lastLine(platform.own, { name: pod, namespace }, options).catch(({ failure }) => failure),
    )
    expect(await Promise.all(failures)).toEqual(['not-found', 'forbidden'])
  })

  test('wrong credentials get no token for the registry', async () => {
    const ends = platform.world.now() + 60_000
    const good = registryPassword(platform.world, { namespace: { name, uid }, ends })
    const session = await platform.parts.tokens.issue({ kind: 'session', label: '', user: owner!.id })
    const ci = await platform.parts.tokens.issue({ kind: 'ci', label: '', user: owner!.id, prefix: 'x-' })
    const bad: readonly (readonly [object, number])[] = [
      [{}, 401],
      [basic(''), 401],
      [basic(altered(good)), 401],
      [basic(good.replace('devctl_registry_', '')), 401],
      [basic(session.text), 401],
      [basic(ci.text), 403],
      [{ authorization: 'Basic !!!' }, 401],
      [{ authorization: `Basic ${Buffer.from(owner!.token).toString('base64')}` }, 401],
      [{ authorization: `Digest ${owner!.token}` }, 401],
      [{ cookie: `__Host-devctl=${session.text}`, 'sec-fetch-site': 'same-origin' }, 401],
    ]
    for (const [headers, status] of bad) {
      const answer = await platform.call('GET /registry/token', { headers: headers as Record<string, string> })
      expect([answer.status, answer.body.token], JSON.stringify(headers)).toEqual([status, undefined])
    }
    const elsewhere = { service: 'other.example.com' }
    const query = { token: owner!.token, query: elsewhere }
    expect((await platform.call('GET /registry/token', query)).status).toBe(400)
    expect((await ask(owner!.token, 'everything')).status).toBe(400)
    expect(JSON.stringify(platform.audit)).not.toMatch(/devctl_registry_/)
  })

  test('the token of a run is for its namespace, and for no pushes of shared images', async () => {
    const run = await platform.parts.tokens.issue({
      kind: 'run',
      label: 'r',
      user: admin!.id,
      namespaces: [admin!.home],
    })
    const of = (place: string) => granted(run.text, `repository:${place}/web:pull,push`)
    const ofAdmin = await placeOf(admin!.home)
    expect(await of(ofAdmin)).toBe(`${ofAdmin}/web:pull,push`)
    expect(await of('shared')).toBe('shared/web:pull')
    const developers = await platform.parts.tokens.issue({
      kind: 'run',
      label: 'r',
      user: owner!.id,
      namespaces: [name],
    })
    expect(await granted(developers.text, `repository:${ofOwner}/web:pull`)).toBe('')
    const login = { token: developers.text, params: { ns: owner!.home } }
    expect((await platform.call('POST /namespaces/:ns/registry-login', login)).status).toBe(404)
  })

  const program = findRegistry()
  describe.skipIf(program === undefined)('a registry that verifies the tokens', () => {
    let registry: TestRegistry

    beforeAll(async () => {
      await platform.app.listen({ port: 0, host: '127.0.0.1' })
      const { port: own } = platform.app.server.address() as AddressInfo
      registry = await startRegistry(program!, {
        port,
        realm: `http://127.0.0.1:${own}/api/v1/registry/token`,
        service: `127.0.0.1:${port}`,
        issuer: 'http://127.0.0.1',
        certificate: platform.world.registryKey!.certificate.toString(),
      })
    })
    afterAll(() => registry?.close())

    const blob = (text: string) => {
      const bytes = Buffer.from(text)
      return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` }
    }
    const store = (password: string | undefined, image: string, mayPush: boolean) =>
      openArtifacts(
        { name: `127.0.0.1:${port}/${image}`, tag: '1' },
        {
          env: { DOCKER_CONFIG: '/nonexistent' },
          signal: AbortSignal.timeout(60_000),
          mayPush,
          credentials: new Map(
            password === undefined
              ? []
              : [[`127.0.0.1:${port}`, { kind: 'login', username: 'anybody', password } as const]],
          ),
        },
      )
    const layers = () => [blob('{}'), blob('a layer')]
    const manifestOf = () => {
      const [config, layer] = layers()
      return JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          size: config!.bytes.length,
          digest: config!.digest,
        },
        layers: [
          { mediaType: 'application/vnd.oci.image.layer.v1.tar', size: layer!.bytes.length, digest: layer!.digest },
        ],
      })
    }
    const push = async (password: string | undefined, image: string) => {
      const opened = store(password, image, true)
      try {
        return await opened.push({ manifest: blob(manifestOf()), blobs: layers() }, undefined, [])
      } catch (error) {
        return (error as Error).message
      } finally {
        opened.close()
      }
    }
    const pull = async (password: string | undefined, image: string) => {
      const opened = store(password, image, false)
      try {
        return (await opened.find())?.digest ?? 'nothing'
      } catch (error) {
        return (error as Error).message
      } finally {
        opened.close()
      }
    }

    test('members push, and those who may see the namespace pull; others are refused', async () => {
      const image = `${place}/web`
      const { password } = (await loginOf(developer!)).body
      const ofPods = await podsLogin(platform.world.now() + 60_000)
      for (const refused of [viewer!.token, stranger!.token, admin!.token, ofPods, undefined])
        expect(await push(refused, image)).toMatch(REFUSED)
      expect(await push(password, image), registry.log()).toBe(true)
      for (const who of [owner!.token, viewer!.token, password, ofPods])
        expect(await pull(who, image)).toMatch(/^sha256:/)
      for (const refused of [
        stranger!.token,
        admin!.token,
        undefined,
        (await loginOf(stranger!, stranger!.home)).body.password,
      ])
        expect(await pull(refused, image)).toMatch(REFUSED)
    })

    test('the command line pushes with a login that only the registry of the namespace gets', async () => {
      const { body } = await platform.call('GET /namespaces/:ns/variables/effective', {
        token: owner!.token,
        params: { ns: name },
      })
      expect(body.images).toEqual({ name: `127.0.0.1:${port}/${place}`, hasLogin: true })
      const { port: own } = platform.app.server.address() as AddressInfo
      const heard: string[] = []
      const images = namespaceImages(
        body.images!,
        {
          context: `http://127.0.0.1:${own}`,
          namespace: name,
          stored: { name: 'x', token: new Secret(owner!.token) },
        },
        {},
        AbortSignal.timeout(60_000),
        text => heard.push(text),
      )
      expect(await images.login('docker.io')).toBeUndefined()
      const [first, second] = await Promise.all([1, 2].map(() => images.login(`127.0.0.1:${port}`)))
      expect(first).toEqual(second)
      // The output of steps masks the login; the token of the user is sent nowhere.
      expect(heard).toEqual([expect.stringMatching(/^devctl_registry_/)])
      expect(JSON.stringify(first)).not.toContain(owner!.token)
      const opened = openArtifacts(
        { name: `${images.name}/api`, tag: '1' },
        {
          env: { DOCKER_CONFIG: '/nonexistent' },
          signal: AbortSignal.timeout(60_000),
          mayPush: true,
          loginTo: registry => images.login(registry),
        },
      )
      expect(await opened.push({ manifest: blob(manifestOf()), blobs: layers() }, undefined, [])).toBe(true)
      opened.close()
      const without = namespaceImages(
        { name: images.name, hasLogin: false },
        { context: 'https://nowhere.example.com', namespace: name, stored: { name: 'x' } },
        {},
        AbortSignal.timeout(1000),
        () => {},
      )
      expect(await without.login(`127.0.0.1:${port}`)).toBeUndefined()
    })

    test('a namespace gets no images of an earlier namespace of the same name', async () => {
      const again = `again-${RUN}`
      const create = async (person: Person) =>
        expect((await platform.call('POST /namespaces', { token: person.token, body: { name: again } })).status).toBe(
          200,
        )
      await create(stranger!)
      const before = await placeOf(again)
      const earlier = (await loginOf(stranger!, again)).body.password
      const ofPodsBefore = await ofPodsIn(again)
      expect(await push(stranger!.token, `${before}/web`), registry.log()).toBe(true)
      expect(await pull(ofPodsBefore, `${before}/web`)).toMatch(/^sha256:/)
      await platform.call('DELETE /namespaces/:ns', { token: stranger!.token, params: { ns: again } })
      await eventually('the namespace is gone', async () =>
        (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: again })) ? undefined : true,
      )
      await create(owner!)
      const now = await placeOf(again)
      expect(now).not.toBe(before)
      const { password } = (await loginOf(owner!, again)).body
      const ofPods = await ofPodsIn(again)
      // Images that the earlier namespace has left are inaccessible to all users, and its logins are of no more use.
      for (const who of [owner!.token, password, ofPods, stranger!.token, earlier, ofPodsBefore]) {
        expect(await pull(who, `${before}/web`)).toMatch(REFUSED)
        expect(await push(who, `${before}/web`)).toMatch(REFUSED)
      }
      for (const who of [stranger!.token, earlier, ofPodsBefore]) {
        expect(await pull(who, `${now}/web`)).toMatch(REFUSED)
        expect(await push(who, `${now}/web`)).toMatch(REFUSED)
      }
      // The image that a deploy asks for does not exist yet.
      expect(await pull(ofPods, `${now}/web`)).toBe('nothing')
      expect(await push(password, `${now}/web`)).toBe(true)
      expect(await pull(ofPods, `${now}/web`)).toMatch(/^sha256:/)
    })

    test('a layer of another namespace cannot be mounted by its digest', async () => {
      const { digest } = blob('a layer')
      const { body } = await ask(stranger!.token, `repository:${ofStranger}/web:pull,push repository:${place}/web:pull`)
      const headers = { authorization: `Bearer ${body.token}` }
      const from = `http://127.0.0.1:${port}/v2/${ofStranger}/web/blobs`
      const mounted = await fetch(`${from}/uploads/?mount=${digest}&from=${encodeURIComponent(`${place}/web`)}`, {
        method: 'POST',
        headers,
      })
      expect(mounted.status).not.toBe(201)
      expect((await fetch(`${from}/${digest}`, { headers })).status).toBe(404)
    })
  })
})
