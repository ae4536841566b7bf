import { expect, test } from 'vitest'
import { typePlainScalar, typeTaggedScalar } from '../../../../compiler/text/scalar.ts'
import { goFloat } from '../../../../compiler/values/numbers/go-number.ts'

test.each([
  ['-0', 'float', '-0'],
  ['-0.0', 'float', '-0'],
  ['-00', 'int', '0'],
  ['-0x0', 'int', '0'],
  ['-0_', 'int', '0'],
  ['+0', 'int', '0'],
  ['0', 'int', '0'],
])('typePlainScalar reads %s as the reference loader does, which has a negative zero only for floats', (...row) => {
  const [text, expected, shown] = row
  const { type, value } = typePlainScalar(text)
  expect([type, type === 'float' ? goFloat(value as number) : String(value)]).toEqual([expected, shown])
})

test('typeTaggedScalar refuses -0 as an integer, as the reference loader does', () => {
  expect(typeTaggedScalar('-0', '!!int')).toBe('wrong')
  expect(typeTaggedScalar('-0', '!!float')).toEqual({ type: 'float', value: -0 })
})
