import { expect, test } from 'vitest'
import { ITEM, PathRules } from '../../../../compiler/text/path.ts'

const rules = new PathRules([
  ['limits.{}', 'member'],
  ['limits.{}.soft', 'inside a member'],
  ['ports.[].target', 'inside an item'],
  ['both.*', 'any'],
])
const at = (...path: readonly string[]) => PathRules.at(rules.find(path))

test('a rule for the members of a mapping does not apply to the items of a list in its place', () => {
  expect(at('limits', 'nofile')).toBe('member')
  expect(at('limits', 'nofile', 'soft')).toBe('inside a member')
  expect(at('limits', ITEM)).toBeUndefined()
})

test('a rule for the items of a list does not apply to the members of a mapping in its place', () => {
  expect(at('ports', ITEM, 'target')).toBe('inside an item')
  expect(at('ports', '0', 'target')).toBeUndefined()
})

test('a rule for both applies to members and items', () => {
  expect(at('both', 'a')).toBe('any')
  expect(at('both', ITEM)).toBe('any')
})
