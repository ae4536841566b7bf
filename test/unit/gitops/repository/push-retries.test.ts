import { expect, test } from 'vitest'
import type { Rejection } from '../../../../adapters/git/rejection.ts'
import { mayRetry } from '../../../../gitops/repository/push-retries.ts'

const times = (count: number, kind: Rejection): readonly Rejection[] => Array(count).fill(kind)

test.each<[situation: string, failures: readonly Rejection[], expected: boolean]>([
  ['a server was not reached twice', times(2, 'unreachable'), true],
  ['a server has never been reached, three times', times(3, 'unreachable'), false],
  ['a server was reached before it became unreachable', ['broken', ...times(5, 'unreachable')], true],
  ['a race was lost before the server became unreachable', ['race', ...times(6, 'unreachable')], true],
  ['the connection broke six times', times(6, 'broken'), true],
  ['the connection broke seven times', times(7, 'broken'), false],
  ['the connection broke seven times, but not one after the other', [...times(6, 'broken'), 'race', 'broken'], true],
  ['another push was first twenty times', times(20, 'race'), true],
  ['the server refused the push', ['refused'], false],
  ['the server refused the push after another was first', ['race', 'refused'], false],
  ['the credentials are wrong', ['credentials'], false],
  ['the repository does not exist', ['missing'], false],
])('mayRetry decides after these failures whether to push again: %s', (_, failures, expected) => {
  expect(mayRetry(failures, false)).toBe(expected)
})

test('mayRetry retries longer if a server becomes unreachable after the fetch', () => {
  expect(mayRetry(times(6, 'unreachable'), true)).toBe(true)
  expect(mayRetry(times(7, 'unreachable'), true)).toBe(false)
})
