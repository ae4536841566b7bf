import { expect, test } from 'vitest'
import { openPage } from '../../../../adapters/process/browser.ts'
import { runProgram } from '../../../../adapters/process/run-program.ts'

/** Value that exceeds the limit of Linux for a variable, and with the rest of the environment that of macOS. */
const LONG = 'x'.repeat(1 << 20)

test.each<[string, string, readonly string[], object, string]>([
  ['a variable that is too long', 'true', [], { env: { LONG } }, 'E2BIG'],
  ['a path below a file', '/etc/passwd/x', [], {}, 'ENOTDIR'],
  ['a file as the folder', 'true', [], { folder: '/etc/passwd' }, 'ENOTDIR'],
  ['a program that does not exist', '/does/not/exist', [], {}, 'ENOENT'],
  ['an argument with a NUL byte', 'true', ['a\0b'], {}, 'ERR_INVALID_ARG_VALUE'],
])('runProgram does not reject for %s', async (_, program, words, options, code) => {
  const { status, failure } = await runProgram(program, words, { env: {}, signal: undefined, ...options })
  expect({ status, code: failure?.code }).toEqual({ status: -1, code })
})

test('a page is not opened by a program whose path cannot exist', async () => {
  expect(await openPage(['/etc/passwd/x'], 'https://example.com', {})).toBe(false)
})
