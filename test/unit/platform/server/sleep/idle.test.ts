import { expect, test } from 'vitest'
import { fromNamespace, type ManagedNamespace } from '../../../../../platform/records/namespace.ts'
import { IDLENESS } from '../../../../../platform/rules/runs/idleness.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { NamespaceDeletions } from '../../../../../platform/server/namespaces/deletions.ts'
import { Namespaces } from '../../../../../platform/server/namespaces/namespaces.ts'
import { idleTask } from '../../../../../platform/server/sleep/idle.ts'
import type { Sleep } from '../../../../../platform/server/sleep/sleep.ts'
import { ingressRef, openShop } from '../../../../support/platform/sleeping-shop.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SHOP = { name: 'shop' }
const RESTING = 'devctl-asleep'

/** A namespace with one route and one Deployment, and a function that makes one pass of the idle task. */
async function openIdle(namespace: Partial<ManagedNamespace> = {}) {
  const shop = await openShop({ routes: ['web'], deployments: ['app'], namespace })
  const world = { ...shop.world, settings: { ...shop.world.settings, idleness: IDLENESS } } as ServerContext
  const context = { ...world, random: (size: number) => new Uint8Array(size) } as ServerContext
  const namespaces = new Namespaces(context, {} as never) // It uses no other services to delete.
  const deletions = new NamespaceDeletions(context, { namespaces } as never)
  const look = async (sleep: Pick<Sleep, 'sleepIf' | 'goOn'> = shop.replica()) =>
    idleTask(context, { sleep: sleep as Sleep, namespaces, deletions }).run(AbortSignal.timeout(15_000))
  const use = () => shop.annotate({ 'dev.platform/last-active': new Date(shop.later(0)).toISOString() })
  /** Calls a function once, before the first call to the cluster that matches. */
  const once = (verb: string, kind: string, act: () => Promise<unknown>) => {
    shop.cluster.before = async call => {
      if (call.verb !== verb || call.kind !== kind) return
      shop.cluster.before = () => {}
      await act()
    }
  }
  return { ...shop, look, use, once }
}

test.each([
  ['deleted', 'preview', 8 * DAY, 'Deleting'],
  ['put to sleep', 'namespace', 4 * HOUR, 'Sleeping'],
] as const)('a namespace is %s if nobody has used it for long', async (_, kind, idle, status) => {
  const { look, later, state, log } = await openIdle({ kind })
  later(idle)
  await look()
  expect((await state()).status).toBe(status)
  expect(log).toContainEqual(expect.stringContaining('nobody has used it since 2026-01-01T00:00:00Z'))
})

test.each([
  ['deleted', 'is read', 'preview', 8 * DAY, 'list', 'Deployment'],
  ['deleted', 'is changed', 'preview', 8 * DAY, 'patch', 'Namespace'],
  ['put to sleep', 'is read', 'namespace', 4 * HOUR, 'list', 'Deployment'],
  ['put to sleep', 'is changed', 'namespace', 4 * HOUR, 'patch', 'Namespace'],
] as const)('a namespace is not %s if a user uses it again when it %s', async (_, __, kind, idle, verb, of) => {
  const { look, later, state, use, once, log } = await openIdle({ kind })
  later(idle)
  once(verb, of, use)
  await look()
  expect(await state()).toEqual({ status: 'Active', web: 'traefik', app: 2 })
  expect(log.filter(text => text.includes('nobody has used it'))).toEqual([])
})

test('a sleep that was interrupted is completed by the next leader', async () => {
  const { look, later, state, refuse, fallingAsleep, replica } = await openIdle()
  const allow = refuse('Deployment', 'app')
  await expect(replica().sleep(SHOP)).rejects.toThrow()
  allow()
  await look()
  expect((await state()).app).toBe(2)
  later(MINUTE)
  await look()
  expect(await state()).toEqual({ status: 'Sleeping', web: RESTING, app: 0 })
  expect(await fallingAsleep()).toBeUndefined()
})

