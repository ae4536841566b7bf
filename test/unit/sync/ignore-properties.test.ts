import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIgnores } from '../../../sync/ignore/ignore.ts'

/** A pattern, and the regular expression with the same meaning. Generated patterns are short, so they match quickly. */
interface Pattern {
  readonly text: string
  readonly source: string
}

const literal = fc
  .constantFrom('a', 'b', '.', 'ab')
  .map((text): Pattern => ({ text, source: text.replace('.', '\\.') }))
const others = fc.constantFrom<Pattern>(
  { text: '/', source: '/' },
  { text: '?', source: '[^/]' },
  { text: '*', source: '[^/]*' },
  { text: '**', source: '.*' },
  { text: '[ab]', source: '[ab]' },
  { text: '[a-c]', source: '[a-c]' },
  { text: '[!a]', source: '[^a]' },
  { text: '\\a', source: 'a' },
)
const join = (parts: readonly Pattern[], between = '', sourceBetween = ''): Pattern => ({
  text: parts.map(({ text }) => text).join(between),
  source: parts.map(({ source }) => source).join(sourceBetween),
})
const { sequence } = fc.letrec<{ piece: Pattern; sequence: Pattern; braces: Pattern }>(tie => ({
  piece: fc.oneof({ maxDepth: 3, depthSize: 'small' }, literal, others, tie('braces')),
  // `*` before `*` would be `**`.
  sequence: fc
    .array(tie('piece'), { minLength: 1, maxLength: 4 })
    .filter(pieces =>
      pieces.every(({ text }, at) => at === 0 || !(text.startsWith('*') && pieces[at - 1]!.text.endsWith('*'))),
    )
    .map(pieces => join(pieces)),
  braces: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map(all => {
    const { text, source } = join(all, ',', '|')
    return { text: `{${text}}`, source: `(?:${source})` }
  }),
}))
const rule = fc
  .record({ pattern: sequence, isRooted: fc.boolean(), includes: fc.boolean(), ending: fc.constantFrom('', '', '/') })
  .filter(({ pattern: { text }, isRooted }) => !/^\/|\/$|\*\*$|^\*\*\//.test(text) || (isRooted && text === 'a'))
const path = fc
  .array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  })
  .map(parts => parts.join('/'))

type Rule = typeof rule extends fc.Arbitrary<infer One> ? One : never
const lineOf = ({ pattern, isRooted, includes, ending }: Rule) =>
  (includes ? '!' : '') + (isRooted ? '/' : '') + pattern.text + ending
const expressionOf = ({ pattern, isRooted, ending }: Rule) =>
  new RegExp(`^${isRooted ? '' : '(?:.*/)?'}(?:${pattern.source})${ending === '/' ? '/.*' : '(?:/.*)?'}$`, 's')

test('patterns match like equal regular expressions, and the first match decides', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.array(path, { minLength: 1, maxLength: 20 }),
      (all, paths) => {
        const { rules, problems } = parseIgnores(all.map(lineOf).join('\n'), () => undefined)
        expect(problems).toEqual([])
        const expressions = all.map(one => ({ expression: expressionOf(one), includes: one.includes }))
        for (const one of paths) {
          const first = expressions.find(({ expression }) => expression.test(one))
          expect(rules.ignores(one, false), one).toBe(first?.includes === false)
        }
      },
    ),
    { numRuns: 1000 },
  )
})

test('a folder that is not read contains nothing that is included', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.array(path, { minLength: 1, maxLength: 20 }),
      (all, paths) => {
        const { rules } = parseIgnores(all.map(lineOf).join('\n'), () => undefined)
        for (const one of paths) {
          const folder = one.slice(0, Math.max(one.lastIndexOf('/'), 0))
          if (folder !== '' && rules.ignores(folder, true) && !rules.mayHoldIncluded(folder))
            expect(rules.ignores(one, false), one).toBe(true)
        }
      },
    ),
    { numRuns: 1000 },
  )
})
