import { describe, expect, test } from 'vitest'
import { classify, essence, rejectionOf } from '../../../../adapters/git/rejection.ts'
import { rejections } from './rejections.ts'

describe('classify', () => {
  test.each(rejections)('classify reports $kind: $situation', ({ stderr, kind }) => {
    expect(classify(stderr)).toBe(kind)
  })
})

test.each([
  ['add', "fatal: pathspec ':(literal)a.yaml' did not match any files", undefined],
  ['checkout', 'error: unable to write file a.yaml', undefined],
  ['checkout', 'fatal: unable to access: The requested URL returned error: 503', 'broken'],
  ['restore', 'fatal: unable to access: The requested URL returned error: 403', 'refused'],
  ['push', 'fatal: something new', 'refused'],
])('rejectionOf finds a rejection only where git %s can meet the server: %s', (command, said, kind) => {
  expect(rejectionOf({ command, said })).toBe(kind)
})

test('essence drops progress and advice from the output of git', () => {
  const said =
    'remote: protected branch hook declined        \nTo https://x/y\nhint: see help\n ! [remote rejected] HEAD -> main (pre-receive hook declined)\n'
  expect(essence(said)).toEqual([
    'protected branch hook declined',
    ' ! [remote rejected] HEAD -> main (pre-receive hook declined)',
  ])
})
