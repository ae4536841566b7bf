import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import {
  finalTold,
  fromDelivery,
  fromHook,
  fromHookState,
  fromUnsigned,
  type HookState,
  hookSealedFor,
  MOST_FORKS,
  MOST_LOOKS,
  MOST_PULLS,
  type PullRecord,
  toHook,
} from '../../../platform/records/hook.ts'
import { DELIVERIES } from '../../../platform/rules/previews/deliveries.ts'

const setup = {
  id: 'a'.repeat(16),
  forge: 'gitea',
  repository: 'https://git.example.com/team/shop',
  repositoryId: '3',
  owner: 'b'.repeat(16),
  scope: 'personal',
  forks: 'approve',
  prefix: 'shop-',
  created: '2026-01-01T00:00:00Z',
} as const
const sealed = { secret: 'v1.k1.abc', token: 'v1.k1.def' }
const sha = 'a'.repeat(40)
const pull = { number: 7, page: 'https://git.example.com/7', author: 'ann', commit: sha, trust: 'fork' } as const
const empty: HookState = { look: [], pulls: [], seen: [] }

/** The object as the API server has it after a change. */
function written(state?: HookState, data: object = {}): KubeObject {
  const object = fromHook(setup, sealed)
  const change = state ? fromHookState(state).data : {}
  return {
    ...object,
    metadata: { ...object.metadata, resourceVersion: '5' },
    data: { ...(object['data'] as object), ...change, ...data },
  }
}
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

test('toHook reads back what fromHook and fromHookState wrote', () => {
  expect(toHook(written())).toEqual({ ...setup, ...empty, sealed, version: '5' })
  const state: HookState = {
    look: [7],
    pulls: [
      { ...pull, branch: 'x', from: 'https://git.example.com/eve/shop.git', isWaiting: true, problem: 'why' },
      {
        ...pull,
        number: 8,
        approved: { commit: sha, by: 'c'.repeat(16), time: setup.created },
        deployed: { commit: sha, trust: 'fork' },
        comment: { id: 12, told: `deploys ${sha}` },
      },
    ],
    seen: ['x'],
  }
  expect(toHook(written(state))).toEqual({ ...setup, ...state, sealed, version: '5' })
  expect(fromHookState(state).metadata.labels).toEqual({ 'dev.platform/look': 'true', 'dev.platform/tell': 'true' })
  expect(fromHookState(empty).metadata.labels).toEqual({ 'dev.platform/look': null, 'dev.platform/tell': null })
  const told = state.pulls.map(one => ({ ...one, comment: { told: finalTold(one) ?? '' } }))
  expect(told.map(one => one.comment.told)).toEqual([`waits ${sha}`, `deployed ${sha}`])
  expect(fromHookState({ ...state, pulls: told }).metadata.labels).toMatchObject({ 'dev.platform/tell': null })
})

test('the last delivery is read back, and a broken one is ignored', () => {
  const lastDelivery = { time: setup.created, event: 'pull_request', result: 'accepted', number: 7 } as const
  const refused = { time: setup.created, result: 'refused', reason: 'too many deliveries' } as const
  const read = (data: object) => toHook(written(undefined, data))
  expect(read({ ...fromDelivery(lastDelivery).data, ...fromUnsigned(setup.created).data })).toMatchObject({
    lastDelivery,
    lastUnsigned: setup.created,
  })
  expect(read(fromDelivery(refused).data)?.lastDelivery).toEqual(refused)
  for (const broken of [{}, { ...refused, time: 'x' }, { ...refused, result: 'lost' }, [], 'x'])
    expect(read({ delivery: base64(broken), unsigned: base64({ time: 7 }) })).toEqual(toHook(written()))
})

test('toHook limits the entries of a record, and keeps the newest', () => {
  const many = Array.from({ length: 1000 }, (_, at) => at + 1)
  const found = toHook(
    written({
      look: many,
      pulls: many.map(number => ({ ...pull, number })),
      seen: many.map(String),
    }),
  )
  expect([found?.look.length, found?.pulls.length, found?.seen.length]).toEqual([MOST_LOOKS, MOST_FORKS, DELIVERIES])
  expect(found?.pulls.at(-1)?.number).toBe(1000)
  const own = many.map(number => ({ ...pull, number, trust: 'repository' as const }))
  const waiting = many.map(number => ({ ...pull, number: 1000 + number, isWaiting: true, author: `eve${number}` }))
  const both = toHook(written({ ...empty, pulls: [...own, ...waiting] }))!
  expect(both.pulls).toHaveLength(MOST_PULLS + MOST_FORKS)
  expect(JSON.stringify(written({ ...empty, pulls: both.pulls })).length).toBeLessThan(100_000)
})

