import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseGlob } from '../../../../compiler/values/glob.ts'
import { measureProcessor } from '../../../support/processor-time.ts'

describe('parseGlob', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'ab', false],
    ['a*c', 'abbc', true],
    ['a*c', 'ab/c', false],
    ['**', 'a/b/c', true],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a', false],
    ['**/c', 'c', true],
    ['**/c', 'a/b/c', true],
    ['**/c', 'a/bc', false],
    ['a/**/c', 'a/c', true],
    ['a/**/c', 'a/b/b/c', true],
    ['a**c', 'ac', true],
    ['a**c', 'ab/c', true],
    ['a**c', 'abc', false],
    ['?', 'é', true],
    ['?', '😀', true],
    ['?', '/', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[^a]x', '/x', false],
    ['[]]', ']', false],
    ['[a', '[a', true],
    ['[z-a]', '[z-a]', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['(a|b)+{c}$^.', '(a|b)+{c}$^.', true],
    ['(a+)+', 'aaa', false],
  ])('the glob %j matches %j: %s', (pattern, path, expected) => expect(parseGlob(pattern).test(path)).toBe(expected))

  test('a glob holds everything in a folder that it matches', () => {
    expect(parseGlob('a/*').holds('a/b/c')).toBe(true)
    expect(parseGlob('a/*').test('a/b/c')).toBe(false)
    expect(parseGlob('a/*').holds('a')).toBe(false)
    expect(parseGlob('ab').holds('abc/d')).toBe(false)
  })

  test('a glob matches the same paths as the equivalent regular expression', () => {
    const pieces = { a: 'a', b: 'b', '/': '/', '*': '[^/]*', '?': '[^/]', '**/': '(?:.*/)?' }
    const pattern = fc.array(fc.constantFrom(...(Object.keys(pieces) as (keyof typeof pieces)[])), { maxLength: 8 })
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 })
    fc.assert(
      fc.property(pattern, path, (words, text) => {
        const glob = words.join('')
        fc.pre(words.at(-1) !== '**/' && !/\* \*/.test(words.join(' ')))
        expect(parseGlob(glob).test(text), glob).toBe(
          new RegExp(`^${words.map(word => pieces[word]).join('')}$`).test(text),
        )
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    '*a'.repeat(50),
    '**a'.repeat(50),
    `${'**/'.repeat(50)}x`,
    `${'*?'.repeat(30)}x`,
    `*a${'?'.repeat(30)}x`,
    '[a'.repeat(2_000),
  ])('the cost of a match is linear for %s', pattern => {
    const used = measureProcessor()
    const glob = parseGlob(pattern)
    for (const path of ['a'.repeat(4_000), 'a/'.repeat(2_000), `${'ab'.repeat(100)}/`.repeat(20)])
      glob.holds(`${path}y`)
    expect(used()).toBeLessThan(2_000)
  })
})
