import { expect, test, vi } from 'vitest'
import { toResting } from '../../../../../platform/records/asleep.ts'
import { deploymentRef, ingress, ingressRef, openShop } from '../../../../support/platform/sleeping-shop.ts'

const SHOP = { name: 'shop' }
const RESTING = 'devctl-asleep'

test.each([
  ['the same replica', 1],
  ['another replica', 2],
])('a namespace that sleeps and wakes again by %s while a route waits gets all routes back', async (_, replicas) => {
  const { becomes, ready, asleep, log, replica } = await openShop()
  const first = replica()
  const second = replicas === 1 ? first : replica()
  await first.sleep(SHOP)
  await first.wake(SHOP)
  await ready('web')
  await becomes({ status: 'Waking', web: 'traefik', api: RESTING })
  await ready('web', false)
  await second.sleep(SHOP)
  await becomes({ status: 'Sleeping', web: RESTING, api: RESTING })
  await second.wake(SHOP)
  await ready('api')
  await becomes({ status: 'Waking', web: RESTING, api: 'traefik' })
  await ready('web')
  await becomes({ status: 'Active', web: 'traefik', api: 'traefik' })
  await Promise.all([first.settled(), second.settled()])
  expect(await asleep()).toBeUndefined()
  expect(log).toEqual([])
})

test.each([
  ['the same replica', 1],
  ['another replica', 2],
])('a namespace that %s puts to sleep again while its routes wait keeps them asleep', async (_, replicas) => {
  const { becomes, ready, settle, log, replica } = await openShop()
  const first = replica()
  const second = replicas === 1 ? first : replica()
  await first.sleep(SHOP)
  await first.wake(SHOP)
  await second.sleep(SHOP)
  await becomes({ status: 'Sleeping', web: RESTING, api: RESTING })
  for (const name of ['web', 'api']) await ready(name)
  await settle()
  await becomes({ status: 'Sleeping', web: RESTING, api: RESTING })
  await first.settled()
  expect(log).toEqual([])
})

test('the time limit of a wake opens no routes of a namespace that sleeps again', async () => {
  const { becomes, later, settle, replica, cluster } = await openShop()
  const sleep = replica()
  await sleep.sleep(SHOP)
  // Time passes while the wake starts the workloads, so the limit is over shortly after.
  cluster.before = ({ kind, verb }) => {
    if (kind !== 'Deployment' || verb !== 'list') return
    later(119_900)
    cluster.before = () => {}
  }
  await sleep.wake(SHOP)
  await sleep.sleep(SHOP)
  await settle(300)
  await becomes({ status: 'Sleeping', web: RESTING, api: RESTING })
})

test('an object that cannot be put to sleep keeps no other object awake, and the next sleep completes this one', async () => {
  const { refuse, state, fallingAsleep, replica } = await openShop({ routes: ['web'], deployments: ['app', 'db'] })
  const allow = refuse('Ingress', 'web')
  await expect(replica().sleep(SHOP)).rejects.toThrow('Ingress web is refused')
  expect(await state()).toEqual({ status: 'Sleeping', web: 'traefik', app: 0, db: 0 })
  expect(await fallingAsleep()).toBeDefined()
  allow()
  await replica().sleep(SHOP)
  expect(await state()).toEqual({ status: 'Sleeping', web: RESTING, app: 0, db: 0 })
  expect(await fallingAsleep()).toBeUndefined()
})

test('a route whose class cannot be restored keeps no other ignored class', async () => {
  const routes = ['api', 'web']
  const end = Date.now() + 60_000
  const leadsHere = async () => {
    // The time limit of the check is over, and all routes are asleep.
    vi.spyOn(Date, 'now').mockReturnValue(end)
    refuse('Ingress', 'api')
    return false
  }
  const { refuse, state, log, replica } = await openShop({ routes, leadsHere })
  const sleep = replica()
  await sleep.sleep(SHOP)
  const messages = await sleep.looked('shop')
  vi.restoreAllMocks()
  expect(await state()).toEqual({ status: 'Sleeping', api: RESTING, web: 'traefik' })
  expect(messages).toHaveLength(2)
  expect(log[0]).toBe('class of Ingress api in shop: Error: Ingress api is refused')
})

