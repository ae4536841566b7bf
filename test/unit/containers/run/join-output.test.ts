import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { joinOutput, withoutOverlap } from '../../../../containers/run/join-output.ts'
import { never } from '../../../support/objects/deploying.ts'

/** Returns the output for a connection, and a log that a test writes. */
function joined({ log = '', early = '' }: { log?: string; early?: string }) {
  const attached = new PassThrough()
  if (early) attached.write(early)
  const state = { log, reads: 0 }
  const read = async () => {
    state.reads++
    return state.log
  }
  const output = joinOutput(attached, read, { quiet: 'press Enter', signal: never, untilOver: async () => {} })
  return {
    attached,
    state,
    output: text(output),
    untilRead: async () => {
      await expect.poll(() => state.reads).toBeGreaterThan(0)
      // The connection has to be silent for a moment.
      await setTimeout(60)
    },
  }
}

test('output from before the connection comes from the log, and later output from the connection', async () => {
  const { attached, state, output, untilRead } = joined({ log: 'one\ntwo\n' })
  await untilRead()
  attached.end('three\r\n')
  state.log = 'one\ntwo\nthree\n'
  expect(await output).toBe('one\r\ntwo\r\nthree\r\n')
})

test('output that is in the log and came over the connection is printed once, also if its lines are the same', async () => {
  const { attached, state, output, untilRead } = joined({ log: 'tick\ntick\ntick\n', early: 'tick\r\ntick\r\n' })
  await untilRead()
  attached.end('$ ')
  state.log += '$ \n'
  expect(await output).toBe('tick\r\ntick\r\ntick\r\n$ ')
})

test('the output of a program that ended before the connection comes from the log', async () => {
  const attached = new PassThrough()
  attached.destroy(new Error('the container has ended'))
  const output = joinOutput(attached, async () => 'all\n', {
    quiet: 'press Enter',
    signal: never,
    untilOver: async () => {},
  })
  expect(await text(output)).toBe('all\r\n')
})

test.each([
  ['hello\r\n', 'hello\n', 'hello\r\n'],
  ['two\r\n', 'one\ntwo\nthree\n', 'one\r\ntwo\r\nthree\r\n'],
  ['hello\r\n', '', 'hello\r\n'],
])(
  'of a program that ended soon, %j of the connection and %j of the log are printed as %j',
  async (early, log, all) => {
    const { attached, output } = joined({ log, early })
    await setTimeout(50)
    attached.end()
    expect(await output).toBe(all)
  },
)

test('the end of the output comes from the log if the connection has lost it', async () => {
  const { attached, state, output, untilRead } = joined({ log: 'one\n' })
  await untilRead()
  attached.end('two\r\n')
  state.log = 'one\ntwo\nthree\n'
  expect(await output).toBe('one\r\ntwo\r\nthree\r\n')
})

test('a program that prints nothing at first is announced', async () => {
  const { attached, state, output } = joined({})
  await setTimeout(1400)
  attached.end('late\r\n')
  state.log = 'late\n'
  expect(await output).toBe('press Enter\r\nlate\r\n')
})

test.each([
  ['a\nb\n', 'b\nc\n', 'a\n'],
  ['a\nb\n', 'c\n', 'a\nb\n'],
  ['a\nb\n', '', 'a\nb\n'],
  ['b\n', 'b\n', ''],
])('%j before %j is %j', (log, next, expected) => {
  expect(withoutOverlap(log, next)).toBe(expected)
})
