import { expect, test } from 'vitest'
import type { OperationEvent } from '../../../../api/events.ts'
import type { LogLevel } from '../../../../cli/command.ts'
import { toTerminal } from '../../../../cli/terminal/operation-events.ts'
import { printDestroyed } from '../../../../cli/terminal/print-destroyed.ts'
import { NO_PROGRESS } from '../../../../cli/terminal/progress/events.ts'
import { printsDiagnostics } from '../../../../cli/terminal/report.ts'

type Shown = Parameters<typeof toTerminal>[0]

/** Returns a context, and the standard error of what is printed in it. */
function contextAt(logLevel: LogLevel) {
  const said = { text: '' }
  const stream = { isTTY: false, write: (text: string) => (said.text += text) }
  const io = { stdout: stream, stderr: stream, readStdin: async () => new Uint8Array(), env: {}, cwd: '/' }
  return { context: { io, logLevel } as unknown as Shown, said } // no more is used
}

const WARNING: OperationEvent = { type: 'warning', text: 'uncommitted changes' }
const OUTCOME = {
  environment: 'shop',
  namespace: 'shop',
  wasEmpty: false,
  isNamespaceGone: false,
  deleted: [],
  kept: ['persistentvolumeclaim/data'],
  held: [{ object: 'pod/a', why: 'it is needed' }],
  volumes: false,
  waits: true,
  left: [],
  milliseconds: 1,
} as unknown as Parameters<typeof printDestroyed>[1] // no more is used

test.each<readonly [string, (context: Shown) => void]>([
  ['a warning', context => toTerminal(context, NO_PROGRESS, 'text')(WARNING)],
  ['a warning without progress', context => printsDiagnostics(context)(WARNING)],
  [
    'a closed request',
    context => toTerminal(context, NO_PROGRESS, 'text')({ type: 'request-closed', url: 'https://x/pr/1' }),
  ],
  ['what a destroy kept', context => printDestroyed(context, OUTCOME)],
])('the log level `error` leaves out %s', (_, print) => {
  const [usual, quiet] = [contextAt('warn'), contextAt('error')]
  print(usual.context)
  print(quiet.context)
  expect(usual.said.text).not.toBe('')
  expect(quiet.said.text).toBe('')
})

test('a warning is an object of JSON at each log level', () => {
  const { context, said } = contextAt('error')
  toTerminal(context, NO_PROGRESS, 'json')(WARNING)
  expect(JSON.parse(said.text)).toMatchObject({ message: 'uncommitted changes' })
})
