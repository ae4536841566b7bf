import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { IgnoredInterrupts } from '../../../../containers/run/ignored-interrupts.ts'

function watched() {
  const done: string[] = []
  let time = 0
  const interrupts = new IgnoredInterrupts({
    warn: () => done.push('warn'),
    end: () => done.push('end'),
    now: () => time,
  })
  const press = (...keys: readonly string[]) => {
    for (const key of keys) {
      time += 1000
      interrupts.typed(Buffer.from(key))
    }
  }
  const print = (text: string) => interrupts.printed(Buffer.from(text))
  return { done, interrupts, press, print }
}

test('the second Ctrl-C without effect is a warning, and the third ends the run', () => {
  const { done, press, print } = watched()
  press('\x03')
  print('^C')
  expect(done).toEqual([])
  press('\x03')
  print('^C\r\n')
  expect(done).toEqual(['warn'])
  press('\x03')
  expect(done).toEqual(['warn', 'end'])
})

test('a program that answers Ctrl-C with output, or gets other keys, is not ended', () => {
  const { done, press, print } = watched()
  for (let round = 0; round < 5; round++) {
    press('\x03')
    print('^C\r\n$ ')
  }
  press('\x03', 'l', '\x03', '\r', '\x03')
  expect(done).toEqual([])
})

test('a held key counts once, and all keys are passed on', async () => {
  const { done, interrupts } = watched()
  const input = new PassThrough()
  const keys = interrupts.keysTo(input)
  for (let index = 0; index < 5; index++) keys.write('\x03')
  keys.end()
  const received: Buffer[] = []
  for await (const part of input) received.push(part)
  expect(Buffer.concat(received).toString()).toBe('\x03'.repeat(5))
  expect(done).toEqual([])
})
