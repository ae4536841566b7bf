import { expect, test } from 'vitest'
import { toTerminal } from '../../../../cli/terminal/operation-events.ts'
import { NO_PROGRESS } from '../../../../cli/terminal/progress/events.ts'
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts'

test('a command prints a warning once, also if its operation reports it again, and every error', () => {
  let stderr = ''
  const stream = { isTTY: false, write: (text: string) => (stderr += text) }
  const io = { stdout: stream, stderr: stream, readStdin: async () => new Uint8Array(), env: {}, cwd: '/' }
  const on = toTerminal({ io, logLevel: 'warn' } as unknown as Parameters<typeof toTerminal>[0], NO_PROGRESS, 'text') // no more is used
  const one = (severity: Diagnostic['severity'], message: string): Diagnostic => ({ code: 'a/b', severity, message })
  on({ type: 'diagnostics', diagnostics: [one('warning', 'first'), one('error', 'wrong')] })
  on({ type: 'diagnostics', diagnostics: [one('warning', 'first'), one('warning', 'second'), one('error', 'wrong')] })
  const count = (text: string) => stderr.split(text).length - 1
  expect([count('first'), count('second'), count('wrong')]).toEqual([1, 1, 2])
})
