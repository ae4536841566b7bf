import { describe, expect, it } from 'vitest'
import { isAnnotationKey, isLabelKey, isLabelValue } from '../../../../compiler/values/annotation.ts'
import { isDnsLabel, isDnsSubdomain, shortHash, toDnsLabel } from '../../../../compiler/values/dns-name.ts'
import { parseImageReference } from '../../../../compiler/values/images/image-reference.ts'

describe('DNS names', () => {
  it.each([
    ['web', true],
    ['1a', true],
    ['a-b', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['-a', false],
    ['a-', false],
    ['A', false],
    ['a.b', false],
    ['a_b', false],
    ['', false],
  ])('%j is a label: %s', (text, expected) => expect(isDnsLabel(text)).toBe(expected))

  it.each([
    ['a.b', true],
    ['example.com', true],
    ['a..b', false],
    ['.a', false],
    ['', false],
    [`${'a'.repeat(60)}.`.repeat(4) + 'a'.repeat(10), false],
  ])('%j is a subdomain: %s', (text, expected) => expect(isDnsSubdomain(text)).toBe(expected))

  it.each([
    ['web', {}, 'web'],
    ['My_App', {}, 'my-app'],
    ['a..b__c', {}, 'a-b-c'],
    ['_x_', {}, 'x'],
    ['1web', {}, '1web'],
    ['1web', { letterFirst: true }, 's-1web'],
    ['Ünï', {}, 'n'],
    ['日本', {}, `x-${shortHash('日本', 5)}`],
    ['a'.repeat(63), {}, 'a'.repeat(63)],
    ['a'.repeat(64), {}, `${'a'.repeat(57)}-${shortHash('a'.repeat(64), 5)}`],
    ['abc-def-ghi', { max: 10 }, `abc-${shortHash('abc-def-ghi', 5)}`],
    ['1'.repeat(62), { letterFirst: true }, `s-${'1'.repeat(55)}-${shortHash('1'.repeat(62), 5)}`],
  ])('%j with %j becomes %s', (name, options, label) => {
    expect(toDnsLabel(name, options)).toBe(label)
    expect(isDnsLabel(label)).toBe(true)
  })

  it('shortHash uses SHA-256', () => {
    expect(shortHash('abc')).toBe('ba7816bf')
    expect(shortHash(new TextEncoder().encode('abc'), 5)).toBe('ba781')
  })
})

describe('annotations and labels', () => {
  it.each([
    ['a', true],
    ['com.example/x', true],
    ['com.example.x-y_z', true],
    ['Example.com/A', true],
    ['/a', false],
    ['a/', false],
    ['a/b/c', false],
    ['a b', false],
    ['-a', false],
    ['', false],
    ['x'.repeat(64), false],
    ['traefik.http.routers.web.rule', true],
    ['traefik.routers[0]', false],
  ])('%j is an annotation key: %s', (key, expected) => expect(isAnnotationKey(key)).toBe(expected))

  it('the prefix of a label must be lower case', () => {
    expect(isLabelKey('Example.com/a')).toBe(false)
    expect(isLabelKey('example.com/A')).toBe(true)
  })

  it.each([
    ['', true],
    ['a', true],
    ['A.b_c-1', true],
    ['a b', false],
    ['-a', false],
    ['a/b', false],
    ['x'.repeat(64), false],
  ])('%j is a label value: %s', (value, expected) => expect(isLabelValue(value)).toBe(expected))
})

describe('image references', () => {
  const digest = `sha256:${'0a'.repeat(32)}`
  it.each([
    ['nginx', { name: 'nginx' }],
    ['nginx:1.29', { name: 'nginx', tag: '1.29' }],
    ['library/nginx:latest', { name: 'library/nginx', tag: 'latest' }],
    ['localhost:5000/a', { name: 'localhost:5000/a' }],
    ['localhost:5000/a:b', { name: 'localhost:5000/a', tag: 'b' }],
    ['ghcr.io/o/i', { name: 'ghcr.io/o/i' }],
    ['Registry.Example.com/a', { name: 'Registry.Example.com/a' }],
    ['[::1]:5000/a:b', { name: '[::1]:5000/a', tag: 'b' }],
    ['a__b/c-d.e_f---g', { name: 'a__b/c-d.e_f---g' }],
    [`nginx@${digest}`, { name: 'nginx', digest }],
    [`r.io/nginx:1@${digest}`, { name: 'r.io/nginx', tag: '1', digest }],
  ])('%s is a reference', (text, reference) =>
    expect(parseImageReference(text)).toEqual({ ok: true, value: reference }),
  )

  it.each([
    ['', 'it is empty', ''],
    ['Nginx', '`Nginx` is not a valid image name', 'Nginx'],
    ['ghcr.io/My/App', '`ghcr.io/My/App` is not a valid image name', 'ghcr.io/My/App'],
    ['https://r.io/a', '`https://r.io/a` is not a valid image name', 'https://r.io/a'],
    ['a b', '`a b` is not a valid image name', 'a b'],
    ['a/', '`a/` is not a valid image name', 'a/'],
    ['a:', '`` is not a valid tag', ''],
    ['a:-x', '`-x` is not a valid tag', '-x'],
    [`a:${'x'.repeat(129)}`, `\`${'x'.repeat(129)}\` is not a valid tag`, 'x'.repeat(129)],
    ['a@sha256:12', '`sha256:12` is not a valid digest', 'sha256:12'],
    [`a@${digest.slice(0, -1)}`, `\`${digest.slice(0, -1)}\` is not a valid SHA-256 digest`, digest.slice(0, -1)],
    ['a'.repeat(256), 'the name is longer than 255 characters', 'a'.repeat(256)],
  ])('the reference %j is refused: %s', (text, reason, place) => {
    const result = parseImageReference(text)
    expect(result).toMatchObject({ ok: false, reason })
    if (!result.ok) expect(text.slice(result.start ?? 0, result.end ?? text.length)).toBe(place)
  })

  it('a hint suggests lower case', () => {
    expect(parseImageReference('ghcr.io/My/App')).toMatchObject({ hint: 'names are in lower case: `ghcr.io/my/app`' })
  })
})
