import { describe, expect, it } from 'vitest'
import { type Lookup, substitute } from '../../../../compiler/text/template.ts'
import { measureProcessor } from '../../../support/processor-time.ts'

const values: Record<string, string> = { A: 'val', E: '', a: 'small', _x: 'under', LONG: 'x'.repeat(1 << 20) }
const lookup: Lookup = name => (name in values ? { value: values[name]!, origin: 'the shell' } : undefined)

function value(text: string): string {
  const result = substitute(text, lookup)
  if ('errors' in result) throw new Error(result.errors.map(error => error.message).join('; '))
  return result.value
}

function errors(text: string) {
  const result = substitute(text, lookup)
  return 'errors' in result ? result.errors : []
}

describe('values', () => {
  it.each([
    ['', ''],
    ['plain', 'plain'],
    ['$A', 'val'],
    ['${A}', 'val'],
    ['$_x', 'under'],
    ['$$A', '$A'],
    ['$$$A', '$val'],
    ['$$$$', '$$'],
    ['$A-x', 'val-x'],
    ['$A$A', 'valval'],
    ['$a.b', 'small.b'],
    ['$U', ''],
    ['x${U}y', 'xy'],
    ['$1', '$1'],
    ['$}', '$}'],
    ['$ x', '$ x'],
    ['a$', 'a$'],
    ['$é', '$é'],
    ['${U:-d}', 'd'],
    ['${U-d}', 'd'],
    ['${E-d}', ''],
    ['${E:-d}', 'd'],
    ['${A:-d}', 'val'],
    ['${U:-}', ''],
    ['${U:+p}', ''],
    ['${E+p}', 'p'],
    ['${E:+p}', ''],
    ['${A:+p}', 'p'],
    ['${A+$A!}', 'val!'],
    ['${E?e}', ''],
    ['${A:?e}', 'val'],
    ['${U:-$$x}', '$x'],
    ['$${U:-x}', '${U:-x}'],
    ['${U:-$A-${E:-e}}', 'val-e'],
    ['${U:-$${A}}', '${A}'],
    ['${U:-{"x":1}}', '{"x":1}'],
    ['${U:-{"x":"}"}}', '{"x":"}"}'],
    ['${A:-{"x":"}"}}', 'val}'],
    ['${U:-\\}}', '\\}'],
    ['${U:-a}b}c', 'ab}c'],
    ['${U-x?y}', 'x?y'],
    ['${U:-a:-b}', 'a:-b'],
    ['${U--1}', '-1'],
    ['${U:-a b  c}', 'a b  c'],
    ['${U:-"q"}', '"q"'],
    ['${U:-${V:-${W:-deep}}}', 'deep'],
    ['${U:-}${A:-}', 'val'],
    ['${U:-x}\n${A:-y}', 'x\nval'],
    ['${U:-{}', '{'],
    ['${U:-{}}-${V:-{}}', '{}-{}'],
    ['{ ${A:-x} }', '{ val }'],
    ['${A:-${1bad}}', 'val'],
    ['${U:+${1bad}}', ''],
    ['${A:?${1bad}}', 'val'],
  ])('substitute replaces %j by %j', (text, expected) => expect(value(text)).toBe(expected))
})

