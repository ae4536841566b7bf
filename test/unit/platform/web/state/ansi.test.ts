import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainText, readAnsi } from '../../../../../platform/web/state/ansi.ts'

const ESC = '\u001b'

describe('a line of a log', () => {
  test.each([
    ['plain', [['plain', '']]],
    [
      `${ESC}[31mred${ESC}[0m plain`,
      [
        ['red', 'ansi-1'],
        [' plain', ''],
      ],
    ],
    [
      `${ESC}[1;92mbold${ESC}[22m green`,
      [
        ['bold', 'ansi-bold ansi-10'],
        [' green', 'ansi-10'],
      ],
    ],
    [
      `${ESC}[43;30mon${ESC}[49;39m off`,
      [
        ['on', 'ansi-0 ansi-on-3'],
        [' off', ''],
      ],
    ],
    [`${ESC}[38;5;9mbright${ESC}[m`, [['bright', 'ansi-9']]],
    // A color without a class is ignored, and its numbers are not read as other codes.
    [
      `${ESC}[38;2;31;1;4mtrue${ESC}[38;5;201m 256`,
      [
        ['true', ''],
        [' 256', ''],
      ],
    ],
    [`${ESC}[4:3mcurly`, [['curly', 'ansi-underline ansi-italic']]],
    // Cursor moves, titles, links and clears are not shown.
    [
      `${ESC}[2K${ESC}[1Ga${ESC}]0;title\u0007b${ESC}]8;;https://evil.example.com${ESC}\\c${ESC}(Bd${ESC}`,
      [
        ['a', ''],
        ['b', ''],
        ['c', ''],
        ['d', ''],
      ],
    ],
    ['10 %\r50 %\r100 %\r', [['100 %', '']]],
    ['a\tb', [['a\tb', '']]],
    ['\u202egnp.exe\u0007', [['\\u{202e}gnp.exe\\u{7}', '']]],
    ['<img src=x onerror=alert(1)>', [['<img src=x onerror=alert(1)>', '']]],
  ])('readAnsi reads %j', (line, expected) => {
    expect(readAnsi(line).map(({ text, look }) => [text, look])).toEqual(expected)
  })

  test('readAnsi returns only known classes, and no control characters', () => {
    const part = fc.oneof(
      fc.array(fc.nat(0x2100), { maxLength: 6 }).map(codes => String.fromCharCode(...codes)),
      fc.constantFrom(`${ESC}[`, 'm', ';', '38', '5', '\u202e', '\r', '\u009b', `${ESC}]`),
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map(parts => parts.join('')),
        line => {
          const spans = readAnsi(line)
          expect(spans.map(({ look }) => look).filter(look => !/^(ansi-[a-z0-9-]+( |$))*$/.test(look))).toEqual([])
          expect(spans.map(({ text }) => text).join('')).not.toMatch(
            /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
          )
        },
      ),
    )
  })

  test('plainText removes the escapes for the search', () => {
    expect(plainText(`${ESC}[1mb${ESC}[0mold`)).toBe('bold')
  })

  test('a very long line is read quickly', () => {
    expect(readAnsi(`${ESC}[`.repeat(60_000)).length).toBeLessThan(2)
    expect(readAnsi('\r'.repeat(200_000))).toEqual([])
    expect(plainText(`${'\r'.repeat(200_000)}x`)).toBe('x')
    expect(plainText(`${'a\r'.repeat(100_000)}${`${ESC} `.repeat(50_000)}0x`)).toMatch(/x$/)
  })
})
