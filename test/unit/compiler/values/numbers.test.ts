import { describe, expect, it } from 'vitest'
import { parseExtraHost } from '../../../../compiler/values/hosts.ts'
import { formatFileMode, octalDigits, parseFileMode } from '../../../../compiler/values/numbers/file-mode.ts'
import { goFloat, toBool, toFloat, toInt } from '../../../../compiler/values/numbers/go-number.ts'

describe('goFloat', () => {
  it.each([
    [1.1, '1.1'],
    [1000000, '1e+06'],
    [123456, '123456'],
    [1234567, '1.234567e+06'],
    [1234567.5, '1.2345675e+06'],
    [123456789, '1.23456789e+08'],
    [999999.9, '999999.9'],
    [100000.5, '100000.5'],
    [1e5, '100000'],
    [1e20, '1e+20'],
    [1e21, '1e+21'],
    [1.5e300, '1.5e+300'],
    [0.0001, '0.0001'],
    [0.000123, '0.000123'],
    [0.00001, '1e-05'],
    [2.1e-5, '2.1e-05'],
    [1e-7, '1e-07'],
    [0.5, '0.5'],
    [-0.5, '-0.5'],
    [3, '3'],
    [0, '0'],
    [-0, '-0'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ])('goFloat writes %d as %s', (value, text) => expect(goFloat(value)).toBe(text))

  it.each([
    [0.1, '0.1'],
    [0.3, '0.3'],
    [1.123456789, '1.1234568'],
    [3.3333333, '3.3333333'],
    [16777217, '1.6777216e+07'],
  ])('goFloat writes %d in 32 bits as %s', (value, text) => expect(goFloat(value, 32)).toBe(text))
})

describe('casts', () => {
  it.each([
    ['1', 1],
    ['+1', 1],
    ['-1', -1],
    ['01', 1],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
  ])('%s is the whole number %s', (text, value) => expect(toInt(text)).toEqual({ ok: true, value }))

  it.each(['', ' 1', '1.0', '0x1', '1_0', '1e3', 'a', '9223372036854775808'])('%j is not a whole number', text =>
    expect(toInt(text).ok).toBe(false),
  )

  it.each([
    ['0.5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e-1', 0.1],
    ['+1', 1],
    ['1_0', 10],
  ])('%s is the number %d', (text, value) => expect(toFloat(text)).toEqual({ ok: true, value }))

  it.each(['', ' 1', '500m', '1/2', 'inf', 'NaN', '.', '1e999'])('%j is not a number', text =>
    expect(toFloat(text).ok).toBe(false),
  )

  it.each(['true', 'True', 'TRUE'])('%s is true', text => expect(toBool(text)).toEqual({ ok: true, value: true }))
  it.each(['y', 'yes', 'Yes', 'on', 'ON'])('%s is true in YAML 1.1', text =>
    expect(toBool(text)).toEqual({ ok: true, value: true, yaml11: true }),
  )
  it.each(['n', 'no', 'oFF', 'N'])('%s is false in YAML 1.1', text =>
    expect(toBool(text)).toEqual({ ok: true, value: false, yaml11: true }),
  )
  it.each(['', '1', '0', 't', ' true'])('%j is not a boolean', text => expect(toBool(text).ok).toBe(false))
})

describe('file modes', () => {
  it.each([
    ['0440', 0o440],
    ['440', 0o440],
    ['+440', 0o440],
    ['07777', 0o7777],
    [0o440, 0o440],
    [440, 0o670],
    [1777, 0o3361],
    [0n, 0],
  ])('%s is a file mode', (value, mode) => expect(parseFileMode(value)).toEqual({ ok: true, value: mode }))

  it.each(['', '999', '008', '0o440', '0x1', '4 4', '-1', '17777', -1, 4.4, 0o10000])('%s is not a file mode', value =>
    expect(parseFileMode(value)).toMatchObject({ ok: false, reason: 'it is not a valid file mode' }),
  )

  it.each([
    ['644', 0o644],
    ['755', 0o755],
    ['400', 0o400],
    ['1777', 0o1777],
    // Values that exceed 0777 as decimal numbers must be octal.
    ['666', 0o666],
    ['622', 0o622],
    // 0644, 0400, 0640 and 0555 in decimal: as octal, the owner would have less than the group.
    ['420', undefined],
    ['256', undefined],
    ['416', undefined],
    ['365', undefined],
    ['292', undefined],
    ['0644', undefined],
    ['44', undefined],
  ])('octalDigits reads %s as the mode %s', (written, mode) => expect(octalDigits(written)).toBe(mode))

  it('a file mode is shown in octal', () => expect(formatFileMode(0o440)).toBe('0440'))
})

describe('extra hosts', () => {
  it.each([
    ['a=1.2.3.4', ['1.2.3.4']],
    ['a:1.2.3.4', ['1.2.3.4']],
    ['a=1.1.1.1,2.2.2.2', ['1.1.1.1', '2.2.2.2']],
    ['a=::1', ['::1']],
    ['a:::1', ['::1']],
    ['a=[::1]', ['::1']],
    ['a:[::1]', ['::1']],
    ['a:::1,::2', ['::1', '::2']],
    ['a = 1.2.3.4', ['1.2.3.4']],
    ['a=host-gateway', ['host-gateway']],
    ['a=x:y', ['x:y']],
  ])('the extra host %s is read', (text, addresses) =>
    expect(parseExtraHost(text)).toEqual({ ok: true, value: { host: 'a', addresses } }),
  )

  it.each([
    ['a', 'the IP address is missing'],
    ['a=', 'the IP address is missing'],
    ['a:', 'the IP address is missing'],
    ['a=1.1.1.1,', 'the IP address is missing'],
    ['', 'the IP address is missing'],
    ['=1.2.3.4', 'the host name is missing'],
    [':1.2.3.4', 'the host name is missing'],
    ['a:b=1.2.3.4', '`a:b` is not a valid host name'],
  ])('the extra host %j is refused: %s', (text, reason) =>
    expect(parseExtraHost(text)).toMatchObject({ ok: false, reason }),
  )
})
