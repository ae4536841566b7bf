import { expect, test } from 'vitest'
import { isSettled, stateAfter, toldOf, wordsInBackground } from '../../../../../cli/run/develop/detach.ts'

test.each<[string, string, string]>([
  ['without the option itself', 'up api --detach', 'up api'],
  ['without values of variables', 'up --env A=1 api --env=B=2 --detach --reset', 'up api --reset'],
  ['with the name that was chosen', 'up --detach', 'up chosen'],
  ['what is for the container stays', 'up api --detach -- run --detach --env A=1', 'up api -- run --detach --env A=1'],
  [
    'its words, too',
    'up api --command run --command --detach --command --env',
    'up api --command run --command --detach --command --env',
  ],
])('wordsInBackground returns the command line for the background: %s', (_, words, wanted) => {
  const names = wanted.includes('chosen') ? ['chosen'] : []
  const [given, rest] = words.split(' -- ')
  const line = [...given!.split(' '), ...(rest === undefined ? [] : ['--', ...rest.split(' ')])]
  expect(wordsInBackground(line, names).join(' ')).toBe(wanted)
})

const STOPPED = { type: 'session-ended', dev: 'a', end: { kind: 'stopped', dev: 'a', reason: 'down' } } as const

test('the starting process is told that a session has ended', () => {
  expect(toldOf(STOPPED, 'a')).toEqual({ dev: 'a', event: STOPPED })
  expect(toldOf({ ...STOPPED, end: { kind: 'failed', error: new Error('no room') } }, 'a')).toEqual({
    dev: 'a',
    event: { type: 'status', service: 'a', state: 'failed', text: 'no room' },
  })
})

test('stateAfter returns the state of a development container that need not be waited for', () => {
  const ready = { type: 'status', service: 'a', state: 'ready', text: '' } as const
  expect(stateAfter(STOPPED, 'a')).toBe('ended')
  expect(stateAfter(ready, 'a')).toBe('ready')
  expect(stateAfter(ready, 'b')).toBeUndefined()
})

test.each([
  ['one is ready and the other has ended', { a: 'ended', b: 'ready' }, true],
  ['one has no state yet', { a: 'ended' }, false],
  ['all have ended, and so does the process', { a: 'ended', b: 'ended' }, false],
] as const)('isSettled decides whether to wait if %s', (_, states, expected) => {
  expect(isSettled(['a', 'b'], new Map(Object.entries(states)))).toBe(expected)
})
