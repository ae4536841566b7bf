import { expect, test } from 'vitest'
import { mayMove } from '../../../../../compiler/values/images/build-context.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

test.each([
  ['https://example.com/a.git', true],
  ['https://example.com/a.git#main', true],
  ['https://example.com/a.git#v1.2:app', true],
  [`https://example.com/a.git#${COMMIT.slice(0, 12)}`, true],
  [`https://example.com/a.git#${COMMIT}`, false],
  [`https://example.com/a.git#${COMMIT}:app`, false],
  [`https://example.com/a.git#${COMMIT}0`, true],
  [`https://example.com/a.git#branch:${COMMIT}`, true],
  [`git@example.com:a.git#${COMMIT}`, false],
  ['git@example.com:a.git', true],
  [`github.com/me/a#${COMMIT}`, false],
  ['github.com/me/a', true],
  // An archive has no commits, and BuildKit ignores the fragment.
  ['https://example.com/a.tar.gz', true],
  [`https://example.com/a.tar.gz#${COMMIT}`, true],
  [`https://example.com/a.tar.gz?from=b.git#${COMMIT}`, true],
  ['docker-image://busybox', false],
])('the content of %s may change: %s', (address, expected) => {
  expect(mayMove(address)).toBe(expected)
})