describe('requests of outsiders', () => {
  const forks = (author: string, from: number, count: number, more: Partial<PullRecord> = {}): readonly PullRecord[] =>
    Array.from({ length: count }, (_, at) => ({ ...pull, author, number: from + at, isWaiting: true, ...more }))
  /** The numbers that are remembered after these were recorded one after another. */
  const known = (pulls: readonly PullRecord[]) => {
    let before: readonly PullRecord[] = []
    for (const one of pulls) before = toHook(written({ ...empty, pulls: [...before, one] }))!.pulls
    return before.map(one => one.number)
  }

  test('new requests of outsiders displace no waiting, approved, deployed or own request', () => {
    const approved = { commit: sha, by: 'c'.repeat(16), time: setup.created }
    const before = [
      ...forks('ann', 1, 1),
      { ...pull, number: 2, approved },
      { ...pull, number: 3, deployed: { commit: sha, trust: 'fork' as const } },
      { ...pull, number: 4, trust: 'repository' as const },
      { ...pull, number: 5, trust: 'repository' as const, deployed: { commit: sha, trust: 'repository' as const } },
    ]
    const refused = { isWaiting: false, problem: 'why' }
    for (const many of [forks('eve', 100, 120), forks('eve', 100, 120, refused)])
      expect(known([...before, ...many]).slice(0, 5)).toEqual([1, 2, 3, 4, 5])
    // An author who changes their request does not lose its entry, and an author who comes later gets one.
    const all = known([...before, ...forks('eve', 100, 120), ...forks('ann', 1, 1), ...forks('bob', 900, 1)])
    expect(all).toEqual(expect.arrayContaining([1, 900]))
    expect(all).toHaveLength(MOST_FORKS + 2)
  })

  test('requests of many outsiders do not displace an earlier one', () => {
    const many = Array.from({ length: 120 }, (_, at) => forks(`eve${at}`, 100 + at, 1)).flat()
    expect(known([...forks('ann', 1, 1), ...many])).toContain(1)
  })

  test('refused requests of outsiders make room for one that waits', () => {
    expect(known([...forks('eve', 100, 120, { isWaiting: false }), ...forks('ann', 1, 1)])).toContain(1)
  })
})

test.each([
  ['an approval without who', { approved: { commit: sha, time: setup.created } }],
  ['an approval of half a commit', { approved: { commit: 'aaaa', by: 'ann', time: setup.created } }],
  ['a deploy of nobody knows whose code', { deployed: { commit: sha } }],
])('%s is ignored', (_, more) => {
  const found = toHook(written(undefined, { state: base64({ pulls: [{ ...pull, ...more }] }) }))
  expect(found?.pulls).toEqual([pull])
})

test.each([
  ['another name', { id: 'c'.repeat(16) }],
  ['another owner', { owner: 'c'.repeat(16) }],
  ['no owner', { owner: '' }],
  ['a repository that is not encrypted', { repository: 'http://git.example.com/team/shop' }],
  ['an unknown policy', { forks: 'always' }],
  ['an unknown forge', { forge: 'other' }],
  ['no prefix', { prefix: '' }],
])('a webhook with %s is ignored', (_, more) => {
  expect(toHook(written(undefined, { setup: base64({ ...setup, ...more }) }))).toBeUndefined()
})

test('hookSealedFor names a distinct place for each webhook, repository and use', () => {
  const places = [
    hookSealedFor(setup, 'secret'),
    hookSealedFor(setup, 'token'),
    hookSealedFor({ ...setup, repository: 'https://git.example.com/team/other' }, 'token'),
    hookSealedFor({ ...setup, id: 'c'.repeat(16) }, 'token'),
  ]
  expect(new Set(places).size).toBe(places.length)
})

test('toHook throws no error, whatever an object contains', () => {
  const any = fc.record({ setup: fc.json().map(one => Buffer.from(one).toString('base64')), sealed: fc.string() })
  fc.assert(fc.property(any, data => void toHook(written(undefined, data))))
  fc.assert(fc.property(fc.anything(), state => void toHook(written(undefined, { state: base64(state ?? null) }))))
})
