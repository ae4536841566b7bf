import { expect, test } from 'vitest'
import { LogLines } from '../../../../builds/failures/log-lines.ts'
import { Masker } from '../../../../compiler/values/secrets/masker.ts'

const SECRET = 'opensesame-1234'
const masker = new Masker([SECRET])
const lines = () => new LogLines(text => masker.mask(text))
const bytes = (text: string) => new TextEncoder().encode(text)

test('every cut of the bytes gives the same lines', () => {
  const text = `one\n画像 ${SECRET} 👩‍👩‍👧‍👦\r\n  10%\r 20%\rdone\n\nrest ${SECRET}`
  const all = bytes(text)
  for (let cut = 0; cut <= all.length; cut++) {
    const log = lines()
    const found = [...log.push(all.subarray(0, cut)), ...log.push(all.subarray(cut)), ...log.end()]
    expect(found, `cut at ${cut}`).toEqual(['one', '画像 *** 👩‍👩‍👧‍👦', 'done', '', 'rest ***'])
  }
})

test('a line without an end is shown whole when its step ends', () => {
  const log = lines()
  expect(log.push(bytes('open'))).toEqual([])
  expect(log.push(bytes('sesame-1234 '))).toEqual([])
  expect(log.end()).toEqual(['*** '])
  expect(log.end()).toEqual([])
})

test('a line of megabytes is cut', () => {
  const log = lines()
  for (let piece = 0; piece < 200; piece++) expect(log.push(bytes('x'.repeat(10_000)))).toEqual([])
  const [line = ''] = log.push(bytes('\n'))
  expect(line.length).toBeLessThan(20_000)
  expect(line).toMatch(/^x+…$/)
})

test.each([16_384, 61_440, 65_536])('a secret is not shown in part if the line is cut in it (%i)', limit => {
  for (const before of [limit - 4, limit - 8, limit - 14]) {
    const log = lines()
    const [line = ''] = log.push(bytes(`${'x'.repeat(before)}${SECRET}${'y'.repeat(100_000)}\n`))
    expect(line).not.toMatch(/open/)
    expect(line.length).toBeLessThan(20_000)
  }
})

test('a line that is overwritten in place is shown in its last state', () => {
  const log = lines()
  for (let piece = 0; piece < 100_000; piece++) log.push(bytes(`${piece} %\r`))
  expect(log.push(bytes('\n'))).toEqual(['99999 %'])
})
