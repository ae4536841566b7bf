import { describe, expect, test } from 'vitest'
import { outlineOf } from '../../../../editor/text/outline.ts'
import { pathOf } from '../../../../editor/text/outline-node.ts'

/** Returns the paths of all nodes, with their scalars. */
const shown = (text: string): readonly string[] =>
  outlineOf(text).all.map(node => `${pathOf(node).join('.')}${node.scalar ? `=${node.scalar.text}` : ''}`)

const long = `${'a: "'.repeat(20_000)}\n${'- ['.repeat(20_000)}\n${' '.repeat(200_000)}x: {`

describe('outlineOf', () => {
  test.each<readonly [string, string, readonly string[]]>([
    ['mappings', 'a:\n  b: 1\n  c: 2\nd: 3\n', ['a', 'a.b=1', 'a.c=2', 'd=3']],
    ['a list further right', 'a:\n  - x\n  - y: 1\n    z: 2\n', ['a', 'a.0=x', 'a.1', 'a.1.y=1', 'a.1.z=2']],
    ['a list below its key', 'a:\n- x\n- y\nb: 1', ['a', 'a.0=x', 'a.1=y', 'b=1']],
    ['a list of lists', '- - a\n  - b\n- c', ['0', '0.0=a', '0.1=b', '1=c']],
    ['quotes', "\"a b\": \"x # y\"\n'c': 'it''s' # d", ['a b=x # y', "c=it''s"]],
    ['comments', '# a: 1\nb: x#y # c\n  # d: 2\n', ['b=x#y']],
    ['block texts', 'a: |\n  b: 1\n\n  c: 2\nd: >-\n  e\nf: 1', ['a', 'd', 'f=1']],
    ['a text in several lines', 'a: "x\n  b: 1"\nc: y\n  z\nd: 1', ['a=x\n  b: 1', 'c=y', 'd=1']],
    [
      'braces',
      'a: {b: 1, c: {d: [e, "f, g"]}}\nh: 1',
      ['a', 'a.b=1', 'a.c', 'a.c.d', 'a.c.d.0=e', 'a.c.d.1=f, g', 'h=1'],
    ],
    ['brackets in several lines', 'a: [\n  x,\n  y\n]\nb: 1', ['a', 'a.0=x', 'a.1=y', 'b=1']],
    ['an open bracket', 'a:\n  b: [x, y\n  c: 1', ['a', 'a.b', 'a.b.0=x', 'a.b.1=y', 'a.c=1']],
    ['an open quote', 'a:\n  b: "x\n  c: 1', ['a', 'a.b=x', 'a.c=1']],
    ['anchors and tags', 'a: &x\n  b: !reset 1\nc: *x\nd: &y 2', ['a', 'a.b=1', 'c=*x', 'd=2']],
    ['a key without a colon', 'a:\n  b: 1\n  ima\n  c: 2', ['a', 'a.b=1', 'a.ima', 'a.c=2']],
    ['several documents', 'a: 1\n---\nb: 2', ['a=1', 'b=2']],
    ['Windows line ends', 'a:\r\n  b: 1\r\n  c: x\r\n', ['a', 'a.b=1', 'a.c=x']],
    ['an address', 'a: http://x:80/y\nb: 10:20', ['a=http://x:80/y', 'b=10:20']],
  ])('reads %s', (_, text, expected) => {
    expect(shown(text)).toEqual(expected)
  })

  test.each([
    'a: &x\n  b: !reset\n  c: &y\nd: *x\n',
    'a: |\n  b: 1\n\n  c: 2\nd: >- # e\n  f\ng: 1\n',
    'a: &x |\n  b: 1\nc: &y # d\n  - &z\n    e: 1\n  -\n    f: 2\n',
    'a: {b: &x # c\n  d, e: [&y\n  f]}\ng: "h\n  i"\n',
  ])('reads Windows line ends as those of other systems: %j', text => {
    const nodes = (read: string) => outlineOf(read).all.map(({ step, anchor, scalar }) => [step, anchor, scalar?.text])
    const withoutReturns = JSON.stringify(nodes(text.replaceAll('\n', '\r\n'))).replaceAll('\\r', '')
    expect(JSON.parse(withoutReturns)).toEqual(JSON.parse(JSON.stringify(nodes(text))))
  })

  test('knows the anchors of values', () => {
    expect(outlineOf('a: &x\n  b: 1\nc: [&y 1]').all.map(({ anchor }) => anchor)).toEqual([
      'x',
      undefined,
      undefined,
      'y',
    ])
  })

  test('ends for a text of open brackets, quotes and dashes', () => {
    expect(outlineOf(long).all.length).toBeGreaterThan(2)
  })
})
