import { describe, expect, test } from 'vitest'
import { classify, essence } from '../../../../adapters/git/rejection.ts'
import { rejections } from './rejections.ts'

describe('classify', () => {
  test.each(rejections)('classify reports $kind: $situation', ({ stderr, kind }) => {
    expect(classify(stderr)).toBe(kind)
  })
})

test('essence drops progress and advice from the output of git', () => {
  const said =
    'remote: protected branch hook declined        \nTo https://x/y\nhint: see help\n ! [remote rejected] HEAD -> main (pre-receive hook declined)\n'
  expect(essence(said)).toEqual([
    'protected branch hook declined',
    ' ! [remote rejected] HEAD -> main (pre-receive hook declined)',
  ])
})
