import { expect, test } from 'vitest'
import { deadlineOf, withDeadline } from '../../../../cli/run/deadline.ts'

const output = { isTTY: false, write: () => {} }
const io = (env: Readonly<Record<string, string>> = {}) => ({
  stdout: output,
  stderr: output,
  readStdin: async () => new Uint8Array(),
  cwd: '/',
  env,
})
const LONGEST_TIMER = 2 ** 31 - 1
const HOUR = 3_600_000

test.each([
  ['the option', {}, HOUR, HOUR],
  ['the option before the variable', { DEVCTL_TIMEOUT: '2h' }, HOUR, HOUR],
  ['the variable', { DEVCTL_TIMEOUT: '2h' }, undefined, 2 * HOUR],
  ['neither', {}, undefined, 300_000],
  ['an option beyond the longest timer', {}, 9999 * HOUR, LONGEST_TIMER],
  ['a variable beyond the longest timer', { DEVCTL_TIMEOUT: '600h' }, undefined, LONGEST_TIMER],
])('the deadline of a command comes from %s', (_, env, timeout, deadline) => {
  expect(deadlineOf(io(env), timeout)).toBe(deadline)
})

test('work under a very long deadline is not ended', async () => {
  const work = (signal: AbortSignal) =>
    new Promise<number>((done, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason as Error))
      setTimeout(done, 50, 0)
    })
  expect(await withDeadline(io(), { timeout: 600 * HOUR, hint: '' }, work)).toBe(0)
})
