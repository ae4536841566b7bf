import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { changesOf, readFrom } from '../../support/recipe.ts'
import { page } from '../../support/recipes/page.ts'
import { RECIPES } from '../../support/recipes.ts'

// test/long/recipes.test.ts follows the recipes and runs the tests of the result.

test('every recipe finds the lines that it changes', () => {
  const changed = new Map<string, string>()
  const read = readFrom(root)
  for (const recipe of Object.values(RECIPES))
    for (const [path, text] of changesOf(recipe, path => changed.get(path) ?? read(path))) changed.set(path, text)
  expect(changed.size).toBeGreaterThan(20)
})

test('a web page touches at most five files', () => {
  expect(changesOf(page, readFrom(root)).size).toBeLessThanOrEqual(5)
})

test('changesOf refuses a file that exists, and a text that occurs never or twice', () => {
  const read = (path: string) => (path === 'a.ts' ? 'one\ntwo\ntwo\n' : undefined)
  const refused = (recipe: Parameters<typeof changesOf>[0]) => () => changesOf(recipe, read)
  expect(refused({ added: { 'a.ts': '' } })).toThrow('a.ts exists already')
  expect(refused({ edits: [['a.ts', 'three', 'x']] })).toThrow('a.ts has `three` 0 times')
  expect(refused({ edits: [['a.ts', 'two', 'x']] })).toThrow('a.ts has `two` 2 times')
  expect([...changesOf({ edits: [['a.ts', 'one', 'zero\n']] }, read)]).toEqual([['a.ts', 'zero\none\ntwo\ntwo\n']])
})
