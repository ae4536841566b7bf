import { expect, test, vi } from 'vitest'
import type { Cluster, KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { bindingName, fromMember, type Member, toMember } from '../../../../../platform/records/member.ts'
import { fromNamespace, toNamespace } from '../../../../../platform/records/namespace.ts'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { NamespaceDeletions } from '../../../../../platform/server/namespaces/deletions.ts'
import { Members } from '../../../../../platform/server/namespaces/members.ts'
import type { SharedNamespace } from '../../../../../platform/server/namespaces/shared-namespace.ts'
import type { PullSecrets } from '../../../../../platform/server/registry/pull-secrets.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const [ANN, BOB] = ['a'.repeat(16), 'b'.repeat(16)] as const
const ID = '01HF7YAT3VAAAAAAAAAAAAAAAA'
const TIME = '2026-01-01T00:00:00Z'
const ABOUT = { name: 'ann', kind: 'personal', owner: ANN, created: TIME, lastActive: TIME, longerNames: [] } as const
const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', namespace: 'ann' }

/** A member is removed at the same time as the leader works: after it has read or written one of these. */
type Moment = 'lists the members' | 'writes the record' | 'restores the member'

async function removedAt(moment: Moment): Promise<readonly Member[]> {
  const memory = new MemoryCluster({ namespaces: ['devctl-users'] })
  let isRemoved = false
  const at = async (name: Moment) => {
    if (name !== moment || isRemoved) return
    isRemoved = true
    await members.unshare((await namespaces.find())!, BOB)
  }
  const cluster = new Proxy(memory, {
    get(target, key) {
      if (key === 'apply')
        return async (object: KubeObject, options: Parameters<Cluster['apply']>[1]) => {
          const written = await target.apply(object, options)
          await at(object.kind === 'Secret' ? 'writes the record' : 'restores the member')
          return written
        }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const world = {
    ...{ cluster, clusterAs: () => cluster, settings: {}, now: () => 0 },
    log: ({ text }: { readonly text: string }) => {
      throw new Error(text)
    },
  } as unknown as ServerContext
  const members = new Members(world, { isUsed: false } as PullSecrets)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'ann' }
  const bound = async () => (await memory.list(RBAC)).flatMap(one => toMember(one) ?? [])
  const namespaces = {
    async find() {
      const live = await memory.get(namespace)
      return live && { namespace: toNamespace(live)!, members: await bound() }
    },
    remove: async () => {
      for (const one of await bound()) await memory.delete({ ...RBAC, name: bindingName(one) })
      await memory.delete(namespace)
    },
    async create() {
      await memory.create(fromNamespace({ ...ABOUT, status: 'Active' }))
      return (await namespaces.find())!
    },
  }
  const seenByLeader = {
    ...namespaces,
    async find(_: string) {
      const found = await namespaces.find()
      if (found) await at('lists the members')
      return found
    },
  }
  const users = { find: async (id: string) => ({ id, home: id === ANN ? 'ann' : 'bob' }) as PlatformUser }
  const parts = { namespaces: seenByLeader, members, users } as unknown as ConstructorParameters<
    typeof NamespaceDeletions
  >[1]
  await memory.create(fromNamespace({ ...ABOUT, status: 'Deleting', deletion: { id: ID } }))
  await memory.create(fromMember({ namespace: 'ann', user: BOB, role: 'developer' }))
  const deletions = new NamespaceDeletions(world, parts)
  await vi.waitFor(async () => {
    await deletions.run(AbortSignal.timeout(10_000))
    expect((await memory.get(namespace))?.metadata.labels?.['dev.platform/status']).toBe('Active')
    expect(await memory.list({ apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-users' })).toEqual([])
  }, 10_000)
  expect(isRemoved).toBe(true)
  return bound()
}

test.each<Moment>(['lists the members', 'writes the record', 'restores the member'])(
  'a member who is removed while the leader %s is not a member of the new namespace',
  async moment => expect(await removedAt(moment)).toEqual([]),
)

test.each<[string, (members: Members, global: SharedNamespace, to: PlatformUser) => Promise<void>]>([
  ['shared with a developer', (members, global, to) => members.share(global, to, 'developer')],
  ['shared with a viewer', (members, global, to) => members.share(global, to, 'viewer')],
  ['transferred', (members, global, to) => members.transfer(global, to)],
])('a global preview is not %s, because only administrators change it', async (_, change) => {
  const cluster = new MemoryCluster({ namespaces: ['shop-main'] })
  const members = new Members({ cluster } as unknown as ServerContext, { isUsed: false } as PullSecrets)
  const namespace = { ...ABOUT, name: 'shop-main', kind: 'preview', isGlobal: true, status: 'Active' } as const
  const changed = change(members, { namespace, members: [] }, { id: BOB, login: 'bob' } as PlatformUser)
  await expect(changed).rejects.toThrow('`shop-main` is a global preview: everybody may see it')
  expect(await cluster.list({ ...RBAC, namespace: 'shop-main' })).toEqual([])
})
