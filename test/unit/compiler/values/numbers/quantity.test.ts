import { expect, it } from 'vitest'
import { cpuQuantity, memoryQuantity, parseQuantity } from '../../../../../compiler/values/numbers/quantity.ts'

it.each([
  ['0', '0', 0n],
  ['1', '1', 1000n],
  ['0.5', '500m', 500n],
  ['.5', '500m', 500n],
  ['500m', '500m', 500n],
  ['1000m', '1', 1000n],
  ['1500m', '1500m', 1500n],
  ['1.5', '1500m', 1500n],
  ['100u', '100u', 1n],
  ['1n', '1n', 1n],
  ['1000', '1k', 1_000_000n],
  ['1M', '1M', 1_000_000_000n],
  ['1000M', '1G', 1_000_000_000_000n],
  ['1.5G', '1500M', 1_500_000_000_000n],
  ['1Ki', '1Ki', 1_024_000n],
  ['128Mi', '128Mi', 134_217_728_000n],
  ['1024Mi', '1Gi', 1_073_741_824_000n],
  ['1.5Gi', '1536Mi', 1_610_612_736_000n],
  ['0.5Ki', '512', 512_000n],
  ['0Mi', '0', 0n],
  ['1e3', '1e3', 1_000_000n],
  ['1E3', '1e3', 1_000_000n],
  ['1E', '1E', 10n ** 21n],
  ['12e6', '12e6', 12n * 10n ** 9n],
])('the canonical form of %s is %s', (text, canonical, milli) =>
  expect(parseQuantity(text)).toEqual({ ok: true, value: { canonical, milli } }),
)

it.each([
  ['', 'it is not a valid quantity'],
  ['x', 'it is not a valid quantity'],
  ['.', 'it is not a valid quantity'],
  ['1 Gi', 'it is not a valid quantity'],
  ['1..5', 'it is not a valid quantity'],
  ['-1', 'it must not be negative'],
  ['1GB', '`GB` is not a valid unit'],
  ['1g', '`g` is not a valid unit'],
  ['1K', '`K` is not a valid unit'],
  ['1e3Mi', '`Mi` is not a valid unit'],
  ['1e30', 'it is too large'],
])('the quantity %j is refused: %s', (text, reason) => expect(parseQuantity(text)).toMatchObject({ ok: false, reason }))

it('a hint suggests the intended unit', () => {
  expect(parseQuantity('1K')).toMatchObject({ hint: 'write `k`', start: 1, end: 2 })
  expect(parseQuantity('1mib')).toMatchObject({ hint: 'write `Mi`' })
})

it.each([
  ['0.5', '500m'],
  ['2', '2'],
  [1.5, '1500m'],
  [0.1, '100m'],
  [1e-7, '1m'],
  ['0.0001', '1m'],
  ['0.0011', '2m'],
  ['0', '0'],
  ['4000', '4k'],
  ['1500', '1500'],
  ['1e-1', '100m'],
])('%s CPUs are %s', (cpus, quantity) => expect(cpuQuantity(cpus)).toEqual({ ok: true, value: quantity }))

it.each(['', '500m', '-1', '1/2', 'all', Number.NaN])('%s is not a number of CPUs', cpus =>
  expect(cpuQuantity(cpus).ok).toBe(false),
)

it.each([
  [0n, '0'],
  [1n, '1'],
  [999n, '999'],
  [1000n, '1k'],
  [100_000_000n, '100M'],
  [1_500_000_000n, '1500M'],
  [123_456_789n, '123456789'],
  [1024n, '1Ki'],
  [1536n, '1536'],
  [134217728n, '128Mi'],
  [1610612736n, '1536Mi'],
  [1073741824n, '1Gi'],
  [2n ** 50n, '1Pi'],
  [2n ** 60n, '1Ei'],
])('%d bytes are %s', (bytes, quantity) => expect(memoryQuantity(bytes)).toBe(quantity))