test('a wake ends a sleep that is not complete', async () => {
  const { refuse, ready, becomes, fallingAsleep, replica } = await openShop({ routes: ['web'], deployments: ['app'] })
  const allow = refuse('Ingress', 'web')
  await replica()
    .sleep(SHOP)
    .catch(() => {})
  allow()
  await ready('web')
  await replica().wake(SHOP)
  expect(await fallingAsleep()).toBeUndefined()
  await becomes({ status: 'Active', web: 'traefik', app: 2 })
})

test('a sleep that is no longer wanted when the namespace is changed changes nothing', async () => {
  const { state, replica } = await openShop({ routes: ['web'], deployments: ['app'] })
  for (const wanted of [[false], [true, false]]) {
    const answers = [...wanted]
    expect(await replica().sleepIf(SHOP, () => answers.shift()!)).toBeUndefined()
    expect(await state()).toEqual({ status: 'Active', web: 'traefik', app: 2 })
  }
})

test.each([
  ['Ingress', 'api', { api: RESTING, app: 2 }],
  ['Deployment', 'app', { api: 'traefik', app: 0 }],
])(
  'an object of kind %s that cannot be woken keeps nothing else asleep, and is tried again',
  async (kind, name, left) => {
    const shop = await openShop({ routes: ['api', 'web', 'zoo'], deployments: ['app', 'db'] })
    const { refuse, ready, becomes, asleep, log, replica } = shop
    const sleep = replica()
    await sleep.sleep(SHOP)
    for (const route of ['api', 'web', 'zoo']) await ready(route)
    const allow = refuse(kind, name)
    await sleep.wake(SHOP)
    const awake = { status: 'Active', api: 'traefik', web: 'traefik', zoo: 'traefik', app: 2, db: 2 }
    await becomes({ ...awake, ...left })
    await sleep.settled()
    expect(toResting(await asleep())).toMatchObject([{ kind, name }])
    expect(log).toEqual([`waking shop: ${kind} ${name}: Error: ${kind} ${name} is refused`])
    allow()
    await replica().goOn(SHOP, AbortSignal.timeout(15_000))
    await becomes(awake)
    expect(await asleep()).toBeUndefined()
  },
)

test('a route that a user creates again while its namespace sleeps is woken, too', async () => {
  const { cluster, ready, becomes, asleep, log, replica } = await openShop({ routes: ['web'] })
  const sleep = replica()
  await sleep.sleep(SHOP)
  await cluster.delete(ingressRef('web'))
  await cluster.create(ingress('web'))
  await sleep.sleep(SHOP)
  expect(toResting(await asleep())).toMatchObject([{ kind: 'Ingress', name: 'web', class: 'traefik' }])
  await ready('web')
  await sleep.wake(SHOP)
  await becomes({ status: 'Active', web: 'traefik' })
  await sleep.settled()
  expect(log).toEqual([])
})

test('a wake does not change the class that a user gives to a route while its namespace sleeps', async () => {
  const { cluster, ready, becomes, replica } = await openShop()
  const sleep = replica()
  await sleep.sleep(SHOP)
  await cluster.patch(ingressRef('web'), { spec: { ingressClassName: 'nginx' } }, { manager: 'kubectl' })
  for (const name of ['web', 'api']) await ready(name)
  await sleep.wake(SHOP)
  await becomes({ status: 'Active', web: 'nginx', api: 'traefik' })
})

test.each([
  ['Ingress', 'web', ingressRef('web')],
  ['Deployment', 'app', deploymentRef('app')],
])('an object of kind %s that is replaced at the moment of its wake stays as it is', async (kind, name, ref) => {
  const { cluster, ready, becomes, asleep, log, replica } = await openShop({ routes: ['web'], deployments: ['app'] })
  const sleep = replica()
  await sleep.sleep(SHOP)
  await ready('web')
  cluster.before = async call => {
    if (call.verb !== 'patch' || call.kind !== kind || call.name !== name) return
    cluster.before = () => {}
    const { metadata, ...live } = (await cluster.get(ref))!
    await cluster.delete(ref)
    await cluster.create({ ...live, metadata: { name, namespace: 'shop' } })
  }
  await sleep.wake(SHOP)
  await becomes({ status: 'Active', web: 'traefik', app: 2, ...(kind === 'Ingress' ? { web: RESTING } : { app: 0 }) })
  await sleep.settled()
  expect([await asleep(), log]).toEqual([undefined, []])
})
