import { expect, test } from 'vitest'
import { fromHook, type HookSetup } from '../../../../../platform/records/hook.ts'
import { createServices } from '../../../../../platform/server/create-services.ts'
import type { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'
import { memoryPlatform } from '../../../../support/platform/memory-platform.ts'

const CI = {
  kind: 'github',
  issuer: 'https://token.actions.githubusercontent.com',
  rules: [{ repository: '3', prefix: 'kept-' }],
} as const
const hook: HookSetup = {
  id: 'h'.repeat(16),
  forge: 'gitea',
  repository: 'https://git.example.com/acme/web',
  repositoryId: '9',
  owner: 'a'.repeat(16),
  scope: 'personal',
  forks: 'approve',
  prefix: 'web-',
  created: '2026-01-01T00:00:00Z',
}

const byId = expect.stringMatching(/^dev-[a-z2-7]{8}$/)

test.each<readonly [string, readonly string[], unknown]>([
  ['kept-x', [], byId],
  ['kept', ['kept'], expect.stringMatching(/^dev-[a-z2-7]{8}-2$/)],
  ['web-pr-7', [], byId],
  ['web-pr', [], 'web-pr'],
  ['web-pr', ['web-pr'], expect.stringMatching(/^dev-[a-z2-7]{8}-2$/)],
  ['web-pr-x', [], 'web-pr-x'],
  ['docs-pr-7', [], 'docs-pr-7'],
])(
  'the personal namespace of %s, with %j taken, has no name that is reserved for jobs or webhooks',
  async (login, taken, name) => {
    const { cluster, parts, person } = memoryPlatform({ ci: [CI] })
    await cluster.create(fromHook(hook, { secret: 'x', token: 'x' }))
    for (const one of taken) await parts.namespaces.create(await person('owner'), one, 'namespace')
    expect((await parts.personal.ensure(await person(login))).home).toEqual(name)
  },
)

/** Deletes a namespace, as the API server does once it is empty. */
async function remove(cluster: MemoryCluster, name: string): Promise<void> {
  const ref = { apiVersion: 'v1', kind: 'Namespace', name }
  await cluster.delete(ref)
  cluster.act(ref, one => ({ ...one, spec: { finalizers: [] } }))
  expect(await cluster.get(ref)).toBeUndefined()
}

const slowly = () => new Promise<void>(done => setTimeout(done, 5))

test.each(['one replica', 'two replicas'])(
  'first logins at the same moment at %s create one personal namespace',
  async where => {
    const { cluster, parts, world, person } = memoryPlatform()
    const other = where === 'one replica' ? parts : createServices(world)
    cluster.before = slowly
    const users = await Promise.all([person('ann'), person('ann')])
    const found = await Promise.all([parts.personal.ensure(users[0]), other.personal.ensure(users[1])])
    expect(found.map(({ home }) => home)).toEqual(['ann', 'ann'])
    const all = await cluster.list({ apiVersion: 'v1', kind: 'Namespace' })
    expect(all.map(({ metadata }) => metadata.name).filter(name => name.startsWith('ann'))).toEqual(['ann'])
  },
)

test('a login while the personal namespace is emptied keeps its name', async () => {
  const { cluster, parts, person } = memoryPlatform()
  await parts.namespaces.create(await person('other'), 'ann', 'namespace')
  expect((await parts.personal.ensure(await person('ann'))).home).toBe('ann-2')
  for (const name of ['ann', 'ann-2']) await remove(cluster, name)
  expect((await parts.personal.ensure(await person('ann'))).home).toBe('ann-2')
  expect((await parts.namespaces.find('ann-2'))?.namespace.kind).toBe('personal')
})

test('a user whose personal namespace belongs to another user now gets another one', async () => {
  const { cluster, parts, person } = memoryPlatform()
  const ann = await parts.personal.ensure(await person('ann'))
  await remove(cluster, 'ann')
  await parts.users.change(ann.id, { home: 'elsewhere' })
  await parts.namespaces.create(await person('bob'), 'ann', 'namespace')
  await parts.users.change(ann.id, { home: 'ann' })
  expect((await parts.personal.ensure(await person('ann'))).home).toBe('ann-2')
})

test('a personal namespace with a name that has been reserved since comes back with another name', async () => {
  const { cluster, parts, person } = memoryPlatform()
  expect((await parts.personal.ensure(await person('web-pr-7'))).home).toBe('web-pr-7')
  await cluster.create(fromHook(hook, { secret: 'x', token: 'x' }))
  expect((await parts.personal.ensure(await person('web-pr-7'))).home).toBe('web-pr-7')
  await remove(cluster, 'web-pr-7')
  expect((await parts.personal.ensure(await person('web-pr-7'))).home).toEqual(byId)
})
