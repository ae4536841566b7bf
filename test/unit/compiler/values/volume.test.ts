import { describe, expect, it } from 'vitest'
import { parseVolume } from '../../../../compiler/values/volume.ts'

const isDeclared = (name: string) => name === 'v'
const plain = { readOnly: false, nocopy: false, unknownOptions: [] }

describe('volumes', () => {
  it.each([
    ['/data', { type: 'volume', target: '/data', ...plain }],
    ['x', { type: 'volume', target: 'x', ...plain }],
    ['./rel', { type: 'volume', target: 'rel', ...plain }],
    ['/', { type: 'volume', target: '/', ...plain }],
    ['vol:/d', { type: 'volume', source: 'vol', target: '/d', ...plain }],
    ['vol:/d/', { type: 'volume', source: 'vol', target: '/d', ...plain }],
    ['vol:/a//b/../c', { type: 'volume', source: 'vol', target: '/a/c', ...plain }],
    ['vol:rel', { type: 'volume', source: 'vol', target: 'rel', ...plain }],
    ['a/b:/x', { type: 'volume', source: 'a/b', target: '/x', ...plain }],
    ['vol:/d:ro', { type: 'volume', source: 'vol', target: '/d', ...plain, readOnly: true }],
    ['vol:/d:ro,rw', { type: 'volume', source: 'vol', target: '/d', ...plain }],
    ['vol:/d:ro,', { type: 'volume', source: 'vol', target: '/d', ...plain, readOnly: true }],
    ['vol:/d:nocopy', { type: 'volume', source: 'vol', target: '/d', ...plain, nocopy: true }],
    ['vol:/d:rshared', { type: 'volume', source: 'vol', target: '/d', ...plain, propagation: 'rshared' }],
    ['vol:/d:cached', { type: 'volume', source: 'vol', target: '/d', ...plain }],
    [
      'vol:/d:foo,ro,RO',
      { type: 'volume', source: 'vol', target: '/d', ...plain, readOnly: true, unknownOptions: ['foo', 'RO'] },
    ],
    ['./x:/y', { type: 'bind', source: './x', target: '/y', ...plain }],
    ['.x:/y', { type: 'bind', source: '.x', target: '/y', ...plain }],
    ['..:/x', { type: 'bind', source: '..', target: '/x', ...plain }],
    ['~:/y', { type: 'bind', source: '~', target: '/y', ...plain }],
    ['~/x:/y', { type: 'bind', source: '~/x', target: '/y', ...plain }],
    ['/a:/b:rw,Z', { type: 'bind', source: '/a', target: '/b', ...plain, selinux: 'Z' }],
    ['../x:/y:ro,z', { type: 'bind', source: '../x', target: '/y', ...plain, readOnly: true, selinux: 'z' }],
    [
      './x:/y:rslave,ro',
      { type: 'bind', source: './x', target: '/y', ...plain, readOnly: true, propagation: 'rslave' },
    ],
    ['./x:/y:nocopy', { type: 'bind', source: './x', target: '/y', ...plain, nocopy: true }],
    ['C:/x:/y', { type: 'bind', source: 'C:/x', target: '/y', ...plain }],
    ['C:\\x:/y:ro', { type: 'bind', source: 'C:\\x', target: '/y', ...plain, readOnly: true }],
    ['\\\\.\\pipe\\x:/y', { type: 'bind', source: '\\\\.\\pipe\\x', target: '/y', ...plain }],
    ['v:/data', { type: 'volume', source: 'v', target: '/data', ...plain }],
    ['w:/data', { type: 'volume', source: 'w', target: '/data', ...plain }],
    ['w:/data:ro', { type: 'volume', source: 'w', target: '/data', ...plain, readOnly: true }],
    ['v:/data:ro', { type: 'volume', source: 'v', target: '/data', ...plain, readOnly: true }],
    ['${A:-./x}:/y', { type: 'volume', source: '${A:-./x}', target: '/y', ...plain }],
    ['./x:${B:-/a:b}:ro', { type: 'bind', source: './x', target: '${B:-/a:b}', ...plain, readOnly: true }],
  ])('the volume %s is read', (text, expected) => {
    const result = parseVolume(text, isDeclared)
    if (!result.ok) throw new Error(result.reason)
    const { sourceAt, targetAt, ...value } = result.value
    expect(value).toEqual(expected)
    expect(sourceAt && text.slice(...sourceAt)).toBe(value.source)
    expect(text.slice(...targetAt).length).toBeGreaterThanOrEqual(value.target.length)
  })

  it.each([
    ['', 'it is empty', ''],
    [':/foo', 'one side of a colon is empty', ':'],
    ['/foo:', 'one side of a colon is empty', ':'],
    ['vol::ro', 'one side of a colon is empty', '::'],
    ['vol:/d:', 'one side of a colon is empty', ':'],
    ['vol:/d:ro:z', 'it has too many colons', ':z'],
    ['C:\\x', '`C:\\x` is a Windows path', 'C:\\x'],
    ['C:\\x:ro', '`C:\\x` is a Windows path', 'C:\\x'],
    ['vol:C:/x', '`C:/x` is a Windows path', 'C:/x'],
  ])('the volume %j is refused: %s', (text, reason, place) => {
    const result = parseVolume(text, isDeclared)
    expect(result).toMatchObject({ ok: false, reason })
    if (!result.ok) expect(text.slice(result.start ?? 0, result.end ?? text.length)).toBe(place)
  })
})
