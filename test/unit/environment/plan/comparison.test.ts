import { expect, test } from 'vitest'
import { differencesOf, pathText } from '../../../../environment/plan/comparison.ts'
import { ownDifferences } from '../../../../environment/plan/field-owners.ts'
import { overlay } from '../../../../environment/plan/overlay.ts'
import { object } from '../../../support/objects/deploying.ts'

const pod = (...names: readonly string[]) =>
  object('Pod', 'web', { spec: { initContainers: names.map(name => ({ name, image: 'busybox' })) } })

test.each([
  [['one', 'two'], ['two', 'one'], ['spec.initContainers ["one","two"] ["two","one"]']],
  [
    ['one', 'mesh', 'two'],
    ['two', 'one'],
    [expect.any(String), 'spec.initContainers ["one","two"] ["two","one"]'],
  ],
  [['one', 'two'], ['mesh', 'one', 'two'], [expect.stringContaining('spec.initContainers[mesh] ')]],
  [['one', 'mesh', 'two'], ['one', 'two'], [expect.stringContaining('spec.initContainers[mesh] ')]],
  [['one', 'two'], ['one', 'two'], []],
])('the order of the items that both lists have is compared: %j, %j', (before, after, expected) => {
  const found = differencesOf(pod(...before), pod(...after))
  expect(found.map(one => `${pathText(one.keys)} ${JSON.stringify(one.before)} ${JSON.stringify(one.after)}`)).toEqual(
    expected,
  )
})

test('a changed order is a difference of a list that the wanted object sets', () => {
  const [live, next] = [pod('one', 'two'), pod('two', 'one')]
  expect(ownDifferences(next, live, next)).toHaveLength(1)
  expect(ownDifferences(object('Pod', 'web'), live, next)).toEqual([])
})

test('overlay puts the items that it shares with the live object into the wanted order', () => {
  const live = pod('one', 'mesh', 'two')
  expect(overlay(live, pod('two', 'one', 'three'))).toEqual(pod('two', 'mesh', 'one', 'three'))
})
