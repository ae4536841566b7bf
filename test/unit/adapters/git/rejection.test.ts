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

test('essence drops the progress of git and of the server', () => {
  const progress = [
    'Enumerating objects: 5, done.',
    'Counting objects: 100% (5/5), done.',
    'Delta compression using up to 2 threads',
    'Compressing objects:  50% (1/2)\rCompressing objects: 100% (2/2), done.',
    'Writing objects: 100% (3/3), 300 bytes | 300.00 KiB/s, done.',
    'Total 3 (delta 0), reused 0 (delta 0), pack-reused 0 (from 0)',
    'remote: Enumerating objects: 5, done.        ',
    'remote: Total 3 (delta 0), reused 0 (delta 0)        ',
    'remote: Resolving deltas: 100% (1/1), completed with 1 local object.        ',
    'Receiving objects: 100% (3/3), done.',
    'Unpacking objects: 100% (3/3), 300 bytes | 300.00 KiB/s, done.',
  ]
  expect(essence(`${progress.join('\n')}\n`)).toEqual([])
})

test.each([
  'To change production, open a merge request and ask #infra.',
  'Total repository size would exceed 2 GiB.',
  'Writing to this branch is frozen until Monday.',
  'Counting on you: run the checks first.',
  'Delta is not allowed in names.',
  'Resolving conflicts is up to the owner.',
])('essence keeps the reason of a hook, on the server or here: %s', words => {
  expect(essence(`remote: ${words}        \n`)).toEqual([words])
  expect(essence(`${words}\n`)).toEqual([words])
})

test('essence keeps a hint of the server', () => {
  expect(essence('remote: hint: open a merge request\nhint: see help\n')).toEqual(['hint: open a merge request'])
})
