import { expect, it } from 'vitest'
import { parseBytes } from '../../../../../compiler/values/numbers/bytes.ts'

it.each([
  ['0', 0n],
  ['1', 1n],
  ['+1', 1n],
  ['-1', -1n],
  ['007', 7n],
  ['1b', 1n],
  ['1B', 1n],
  ['1k', 1024n],
  ['1K', 1024n],
  ['1kb', 1024n],
  ['1kB', 1024n],
  ['1KiB', 1024n],
  ['1 kb', 1024n],
  ['1m', 1048576n],
  ['64Mb', 67108864n],
  ['1g', 1073741824n],
  ['1 g', 1073741824n],
  ['1.5g', 1610612736n],
  ['1.g', 1073741824n],
  ['.5g', 536870912n],
  ['1tb', 1099511627776n],
  ['1pib', 1125899906842624n],
  ['8191p', 9222246136947933184n],
  ['1.1k', 1126n],
  ['0.3k', 307n],
  ['1.0000001g', 1073741931n],
  ['1e3', 1000n],
  ['1_000', 1000n],
  ['100Ki', 102400n],
  ['100Mi', 104857600n],
  ['1Gi', 1073741824n],
  ['2Ti', 2199023255552n],
  ['9223372036854775807', 9223372036854775807n],
  [512, 512n],
  [2n ** 53n + 1n, 2n ** 53n + 1n],
])('the size %s has %s bytes', (value, bytes) => expect(parseBytes(value)).toEqual({ ok: true, value: bytes }))

it.each([
  ['', 'it is not a valid size'],
  ['k', 'it is not a valid size'],
  [' 1k', 'it is not a valid size'],
  ['1k ', 'it is not a valid size'],
  ['1  g', 'it is not a valid size'],
  ['1,5g', 'it is not a valid size'],
  ['0x10', 'it is not a valid size'],
  ['inf', 'it is not a valid size'],
  ['1e', '`e` is not a valid unit'],
  ['512 megabytes', '`megabytes` is not a valid unit'],
  ['-1k', 'it must not be negative'],
  ['1.5', 'it is not a whole number of bytes'],
  ['1.5b', 'it is not a whole number of bytes'],
  ['8192p', 'it is too large'],
  ['9223372036854775808', 'it is too large'],
  ['1e999', 'it is too large'],
  [1.5, 'it is not a whole number of bytes'],
  [Number.NaN, 'it is not a whole number of bytes'],
])('the size %s is refused: %s', (value, reason) => {
  expect(parseBytes(value)).toMatchObject({ ok: false, reason })
})

it('parseBytes points at the unknown unit', () => {
  expect(parseBytes('12 furlongs')).toMatchObject({ start: 3, end: 11 })
})
