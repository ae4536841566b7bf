import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { OWNER, STATUS } from '../../../platform/records/namespace.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

// Tests attacks of a user on others by the namespaces that the user creates.

describe.skipIf(!process.env.KUBECONFIG)('namespaces that users create', () => {
  let platform: TestPlatform
  let [ann, thief]: Person[] = []
  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, thief] = await platform.people('ann', 'thief')
  })
  afterAll(() => platform?.close())

  const refOf = (name: string): ObjectRef => ({ apiVersion: 'v1', kind: 'Namespace', name })
  const create = (person: Person | undefined, name: string) =>
    platform.call('POST /namespaces', { token: person!.token, body: { name } })
  const homeOf = async (person: Person) => (await platform.call('GET /me', { token: person.token })).body.home
  const remove = async (name: string) => {
    await platform.cluster.delete(refOf(name))
    await eventually(`${name} is gone`, async () => ((await platform.cluster.get(refOf(name))) ? undefined : true))
  }

  test('the name of a home namespace stays reserved for its user while it is emptied', async () => {
    const { home } = ann!
    await remove(home)
    for (const person of [thief, ann])
      expect((await create(person, home)).error).toMatchObject({
        code: 'platform/exists',
        message: `namespace \`${home}\` is taken`,
      })
    const preview = { name: home, repository: 'https://git.example.com/team/shop' }
    expect((await platform.call('POST /previews', { token: thief!.token, body: preview })).error.code).toBe(
      'platform/exists',
    )
    expect(await platform.cluster.get(refOf(home))).toBeUndefined()
    expect(await homeOf(ann!)).toBe(home)
    // The next login creates it again.
    expect((await platform.person('ann')).home).toBe(home)
  })

  test('a home namespace that belongs to another user, or is no home, is not used', async () => {
    const bea = await platform.person('bea')
    // An older version or a transfer may have left such a namespace.
    await platform.cluster.patch(
      refOf(bea.home),
      { metadata: { annotations: { [OWNER]: thief!.id } } },
      { manager: 'test' },
    )
    expect(await homeOf(bea)).toBeUndefined()
    const { home } = await platform.person('bea')
    expect(home).toBe(`${bea.home}-2`)
    expect(await homeOf(bea)).toBe(home)

    const cara = await platform.person('cara')
    const label = { 'dev.platform/record': 'namespace' }
    await platform.cluster.patch(refOf(cara.home), { metadata: { labels: label } }, { manager: 'test' })
    expect(await homeOf(cara)).toBeUndefined()
  })

  test('concurrent requests to several replicas create no more namespaces than the limit', async () => {
    const greedy = await platform.person('greedy')
    const other = createServices(platform.world)
    const user = (await other.users.find(greedy.id))!
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => [
        create(greedy, `g${at}-${RUN}`).then(({ status }) => status),
        other.namespaces.create(user, `h${at}-${RUN}`, 'namespace').then(
          () => 200,
          error => error.status,
        ),
      ]).flat(),
    )
    expect(new Set(answers)).toEqual(new Set([200, 409]))
    expect(answers.filter(one => one === 200).length).toBeLessThanOrEqual(3)
    const own = (await platform.parts.namespaces.visible(user)).filter(({ namespace }) => namespace.kind !== 'personal')
    expect(own.filter(({ namespace }) => namespace.status === 'Active').length).toBeLessThanOrEqual(3)
  })

  test('a namespace that is being deleted counts until it is deleted', async () => {
    const dora = await platform.person('dora')
    const names = [1, 2, 3].map(one => `dora-${one}-${RUN}`)
    for (const name of names) expect((await create(dora, name)).status).toBe(200)
    await platform.cluster.patch(
      refOf(names[0]!),
      { metadata: { labels: { [STATUS]: 'Deleting' } } },
      { manager: 'test' },
    )
    expect((await create(dora, `dora-4-${RUN}`)).error).toMatchObject({
      code: 'platform/quota',
      notes: [expect.stringContaining(`\`${names[0]}\` (until it is deleted)`)],
    })
    if (!TAKES_ALL) return
    await remove(names[0]!)
    expect((await create(dora, `dora-4-${RUN}`)).status).toBe(200)
  })

  test('changes of a namespace do not affect a new one of the same name', async () => {
    const { parts } = platform
    const [eve, fay] = [await platform.person('eve'), await platform.person('fay')]
    const name = `again-${RUN}`
    expect((await create(eve, name)).status).toBe(200)
    const before = (await parts.namespaces.find(name))!
    const [thieves, preview] = [
      (await parts.users.find(thief!.id))!,
      { repository: 'https://git.example.com/a/b', labels: [] },
    ]
    await parts.members.share(before, thieves, 'viewer')
    const shared = (await parts.namespaces.find(name))!
    await remove(name)
    expect((await create(fay, name)).status).toBe(200)
    await parts.members.share((await parts.namespaces.find(name))!, thieves, 'viewer')
    const state = async () => {
      const { metadata } = (await platform.cluster.get(refOf(name)))!
      const bindings = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', namespace: name }
      const names = (await platform.cluster.list(bindings)).map(one => one.metadata.name).sort()
      return { labels: metadata.labels, annotations: metadata.annotations, names }
    }
    const now = await state()
    expect(now.annotations?.[OWNER]).toBe(fay.id)
    const { namespaces, members } = parts
    const changes: Readonly<Record<string, () => Promise<void>>> = {
      share: () => members.share(shared, thieves, 'developer'),
      transfer: () => members.transfer(shared, thieves),
      persistent: () => namespaces.setPersistent(shared, true),
      renew: () => namespaces.renew(shared, preview),
      deletion: () => parts.deletions.begin(shared, { by: eve.id }),
      unshare: () => members.unshare(shared, thief!.id),
      sleep: async () => void (await parts.sleep.sleep(shared.namespace)),
    }
    for (const [what, change] of Object.entries(changes)) {
      await change().catch(error => expect(error, what).toMatchObject({ status: 404 }))
      expect(await state(), what).toEqual(now)
    }
    await parts.sleep.sleep((await namespaces.find(name))!.namespace)
    const asleep = await state()
    expect(asleep).not.toEqual(now)
    await expect(parts.sleep.wake(shared.namespace)).rejects.toMatchObject({ status: 404 })
    expect(await state()).toEqual(asleep)
  })
})
