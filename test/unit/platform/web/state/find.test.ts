import { describe, expect, test } from 'vitest'
import { find, findFew } from '../../../../../platform/web/state/find.ts'

describe('the search', () => {
  const all = ['schnee op', 'workshop', 'web-shop', 'web-shopping', 'shopping', 'shop'].map(text => ({ text }))
  const found = (text: string) => find(all, text).map(one => one.text)

  test('the search ranks the whole text first, then beginnings, words, the middle, and letters', () => {
    expect(found('shop')).toEqual(['shop', 'shopping', 'web-shop', 'web-shopping', 'workshop', 'schnee op'])
  })

  test('the search finds a word after an earlier match inside of another word', () => {
    expect(find([{ text: 'workshop-b' }, { text: 'workshop shop' }], 'shop').map(one => one.text)).toEqual([
      'workshop shop',
      'workshop-b',
    ])
  })

  test('the search requires all words, in any order', () => {
    expect(found('shop web')).toEqual(['web-shop', 'web-shopping'])
    expect(found('shop xyz')).toEqual([])
  })

  test('the search shows everything before something is typed', () => {
    expect(found(' ')).toHaveLength(all.length)
  })

  test('the search matches other words for a thing, but no scattered letters of them', () => {
    const people = [{ text: 'People', also: 'users admin' }]
    expect(find(people, 'users')).toHaveLength(1)
    expect(find(people, 'Min')).toHaveLength(1)
    expect(find(people, 'uadm')).toHaveLength(0)
  })

  test('the search prefers the name of a thing to other words for it', () => {
    const texts = [{ text: 'api', also: 'service shop' }, { text: 'shop' }]
    expect(find(texts, 'shop').map(one => one.text)).toEqual(['shop', 'api'])
  })

  test('the search finds a commit by its beginning', () => {
    const run = { text: 'Deploy shop', begins: '4f1c9aa0d3b1c2e4' }
    expect(find([run], '4F1C9AA')).toEqual([run])
    for (const other of ['4f1', '9aa0', 'c2e4']) expect(find([run], other), other).toEqual([])
  })

  test('the search keeps the order of equal matches', () => {
    const texts = ['b-1', 'a-1', 'c-1'].map(text => ({ text }))
    expect(find(texts, '1')).toEqual(texts)
  })

  test('the search takes characters with a meaning in patterns literally', () => {
    expect(find([{ text: 'a.b(c' }, { text: 'aXb(c' }], '.b(').map(one => one.text)).toEqual(['a.b(c'])
  })
})

describe('findFew', () => {
  const many = (group: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ group, text: `shop-${at}`, also: '' }))

  test('findFew returns some results of each kind, and the number of the others', () => {
    const { found, more } = findFew([...many('Run', 300), ...many('Service', 3)], 'shop', { inAll: 40, ofGroup: 12 })
    expect(found.map(one => one.group)).toEqual([...Array(12).fill('Run'), ...Array(3).fill('Service')])
    expect(more).toBe(288)
  })

  test('findFew returns no more results than fit', () => {
    const groups = ['A', 'B', 'C', 'D', 'E'].flatMap(group => many(group, 12))
    expect(findFew(groups, 'shop', { inAll: 40, ofGroup: 12 })).toMatchObject({ more: 20 })
    expect(findFew(groups, 'other', { inAll: 40, ofGroup: 12 })).toEqual({ found: [], more: 0 })
  })

  test('findFew searches thousands of texts at once', () => {
    const all = Array.from({ length: 20 }, (_, at) => many(`Group ${at}`, 500)).flat()
    const start = performance.now()
    for (const text of ['s', 'sh', 'sho', 'shop', 'shop 4']) findFew(all, text, { inAll: 40, ofGroup: 12 })
    // A key press must not be felt: 100 ms each, also on a busy machine.
    expect(performance.now() - start).toBeLessThan(1500)
  })
})
