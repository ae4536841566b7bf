import { describe, expect, test } from 'vitest'
import { goPattern } from '../../../../../gitops/encryption/sops/go-pattern.ts'

describe('goPattern', () => {
  test.each([
    ['^staging/.*\\.ya?ml$', 'staging/a.yml', 'staging/a-yml'],
    ['^(?:a|b)\\/[\\w-]{2,3}$', 'a/x-1', 'c/x-1'],
    ['(?i)SECRET\\-', 'my-secret-1', 'my-secret_1'],
    ['(?im)^b$', 'a\nB', 'ab'],
    ['a\\_[a\\-z]$', 'a_-', 'a_m'],
    ['\\x41\\d\\b', 'A1', 'x41'],
    ['é{2}', 'éé', 'é'],
  ])('%s matches %s and not %s', (pattern, matching, other) => {
    expect(goPattern(pattern).test(matching)).toBe(true)
    expect(goPattern(pattern).test(other)).toBe(false)
  })

  // Go gives each of these a meaning that JavaScript does not know, or would not notice.
  test.each([
    '[[:alpha:]]',
    '[[:alpha:][:digit:]]+',
    '[^[:space:]]',
    '[]a]',
    '\\Aa',
    'a\\z',
    '\\Qa.b\\E',
    '\\pL',
    '\\p{Greek}',
    '\\x{41}',
    '\\a',
    '\\C',
    '(?P<a>b)',
    'a(?i)b',
    '(?U)a*',
    'a{,3}',
  ])('%s is refused', pattern => {
    expect(() => goPattern(pattern)).toThrow(SyntaxError)
  })
})
