import { expect, it } from 'vitest'
import { formatDuration, parseDuration } from '../../../../../compiler/values/numbers/duration.ts'

const show = (text: string) => {
  const result = parseDuration(text)
  return result.ok ? formatDuration(result.value) : result.reason
}

it.each([
  ['0', '0s'],
  ['-0', '0s'],
  ['+0', '0s'],
  ['0s', '0s'],
  ['1d', '24h0m0s'],
  ['2w', '336h0m0s'],
  ['0.5d', '12h0m0s'],
  ['1.5h', '1h30m0s'],
  ['90m', '1h30m0s'],
  ['61s', '1m1s'],
  ['1h0m1s', '1h0m1s'],
  ['1w2d3h4m5s6ms', '219h4m5.006s'],
  ['500ms', '500ms'],
  ['1500us', '1.5ms'],
  ['100us', '100µs'],
  ['1µs', '1µs'],
  ['1μs', '1µs'],
  ['1ns', '1ns'],
  ['1.5ns', '1ns'],
  ['1.23456789us', '1.234µs'],
  ['1w1ns', '168h0m0.000000001s'],
  ['.5s', '500ms'],
  ['1.s', '1s'],
  ['1s1s', '2s'],
  ['+1s', '1s'],
  ['-1.5h', '-1h30m0s'],
  ['9223372036854775807ns', '2562047h47m16.854775807s'],
])('the duration %s is formatted as %s', (text, shown) => expect(show(text)).toBe(shown))

it.each([
  ['', 'it is empty', undefined, undefined],
  ['-', 'it is not a valid duration', undefined, undefined],
  ['10', 'the unit is missing', 'write `10s` for seconds, or another of `w d h m s ms us ns`', '10'],
  ['1h1', 'the unit is missing', expect.any(String), '1'],
  ['0.0', 'the unit is missing', expect.any(String), '0.0'],
  ['1M', '`M` is not a unit of time', 'write `1m`', '1M'],
  ['1h 5m', '`h ` is not a unit of time', 'write `1h`', '1h '],
  ['1e3s', '`e` is not a unit of time', expect.any(String), '1e'],
  ['5 seconds', '` seconds` is not a unit of time', expect.any(String), '5 seconds'],
  ['1d-2h', '`d-` is not a unit of time', expect.any(String), '1d-'],
  [' 1s', 'it is not a valid duration', expect.any(String), ' 1s'],
  ['s', 'it is not a valid duration', expect.any(String), 's'],
  ['2562048h', 'it is longer than 292 years', undefined, undefined],
  ['9'.repeat(200), 'it is not a valid duration', expect.any(String), undefined],
])('the duration %j is refused: %s', (text, reason, hint, place) => {
  const result = parseDuration(text)
  expect(result).toMatchObject({ ok: false, reason, ...(hint !== undefined && { hint }) })
  if (!result.ok && place !== undefined) expect(text.slice(result.start, result.end)).toBe(place)
})

it('parseDuration accepts a number without a unit if a unit is given', () => {
  expect(parseDuration('10', { unitless: 'seconds' })).toEqual({ ok: true, value: 10_000_000_000n })
  expect(parseDuration('1.5', { unitless: 'seconds' })).toEqual({ ok: true, value: 1_500_000_000n })
  expect(parseDuration('1h1', { unitless: 'seconds' }).ok).toBe(false)
})