test('a namespace that is woken meanwhile is not put to sleep to complete an earlier sleep', async () => {
  const { look, later, becomes, refuse, once, ready, replica } = await openIdle()
  const allow = refuse('Deployment', 'app')
  await replica()
    .sleep(SHOP)
    .catch(() => {})
  allow()
  later(MINUTE)
  await ready('web')
  const sleep = replica()
  once('list', 'Lease', () => sleep.wake(SHOP))
  await look()
  await becomes({ status: 'Active', web: 'traefik', app: 2 })
})

test('what a user starts by hand in a sleeping namespace is not put to sleep', async () => {
  const { cluster, look, later, state, replica } = await openIdle()
  await replica().sleep(SHOP)
  await cluster.patch(
    { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', namespace: 'shop' },
    { spec: { replicas: 1 } },
    { manager: 'kubectl' },
  )
  later(MINUTE)
  await look()
  expect(await state()).toEqual({ status: 'Sleeping', web: RESTING, app: 1 })
})

test('a route that could not be opened is opened later, and does not keep its namespace awake', async () => {
  const { look, later, becomes, state, refuse, ready, replica } = await openIdle()
  const sleep = replica()
  await sleep.sleep(SHOP)
  await ready('web')
  const allow = refuse('Ingress', 'web')
  await sleep.wake(SHOP)
  await becomes({ status: 'Active', web: RESTING, app: 2 })
  await sleep.settled()
  await look()
  expect(await state()).toEqual({ status: 'Active', web: RESTING, app: 2 })
  allow()
  await look()
  expect(await state()).toEqual({ status: 'Active', web: 'traefik', app: 2 })
  refuse('Ingress', 'web')
  later(4 * HOUR)
  await look()
  expect(await state()).toEqual({ status: 'Sleeping', web: 'traefik', app: 0 })
})

test.each(['Waking', 'Sleeping'] as const)('a preview that has expired is deleted while it is %s', async status => {
  const fallingAsleep = '2026-01-01T00:00:00Z'
  const { look, later, state } = await openIdle({
    kind: 'preview',
    expires: '2026-01-01T01:00:00Z',
    status,
    ...(status === 'Sleeping' && { fallingAsleep }),
  })
  later(2 * HOUR)
  await look()
  expect((await state()).status).toBe('Deleting')
})

test('a namespace in use that cannot be changed does not affect the others', async () => {
  const { cluster, look, later, refuse, log } = await openIdle()
  const time = '2026-01-01T00:00:00Z'
  const record = {
    kind: 'namespace',
    status: 'Active',
    owner: 'a'.repeat(16),
    created: time,
    lastActive: time,
  } as const
  const other = fromNamespace({ ...record, name: 'zoo', longerNames: [] })
  await cluster.apply(other, { manager: 'test', force: true })
  later(4 * HOUR)
  refuse('Namespace', 'shop')
  await look({
    sleepIf: async ({ name }: ManagedNamespace) => {
      if (name === 'shop') throw new PlatformError(409, 'busy', 'it is in use')
      return []
    },
    goOn: async () => {},
  })
  expect(log.sort()).toEqual([
    'idleness of shop: Namespace shop is refused',
    'zoo goes to sleep: nobody has used it since 2026-01-01T00:00:00Z',
  ])
})

test('a route whose class a user changes by hand stays as it is after its wake', async () => {
  const { cluster, look, state, refuse, ready, becomes, replica, asleep } = await openIdle()
  const sleep = replica()
  await sleep.sleep(SHOP)
  await ready('web')
  const allow = refuse('Ingress', 'web')
  await sleep.wake(SHOP)
  await becomes({ status: 'Active', web: RESTING, app: 2 })
  await sleep.settled()
  allow()
  await cluster.patch(ingressRef('web'), { spec: { ingressClassName: 'nginx' } }, { manager: 'kubectl' })
  await look()
  expect(await state()).toEqual({ status: 'Active', web: 'nginx', app: 2 })
  expect(await asleep()).toBeUndefined()
})
