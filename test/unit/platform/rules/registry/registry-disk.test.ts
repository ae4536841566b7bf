import { expect, test } from 'vitest'
import type { ManagedNamespace } from '../../../../../platform/records/namespace.ts'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import { placeFor } from '../../../../../platform/rules/registry/registry-access.ts'
import {
  isFilling,
  leftBehind,
  readRegistryDisk,
  usedBy,
} from '../../../../../platform/rules/registry/registry-disk.ts'
import { fillingDisk } from '../../../../../platform/rules/runs/health.ts'
import { accessFor } from '../../../../../platform/server/registry/registry-tokens.ts'
import { RegistryUsage } from '../../../../../platform/server/registry/registry-usage.ts'

const NOW = 1_800_000_000_000
const GIB = 2 ** 30
const all = [
  { name: 'shop', uid: '11111111-a', owner: 'ann' },
  { name: 'shop-pr-1', uid: '22222222-b', owner: 'ann' },
  { name: 'blog', uid: '33333333-c', owner: 'bob' },
] as unknown as readonly (ManagedNamespace & { uid: string })[]
const [shop, preview, blog] = all.map(placeFor)

const line = (places: object, more: object = {}) =>
  JSON.stringify({ size: 50 * GIB, free: 20 * GIB, at: NOW / 1000 - 30, places, ...more })

test('readRegistryDisk ignores an invalid measurement', () => {
  for (const one of [
    '',
    'null',
    '[]',
    '{}',
    'df: /data: No such file',
    line({}, { size: 0 }),
    line({}, { free: 51 * GIB }),
  ])
    expect(readRegistryDisk(one), one).toBeUndefined()
  for (const one of [line({ [shop!]: '7' }), line({ [shop!]: -1 }), line([], { places: null }), line({}, { at: '1' })])
    expect(readRegistryDisk(one), one).toBeUndefined()
})

test('usedBy counts images for the owner of their namespace, and leftBehind those without one', () => {
  const disk = readRegistryDisk(
    line({ [shop!]: 7, [preview!]: 4, [blog!]: 2, 'shop-99999999': 3, shared: 5, toString: 1, __proto__: 1 }),
  )!
  expect([usedBy('ann', all, disk), usedBy('bob', all, disk), usedBy('eve', all, disk)]).toEqual([11, 2, 0])
  expect(leftBehind(all, disk, 'shared')).toBe(4)
})

test('isFilling reports a disk that is nearly full', () => {
  expect(isFilling({ size: 100, free: 16 })).toBe(false)
  expect(isFilling({ size: 100, free: 15 })).toBe(true)
  expect(fillingDisk({ size: 50 * GIB, free: 5 * GIB }).message).toBe(
    'the disk of the registry is nearly full: 45.0 of 50.0 GiB (90 %)',
  )
})

function usageOf(say: () => string, settings: object = {}) {
  const state = { asked: 0, now: NOW }
  const logs = async function* (_pod: unknown, options: object) {
    state.asked++
    expect(options).toMatchObject({ container: 'disk', tailLines: 1 })
    const text = say()
    yield text.slice(0, 20)
    yield text.slice(20)
  }
  const world = {
    cluster: { logs },
    now: () => state.now,
    settings: { domain: 'dev.example.com', registry: 'images.dev.example.com', ...settings },
  }
  const index = { isListed: true, all: () => all }
  return { usage: new RegistryUsage(world as never, index as never), state }
}

test('a user over the share cannot push, others can, and the usage is measured again later', async () => {
  let said = line({ [shop!]: 7 * GIB, [preview!]: 4 * GIB, [blog!]: 2 * GIB })
  const { usage, state } = usageOf(() => said)
  const [ann, bob] = ['ann', 'bob'].map(id => ({ id, role: 'developer' }) as PlatformUser)
  const access = async (user: PlatformUser | undefined, place: string | undefined) => {
    const wanted = [{ type: 'repository', name: `${place}/web`, actions: ['pull', 'push', 'delete'] }]
    const caller = { kind: 'person', by: { user, token: { kind: 'cli' } } }
    const namespaces = {
      find: async (name: string) => ({
        namespace: all.find(one => one.name === name),
        members: ['ann', 'bob'].map(user => ({ namespace: name, user, role: 'developer' })),
      }),
    }
    const parts = { namespaces, users: { find: async () => undefined }, registryUsage: usage }
    const [granted] = await accessFor(caller as never, wanted, 'images.dev.example.com', parts as never)
    return granted?.actions
  }
  expect(await usage.full({ owner: 'ann' })).toEqual({ used: 11 * GIB, most: 10 * GIB })
  const rest = ['pull', 'delete']
  expect(await access(ann, shop)).toEqual(rest)
  expect(await access(ann, preview)).toEqual(rest)
  // The share of the owner counts, no matter who pushes.
  expect(await access(bob, shop)).toEqual(rest)
  expect(await access(bob, blog)).toEqual(['pull', 'push', 'delete'])
  expect(state.asked).toBe(1)
  said = line({ [shop!]: 5 * GIB })
  state.now += 31_000
  expect(await access(ann, shop)).toEqual(['pull', 'push', 'delete'])
  expect(state.asked).toBe(2)
})

test('a registry that was not measured lately blocks no push', async () => {
  const full = line({ [shop!]: 40 * GIB })
  let fails = false
  const { usage, state } = usageOf(() => {
    if (fails) throw new Error('the Pod is not there')
    return full
  })
  expect(await usage.full({ owner: 'ann' })).toBeDefined()
  fails = true
  state.now += 60_000
  // A restart frees nothing.
  expect(await usage.full({ owner: 'ann' })).toBeDefined()
  state.now += 1_000_000
  expect(await usage.full({ owner: 'ann' })).toBeUndefined()
  expect(await usageOf(() => full, { registryShare: 0.9 }).usage.full({ owner: 'ann' })).toBeUndefined()
  const other = usageOf(() => full, { registry: 'registry.example.com' })
  expect(await other.usage.disk()).toBeUndefined()
  expect(other.state.asked).toBe(0)
})
