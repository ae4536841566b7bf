import { describe, expect, test } from 'vitest'
import { builderFor, inOrder } from '../../../../../platform/rules/registry/placement.ts'
import { type BuildSlot, BuildSlots, TooManyBuilds } from '../../../../../platform/server/builds/build-slots.ts'

const BUILDERS = ['a', 'b', 'c', 'd']
const KEYS = Array.from({ length: 1000 }, (_, index) => `shop\0service-${index}`)

describe('the order of builders', () => {
  test('the order is the same for the same key, and spreads keys evenly', () => {
    expect(inOrder(BUILDERS, 'shop\0web')).toEqual(inOrder([...BUILDERS].reverse(), 'shop\0web'))
    for (const builder of BUILDERS) {
      const first = KEYS.filter(key => inOrder(BUILDERS, key)[0] === builder).length
      expect(first).toBeGreaterThan(190)
      expect(first).toBeLessThan(310)
    }
  })

  test('a builder that is removed moves only its own builds', () => {
    for (const key of KEYS) {
      const [before] = inOrder(BUILDERS, key)
      if (before !== 'c') expect(inOrder(['a', 'b', 'd'], key)[0]).toBe(before)
    }
  })

  test.each<readonly [string, readonly number[], string | undefined]>([
    ['the first', [0, 0, 0], 'a'],
    ['the first, with one build', [1, 0, 0], 'a'],
    ['the next one at two builds', [2, 0, 0], 'b'],
    ['the one with the fewest when each has two', [3, 2, 2], 'b'],
    ['the only one with a place', [4, 4, 3], 'c'],
    ['none', [4, 4, 4], undefined],
  ])('builderFor chooses %s', (_, running, wanted) => {
    const order = ['a', 'b', 'c']
    expect(builderFor(order, one => running[order.indexOf(one)]!, 4)).toBe(wanted)
  })
})

