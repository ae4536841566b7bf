import { describe, expect, test } from 'vitest'
import { didYouMean, suggest } from '../../../../compiler/diagnostics/suggest.ts'
import { measureProcessor } from '../../../support/processor-time.ts'

const known = ['image', 'init', 'ports', 'profiles', 'environment', 'env_file', 'depends_on', 'cpus', 'cpuset', 'tty']

describe('suggest', () => {
  test.each([
    ['imagee', 'image'],
    ['iamge', 'image'],
    ['IMAGE', 'image'],
    ['port', 'ports'],
    ['prots', 'ports'],
    ['dependsOn', 'depends_on'],
    ['depends-on', 'depends_on'],
    ['enviromnent', 'environment'],
    ['env-file', 'env_file'],
    ['prof', 'profiles'],
    ['cpu', 'cpus'],
    ['tyt', 'tty'],
  ])('suggest corrects %s to %s', (word, expected) => expect(suggest(word, known)).toBe(expected))

  test.each(['x', '', 'volumes', 'a', 'qwertz', 'env', 'zz'])('suggest has no suggestion for "%s"', word =>
    expect(suggest(word, known)).toBeUndefined(),
  )

  test('didYouMean writes a suggestion as a hint', () => {
    expect(didYouMean('imagee', known)).toBe('did you mean `image`?')
    expect(didYouMean('qwertz', known)).toBeUndefined()
  })

  test('a long word is compared quickly', () => {
    const words = Array.from({ length: 2000 }, (_, at) => `service-${at}`)
    const used = measureProcessor()
    suggest('s'.repeat(10_000), words)
    expect(used()).toBeLessThan(500)
  })
})