describe('errors', () => {
  it.each([
    ['${}', '`${}` has no variable name', 0, 3],
    ['${ A}', '`${ A}` is not a valid variable: names begin with a letter or `_`', 0, 5],
    ['${A }', '`${A }` is not a valid variable expression', 0, 5],
    ['${A!}', '`${A!}` is not a valid variable expression', 0, 5],
    ['${A:}', '`${A:}` is not a valid variable expression', 0, 5],
    ['${1A}', '`${1A}` is not a valid variable: names begin with a letter or `_`', 0, 5],
    ['${a.b}', '`${a.b}` is not a valid variable expression', 0, 6],
    ['${U:=x}', '`${U:=x}` sets a variable, which Compose does not support', 0, 7],
    ['${#A}', '`${#A}` is not a valid variable: names begin with a letter or `_`', 0, 5],
    ['${A/b/c}', '`${A/b/c}` is not a valid variable expression', 0, 8],
    ['${A', '`${A` has no `}` on its line', 0, 3],
    ['see ${A:-x\ny}', '`${A:-x` has no `}` on its line', 4, 10],
    ['${A:-a} } ${U', '`${U` has no `}` on its line', 10, 13],
    ['$A ${', '`${` has no `}` on its line', 3, 5],
    ['${U:-x ${1}}', '`${1}` is not a valid variable: names begin with a letter or `_`', 7, 11],
  ])('substitute reports the error in %j: %s', (text, message, start, end) => {
    expect(errors(text)).toMatchObject([{ kind: 'invalid', message, start, end }])
    expect(errors(text)[0]!.hint).toContain('$$')
  })

  it.each([
    ['${U?}', ''],
    ['${U:?}', ''],
    ['${U?set U}', 'set U'],
    ['${E:?not empty}', 'not empty'],
    ['${U?like $A}', 'like val'],
    ['${U?{x}}', '{x}'],
  ])('%j requires its variable', (text, message) => {
    expect(errors(text)).toEqual([{ kind: 'required', name: text[2], message, start: 0, end: text.length }])
  })

  it('substitute reports every error of a text', () => {
    expect(errors('${1} ${U?u} ${A!}').map(error => [error.kind, error.start])).toEqual([
      ['invalid', 0],
      ['required', 5],
      ['invalid', 12],
    ])
  })
})

describe('spans', () => {
  it('pieces map parts of the value to the text', () => {
    expect(substitute('a$$b ${A}c${U:-d$A}$', lookup)).toEqual({
      value: 'a$b valcdval$',
      pieces: [
        { at: 0, length: 1, start: 0, end: 1, verbatim: true },
        { at: 1, length: 1, start: 1, end: 3, verbatim: false },
        { at: 2, length: 2, start: 3, end: 5, verbatim: true },
        { at: 4, length: 3, start: 5, end: 9, verbatim: false },
        { at: 7, length: 1, start: 9, end: 10, verbatim: true },
        { at: 8, length: 1, start: 15, end: 16, verbatim: true },
        { at: 9, length: 3, start: 16, end: 18, verbatim: false },
        { at: 12, length: 1, start: 19, end: 20, verbatim: true },
      ],
      variables: [
        { name: 'A', origin: 'the shell', start: 5, end: 9 },
        { name: 'U', origin: 'its default', start: 10, end: 19 },
        { name: 'A', origin: 'the shell', start: 16, end: 18 },
      ],
      unset: [],
    })
  })

  it('pieces join literal dollars with the text around them', () => {
    expect(substitute('a$1 b$', lookup)).toMatchObject({
      pieces: [{ at: 0, length: 6, start: 0, end: 6, verbatim: true }],
    })
  })

  it('each use of an unset variable without a default or an alternative is listed', () => {
    expect(substitute('$U ${U} ${U:-} ${U+x} ${U:-$V}', lookup)).toMatchObject({
      unset: [
        { name: 'U', start: 0, end: 2 },
        { name: 'U', start: 3, end: 7 },
        { name: 'V', start: 27, end: 29 },
      ],
    })
  })
})

describe('cost', () => {
  it('substitute reports nesting that is too deep', () => {
    const deep = '${A1:-'.repeat(10_000)
    expect(errors(`${deep}x${'}'.repeat(10_000)}`)).toMatchObject([{ message: expect.stringContaining('100 levels') }])
    expect(errors(deep)).toMatchObject([{ message: '`${A1:-` has no `}` on its line' }])
    expect(errors(`${deep}}`)).toMatchObject([{ message: '`${A1:-` has no `}` on its line' }])
  })

  it('substitute accepts 100 levels', () => {
    expect(value(`${'${U:-'.repeat(100)}x${'}'.repeat(100)}`)).toBe('x')
  })

  it('the cost of a substitution is linear in the length of the text', () => {
    const text = '${U:-{ $A ${E:-x} } $$ '.repeat(50_000)
    const used = measureProcessor()
    substitute(text, lookup)
    substitute('${A:-x} $$ '.repeat(100_000), lookup)
    expect(used()).toBeLessThan(2000)
  })

  it('substitute limits the length of a value', () => {
    expect(errors('$LONG'.repeat(20))).toMatchObject([{ message: 'the value becomes larger than 16 MiB' }])
  })
})