describe('places for builds', () => {
  const settled = () => new Promise(resolve => setImmediate(resolve))

  function queue(builders: readonly string[], most: number, oneNamespace = false) {
    const slots = new BuildSlots(builders, most, oneNamespace)
    const placed: string[] = []
    const told = new Map<string, number>()
    const given = new Map<string, BuildSlot>()
    const take = (name: string, user: string, signal = new AbortController().signal, namespace = user, key = name) =>
      slots.take({ user, namespace, key, signal, onQueue: before => told.set(name, before) }).then(slot => {
        placed.push(name)
        given.set(name, slot)
      })
    const slotOf = (name: string) => given.get(name)!
    return { take, placed, told, slotOf, free: (name: string) => slotOf(name).free() }
  }

  /** Returns a call that empties a builder, which the test ends. */
  function emptying() {
    let end = (_error?: Error) => {}
    let calls = 0
    const empty = () => {
      calls++
      return new Promise<void>((resolve, reject) => {
        end = error => (error ? reject(error) : resolve())
      })
    }
    return { empty, calls: () => calls, end: (error?: Error) => end(error) }
  }

  test('all builds of a namespace wait until their builder is emptied, which happens once', async () => {
    const { take, slotOf, free } = queue(['a'], 3, true)
    const { empty, calls, end } = emptying()
    const { signal } = new AbortController()
    await Promise.all(['ann1', 'ann2'].map(name => take(name, 'ann')))
    const ready: string[] = []
    const wait = (name: string) =>
      slotOf(name)
        .emptied(empty, signal)
        .then(() => ready.push(name))
    const waits = ['ann1', 'ann2'].map(wait)
    await settled()
    expect([calls(), ready]).toEqual([1, []])
    end()
    await Promise.all(waits)
    free('ann1')
    await take('ann3', 'ann')
    await wait('ann3')
    expect([calls(), ready]).toEqual([1, ['ann1', 'ann2', 'ann3']])
    for (const name of ['ann2', 'ann3']) free(name)
    await take('bob1', 'bob')
    void wait('bob1')
    expect(calls()).toBe(2)
  })

  test('a build empties the builder itself if another build could not, and does not wait after its end', async () => {
    const { take, slotOf } = queue(['a'], 4, true)
    const { empty, calls, end } = emptying()
    const cancelled = new AbortController()
    await Promise.all(['ann1', 'ann2', 'ann3'].map(name => take(name, 'ann')))
    const first = slotOf('ann1').emptied(empty, new AbortController().signal)
    const second = slotOf('ann2').emptied(empty, new AbortController().signal)
    const third = slotOf('ann3').emptied(empty, cancelled.signal)
    cancelled.abort(new Error('cancelled'))
    await expect(third).rejects.toThrow('cancelled')
    end(new Error('the disk is broken'))
    await expect(first).rejects.toThrow('the disk is broken')
    await settled()
    expect(calls()).toBe(2)
    end()
    await second
  })

  test('a builder serves one namespace at a time, and is emptied for the first one that waits', async () => {
    const { take, placed, told, free } = queue(['a', 'b'], 3, true)
    for (const name of ['ann1', 'ann2', 'ann3']) void take(name, 'ann', undefined, 'shop')
    void take('bob1', 'bob', undefined, 'shop')
    await settled()
    // One builder stays free for other namespaces, and one place on that of the shop for other users.
    expect(placed).toEqual(['ann1', 'ann2', 'bob1'])
    void take('eve1', 'eve', undefined, 'blog')
    await settled()
    expect(placed.at(-1)).toBe('eve1')
    void take('kim1', 'kim', undefined, 'wiki')
    await settled()
    expect(told.get('kim1')).toBe(0)
    // The builder of the blog has the fewest builds, so no other build starts there.
    void take('fay1', 'fay', undefined, 'blog')
    await settled()
    expect(placed.at(-1)).toBe('eve1')
    // The other builder continues.
    for (const name of ['ann1', 'ann2']) free(name)
    void take('bob2', 'bob', undefined, 'shop')
    await settled()
    expect(placed.slice(4)).toEqual(['ann3', 'bob2'])
    free('eve1')
    await settled()
    expect(placed.slice(6)).toEqual(['kim1'])
    free('kim1')
    await settled()
    expect(placed.at(-1)).toBe('fay1')
  })

  test('a build that waits for an empty builder delays only builds for that builder', async () => {
    const { take, placed, free } = queue(['a', 'b', 'c'], 2, true)
    const free2 = async (name: string) => {
      free(name)
      await settled()
    }
    for (const namespace of ['shop', 'shop', 'blog', 'blog', 'wiki'])
      await take(`${namespace}${placed.length}`, `${namespace}${placed.length}`, undefined, namespace, namespace)
    expect(placed).toEqual(['shop0', 'shop1', 'blog2', 'blog3', 'wiki4'])
    void take('new', 'new', undefined, 'new')
    for (let one = 0; one < 6; one++) void take(`shop again ${one}`, `s${one}`, undefined, 'shop', 'shop')
    void take('wiki again', 'w', undefined, 'wiki', 'wiki')
    await settled()
    expect(placed).toHaveLength(5)
    // The builds of the shop do not wait for the new namespace, nor the new namespace for them.
    for (const [at, name] of ['shop0', 'shop1', 'shop again 0', 'shop again 1'].entries()) {
      await free2(name)
      expect(placed.at(-1)).toBe(`shop again ${at}`)
    }
    await free2('wiki4')
    expect(placed.at(-1)).toBe('new')
  })

  test('a single builder starts a few builds of its namespace, and then changes to another', async () => {
    const { take, placed, free } = queue(['a'], 3, true)
    void take('shop0', 'a', undefined, 'shop')
    void take('new', 'b', undefined, 'new')
    for (let one = 1; one < 20; one++) void take(`shop${one}`, `c${one}`, undefined, 'shop')
    await settled()
    expect(placed).toEqual(['shop0', 'shop1', 'shop2'])
    for (const name of ['shop0', 'shop1', 'shop2']) {
      expect(placed).not.toContain('new')
      free(name)
      await settled()
    }
    expect(placed).toEqual(['shop0', 'shop1', 'shop2', 'new'])
  })

  test.each([
    ['of one namespace', 'm1', 'm1'],
    ['of two namespaces', 'm1', 'm2'],
  ])('one user never fills all builders of one namespace at a time: builds %s', async (_, first, second) => {
    for (const builders of [BUILDERS.slice(0, 2), BUILDERS]) {
      const { take, placed } = queue(builders, 4, true)
      for (let one = 0; one < 20; one++) void take(`mallory ${one}`, 'mallory', undefined, one % 2 ? first : second)
      await settled()
      void take('alice', 'alice', undefined, 'shop')
      await settled()
      expect(placed.at(-1)).toBe('alice')
    }
  })

  test('one namespace does not fill all builders, even with many users', async () => {
    const { take, placed } = queue(['a', 'b', 'c'], 2, true)
    for (let one = 0; one < 20; one++) void take(`member ${one}`, `member ${one}`, undefined, 'shop')
    await settled()
    expect(placed).toHaveLength(4)
    void take('alice', 'alice', undefined, 'blog')
    await settled()
    expect(placed.at(-1)).toBe('alice')
  })

  test('a single builder of one namespace at a time serves all namespaces', async () => {
    const { take, placed, free } = queue(['a'], 2, true)
    void take('ann1', 'ann', undefined, 'shop')
    void take('bob1', 'bob', undefined, 'shop')
    void take('eve1', 'eve', undefined, 'blog')
    await settled()
    expect(placed).toEqual(['ann1', 'bob1'])
    free('ann1')
    free('bob1')
    await settled()
    expect(placed).toContain('eve1')
  })

  test('one user does not get all places, and the user with the fewest is next', async () => {
    const { take, placed, told, free } = queue(['a'], 3)
    for (const name of ['ann1', 'ann2', 'ann3', 'ann4']) void take(name, 'ann')
    await settled()
    expect(placed).toEqual(['ann1', 'ann2'])
    void take('bob1', 'bob')
    await settled()
    expect(placed).toEqual(['ann1', 'ann2', 'bob1'])
    void take('bob2', 'bob')
    void take('eve1', 'eve')
    expect([told.get('eve1'), told.get('bob2'), told.get('ann3'), told.get('ann4')]).toEqual([0, 1, 2, 3])
    free('ann1')
    await settled()
    expect(placed.at(-1)).toBe('eve1')
    free('ann2')
    await settled()
    expect(placed.at(-1)).toBe('ann3')
  })

  test('one user may take the only place', async () => {
    const { take, placed } = queue(['a'], 1)
    await take('ann1', 'ann')
    expect(placed).toEqual(['ann1'])
  })

  test('a build that leaves the queue is not served, and a place is freed only once', async () => {
    const { take, placed, free } = queue(['a'], 1)
    await take('one', 'ann')
    const leaving = new AbortController()
    const left = take('two', 'bob', leaving.signal)
    void take('three', 'eve')
    void take('four', 'eve')
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    free('one')
    free('one')
    await settled()
    expect(placed).toEqual(['one', 'three'])
  })

  test('the queue of a user has a limit', async () => {
    const { take } = queue(['a'], 1)
    await take('first', 'ann')
    for (let one = 0; one < 32; one++) void take(`${one}`, 'ann')
    await expect(take('too many', 'ann')).rejects.toThrow(TooManyBuilds)
    void take('of another', 'bob')
  })
})
