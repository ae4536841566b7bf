import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Masker } from '../../../../../compiler/values/secrets/masker.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('mask', () => {
  test.each([
    ['a plain value', ['s3cret'], 'x s3cret y', 'x *** y'],
    ['twice', ['s3cret'], 's3crets3cret s3cret', '****** ***'],
    ['values that overlap', ['abcdef', 'defghi'], '-abcdefghi-', '-***-'],
    ['the longer of two', ['abcd', 'abcdefgh'], 'abcdefgh abcd', '*** ***'],
    ['no value of three characters', ['abc', ''], 'abc', 'abc'],
    ['characters that mean something in patterns', ['a.*(b'], 'a.*(b axxb', '*** axxb'],
    ['lines of a value, wherever they are', ['line one\nline two\n'], '  line two | line one', '  *** | ***'],
    ['base64', ['hunter2hunter2'], `data: ${base64('hunter2hunter2')}`, 'data: ***'],
    ['base64 with a line end in it, as echo makes it', ['hunter2hunter2'], base64('hunter2hunter2\n'), '***'],
    ['what is percent-encoded', ['p@ss/word'], 'https://u:p%40ss%2Fword@host', 'https://u:***@host'],
    ['what is in JSON', ['say "hello"'], '{"a":"say \\"hello\\""}', '{"a":"***"}'],
  ])('mask replaces secrets: %s', (_, secrets, text, expected) => {
    expect(new Masker(secrets).mask(text)).toBe(expected)
  })

  test.each([
    ['rain', '***'],
    ['train', 'train'],
    ['-prain --prain "-prain"', '-p*** --p*** "-p***"'],
    ['x-train', 'x-train'],
    ['rain-x', '***-x'],
  ])('mask replaces a short word between other characters, and after the letter of an option: %s', (text, expected) => {
    expect(new Masker(['rain'], { words: new Set(['rain']) }).mask(text)).toBe(expected)
  })

  test.each([0, 1, 2, 3, 4])('mask replaces a secret inside other base64, after %i characters', before => {
    const secret = 'correct-horse-battery-staple'
    const masked = new Masker([secret]).mask(base64(`${'x'.repeat(before)}${secret}:more`))
    expect(masked).toContain('***')
    expect(Buffer.from(masked, 'base64').toString()).not.toContain('horse')
    // Only characters that share bits with other text stay.
    expect(masked.length).toBeLessThan(base64(`${'x'.repeat(before)}:more`).length + 8)
  })

  test('mask replaces base64 in lines of 76 characters', () => {
    const secret = 'k'.repeat(30) + 'v'.repeat(120)
    const printed = base64(secret).replace(/.{76}/g, '$&\n')
    expect(new Masker([secret]).mask(printed)).toBe('***\n***\n***')
  })
})

describe('stream', () => {
  test('a stream finds the same secrets in chunks as in the whole text', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'abab', 'hunter22', '\n', 'aGVsbG8td29ybGQ=', ' '), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(text, fc.array(fc.nat(60)), (words, cuts) => {
        const whole = words.join('')
        const masker = new Masker(['abab', 'hunter22', 'hello-world'])
        const stream = masker.stream()
        const ends = [...new Set(cuts.map(cut => Math.min(cut, whole.length)))].sort((a, b) => a - b)
        const parts = [...ends, whole.length].map((end, at) => whole.slice(at === 0 ? 0 : ends[at - 1], end))
        const given = parts.map(part => stream.push(part)).join('') + stream.end()
        for (const secret of ['abab', 'hunter22', 'aGVsbG8td29ybGQ']) expect(given).not.toContain(secret)
        expect(given).toBe(masker.mask(whole))
      }),
    )
  })

  test('a stream holds back only text that may start a secret, and nothing of a complete line', () => {
    const stream = new Masker(['0123456789']).stream()
    expect(stream.push('a line\n')).toBe('a line\n')
    // The longest form is its base64 with a line break, 16 characters.
    expect(stream.push(`${'x'.repeat(100)}01234`)).toBe('x'.repeat(90))
    expect(stream.push('56789\n')).toBe(`${'x'.repeat(10)}***\n`)
  })

  test('a stream without secrets passes everything on', () => {
    const stream = new Masker([]).stream()
    expect(stream.push('half')).toBe('half')
    expect(stream.end()).toBe('')
  })
})

test('thousands of secrets with a common prefix are found quickly', () => {
  const secrets = Array.from({ length: 10_000 }, (_, n) => `s3cr3t-${n}-x`)
  const before = process.cpuUsage()
  const masker = new Masker(secrets)
  expect(masker.mask(`${secrets.map(secret => `a ${secret} s3cr3t-b`).join('\n')}\n`)).not.toContain('-x')
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_500)
})
