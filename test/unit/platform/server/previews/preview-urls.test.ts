import { expect, test } from 'vitest'
import type { Identified } from '../../../../../platform/server/http/caller.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { PreviewUrls } from '../../../../../platform/server/previews/preview-urls.ts'
import type { ShownPreview } from '../../../../../platform/server/previews/previews.ts'

const signal = new AbortController().signal
const caller = (user: string, role = 'developer') =>
  ({ user: { id: user, role }, token: { id: `t-${user}` } }) as Identified
/** A preview of ann; the last number is when it was used last. */
const preview = (name: string, { run = 'r1', state = 'running', status = 'Active', at = 0 } = {}) =>
  ({
    shared: {
      namespace: { name, uid: `uid-${name}`, owner: 'ann', status, lastActive: new Date(at).toISOString() },
      members: [],
    },
    source: {},
    runs: [{ id: run, state }],
  }) as unknown as ShownPreview

function open() {
  const asked: string[] = []
  const failing = new Map<string, Error>()
  const world = { time: 0, now: () => world.time }
  const urls = new PreviewUrls(world, {
    publicUrls: async ({ user }, name) => {
      asked.push(`${user.id} ${name}`)
      const failure = failing.get(name)
      if (failure) throw failure
      return [`https://${name}.example.com/${asked.length}`]
    },
  })
  return { asked, failing, world, urls }
}

test('URLs are kept for a while, and read again when a run has changed', async () => {
  const { asked, world, urls } = open()
  const of = async (one: ShownPreview, who = 'ann') =>
    (await urls.of(caller(who, 'admin'), [one], signal)).get('p')?.[0]
  expect([await of(preview('p')), await of(preview('p'))]).toEqual([
    'https://p.example.com/1',
    'https://p.example.com/1',
  ])
  expect(await of(preview('p', { state: 'succeeded' }))).toBe('https://p.example.com/2')
  expect(await of(preview('p', { run: 'r2' }))).toBe('https://p.example.com/3')
  world.time = 30_000
  expect(await of(preview('p', { run: 'r2' }))).toBe('https://p.example.com/4')
  expect(asked).toHaveLength(4)
})

test('the URLs of one caller are not used for another', async () => {
  const { asked, urls } = open()
  const shared = preview('p')
  const global = { ...shared, shared: { ...shared.shared, namespace: { ...shared.shared.namespace, isGlobal: true } } }
  for (const who of ['ann', 'bob', 'ann']) await urls.of(caller(who), [global], signal)
  expect(asked).toEqual(['ann p', 'bob p'])
})

test('no URLs are read of a preview that is being deleted, or that the caller is no member of', async () => {
  const { asked, urls } = open()
  expect((await urls.of(caller('bob', 'admin'), [preview('p')], signal)).size).toBe(0)
  expect((await urls.of(caller('ann'), [preview('p', { status: 'Deleting' })], signal)).size).toBe(0)
  expect(asked).toEqual([])
})

test('a preview that cannot be read is omitted, and read again later', async () => {
  const { asked, failing, urls } = open()
  failing.set('p', new Error('the cluster does not answer'))
  failing.set('q', new PlatformError(404, 'no-namespace', 'gone'))
  const all = [preview('p'), preview('q'), preview('r')]
  expect([...(await urls.of(caller('ann'), all, signal)).keys()]).toEqual(['r'])
  failing.clear()
  expect([...(await urls.of(caller('ann'), all, signal)).keys()].sort()).toEqual(['p', 'q', 'r'])
  expect(asked).toHaveLength(5)
})

test('only the most recently used of many previews are read', async () => {
  const { urls } = open()
  const all = Array.from({ length: 150 }, (_, at) => preview(`p${at}`, { at }))
  const found = await urls.of(caller('ann'), all, signal)
  expect(found.size).toBe(100)
  expect(found.has('p149')).toBe(true)
  expect(found.has('p49')).toBe(false)
})
