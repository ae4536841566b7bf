import { expect, it } from 'vitest'
import { splitWords, splitWordsAt } from '../../../../compiler/values/words.ts'

it.each([
  ['', []],
  ['  ', []],
  ['echo hi', ['echo', 'hi']],
  ['a  b', ['a', 'b']],
  ['a\tb\r\nc', ['a', 'b', 'c']],
  ["''", ['']],
  ["a '' b", ['a', '', 'b']],
  ['a "" b', ['a', '', 'b']],
  ["a'b'c", ['abc']],
  ['a"b"c', ['abc']],
  ['"a b"c d', ['a bc', 'd']],
  ["'a;b' c", ['a;b', 'c']],
  ['"a && b"', ['a && b']],
  ['sh -c "a && b"', ['sh', '-c', 'a && b']],
  ['a\\;b', ['a;b']],
  ['a\\ b', ['a b']],
  ["'a\\nb'", ['a\\nb']],
  ['"a\\nb"', ['anb']],
  ['"a\\"b"', ['a"b']],
  ['"\\\\"', ['\\']],
  ['a\\\nb', ['a\nb']],
  ["'it'\\''s'", ["it's"]],
  ['"it\'s"', ["it's"]],
  ['$(x y) z', ['$(x y)', 'z']],
  ['$(a ; b)', ['$(a ; b)']],
  ['"$(x y)"', ['$(x y)']],
  ['`x y` z', ['`x y`', 'z']],
  ['`a ; b`', ['`a ; b`']],
  ['"`"', ['`']],
  ['"("', ['(']],
  ['\\(', ['(']],
  ['# c', ['#', 'c']],
  ['a # c', ['a', '#', 'c']],
  ['$A ${B} * ~ {a,b}', ['$A', '${B}', '*', '~', '{a,b}']],
  ['a=b', ['a=b']],
])('splitWords splits %j into %j', (text, words) => expect(splitWords(text)).toEqual({ ok: true, value: words }))

it.each([
  ['npm install && npm start', '&&'],
  ['a || b', '||'],
  ['x 2>&1', '2>&1'],
  ['a2>x', '>'],
  ['a 2> f', '2>'],
  ['a >> f', '>>'],
  ['a;b', ';'],
  ['a|b', '|'],
  ['a < f', '<'],
  ['a&', '&'],
  ['a (b)', '('],
  ['a)', ')'],
  ['$((1+2))', '('],
])('%j needs a shell for %s', (text, operator) => {
  const start = text.indexOf(operator, text.startsWith('$') ? 2 : 0)
  expect(splitWords(text)).toEqual({
    ok: false,
    reason: `\`${operator}\` needs a shell, and commands run without one`,
    hint: expect.stringContaining('["sh", "-c", "…"]'),
    start,
    end: start + operator.length,
  })
})

it.each([
  ["a 'b", 'a single quote is not closed', 2],
  ['a "b', 'a double quote is not closed', 2],
  ['a `b', 'a backquote is not closed', 2],
  ['$(x', 'a bracket is not closed', 1],
  ['a\\', 'it ends with a backslash', 1],
])('the command %j is refused: %s', (text, reason, start) =>
  expect(splitWords(text)).toMatchObject({ ok: false, reason, start, end: text.length }),
)

it('splitWordsAt returns where each argument was written, with its quotes', () => {
  const text = ' a  "b c"d\t\'\' $(e f) '
  const split = splitWordsAt(text)
  expect(split.ok && split.value.map(({ word, start, end }) => [word, text.slice(start, end)])).toEqual([
    ['a', 'a'],
    ['b cd', '"b c"d'],
    ['', "''"],
    ['$(e f)', '$(e f)'],
  ])
})
