import { describe, expect, test } from 'vitest'
import { DEFAULT_PATTERNS, defaultIgnores, ignoringFolders } from '../../../../sync/ignore/default-ignores.ts'
import { type IgnoreRules, parseIgnores } from '../../../../sync/ignore/ignore.ts'
import { measureProcessor } from '../../../support/processor-time.ts'

const parse = (lines: readonly string[], files: Readonly<Record<string, string>> = {}) =>
  parseIgnores(lines.join('\n'), name => files[name])
const rulesOf = (...lines: readonly string[]): IgnoreRules => parse(lines).rules

describe('patterns', () => {
  test.each([
    ['foo', ['foo', 'sub/foo', 'foo/below', 'sub/foo/below'], ['food', 'foo.txt', 'xfoo']],
    ['/foo', ['foo', 'foo/below'], ['sub/foo']],
    ['foo/', ['foo/below', 'sub/foo/below'], ['foo']],
    ['foo/**', ['foo/below/deep'], ['foo']],
    ['foo/*', ['foo/x', 'foo/x/y', 'sub/foo/x'], ['foo', 'foox']],
    ['te*st', ['test', 'tebest', 'sub/telerest'], ['tele/rest']],
    ['te**st', ['test', 'tele/sub/dir/rest'], ['tes']],
    ['te??st', ['tebest'], ['teb/st', 'test']],
    ['*', ['a', 'a/b'], []],
    ['/*', ['a', 'a/b'], []],
    ['/', ['a', 'a/b'], []],
    ['**/x', ['x', 'a/x', 'a/b/x'], ['xx']],
    ['/**/x', ['a/x', 'a/b/x'], ['x']],
    ['a/**/b', ['a/x/b', 'a/x/y/b'], ['a/b']],
    ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[abc]x', ['ax', 'bx'], ['dx']],
    ['[ab-d]x', ['ax', '-x', 'dx'], ['cx']],
    ['[a-z0-9]x', ['ax', '5x'], ['Ax']],
    ['[\\]]x', [']x'], ['\\x']],
    ['{a,bc}.txt', ['a.txt', 'bc.txt', 'sub/a.txt'], ['b.txt', 'abc.txt']],
    ['{a,b{c,d}}x', ['ax', 'bcx', 'bdx'], ['bx', 'cx']],
    ['{*.o,*.a}', ['x.o', 'sub/y.a'], ['x.c']],
    ['a{,b}', ['a', 'ab'], ['b']],
    ['\\{a\\}', ['{a}'], ['a']],
    ['\\!x', ['!x'], ['x']],
    ['a,b}', ['a,b}'], ['a']],
    ['  spaced name  ', ['spaced name'], ['spaced']],
    ['(?i)ReadMe', ['readme', 'README', 'sub/README/x'], ['readme2']],
    ['(?i)(?d)ÄRGER', ['ärger'], []],
    ['É?', ['E\u0301x', '\u00c9y', 'É😀'], ['É']],
    ['.#*', ['.#lock'], ['#lock']],
    ['#*#', ['#file#'], ['file']],
  ])('the pattern %s ignores the expected paths only', (pattern, ignored, included) => {
    const { rules, problems } = parse([pattern])
    expect(problems).toEqual([])
    expect(ignored.filter(path => !rules.ignores(path, false))).toEqual([])
    expect(included.filter(path => rules.ignores(path, false))).toEqual([])
  })
})

test('the first pattern that matches decides', () => {
  const rules = rulesOf('!/keep/this', 'keep', '!*.md', '*')
  expect(['keep/this', 'keep/this/x', 'a.md', 'sub/a.md'].filter(path => rules.ignores(path, false))).toEqual([])
  expect(['keep', 'keep/other', 'keep/a.md', 'x'].filter(path => !rules.ignores(path, false))).toEqual([])
})

test('a pattern that ignores case keeps its place among the others', () => {
  expect(rulesOf('!Readme', '(?i)readme').ignores('Readme', false)).toBe(false)
  expect(rulesOf('(?i)readme', '!Readme').ignores('Readme', false)).toBe(true)
})

test('an ignored folder is read only if it may contain included paths', () => {
  const rules = rulesOf('!/a/b/keep', 'a', '/only', '!/only/x')
  expect(['a', 'a/b', 'a/c', 'a/b/d', 'only', 'elsewhere/a'].map(folder => rules.mayHoldIncluded(folder))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  expect(rulesOf('!*.md', 'node_modules').mayHoldIncluded('node_modules')).toBe(true)
  expect(rulesOf('(?i)!keep.txt', 'logs').mayHoldIncluded('logs')).toBe(true)
})

test('comments, empty lines and repeated lines have no effect', () => {
  const { rules, problems } = parse(['// node_modules', '', '   ', 'a', 'a', '#include x', '#include x'], { x: 'b' })
  expect(problems).toEqual([])
  expect(['a', 'b', 'node_modules'].map(path => rules.ignores(path, false))).toEqual([true, true, false])
})

test('an included file contributes its patterns at its line, relative to the root', () => {
  const files = { 'ignores/base': '/dist\n#include more', 'ignores/more': '*.log' }
  const { rules, problems } = parse(['!keep.log', '#include ignores/base'], files)
  expect(problems).toEqual([])
  expect(['dist', 'a.log', 'ignores/dist', 'keep.log'].map(path => rules.ignores(path, false))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test.each([
  [['#include'], 1, 'write the name of a file after `#include`'],
  ...['../secret', 'd/../../secret', '/etc/passwd', 'C:/secret', 'd\\..\\secret'].map(
    name => [[`#include ${name}`], 1, `\`${name}\` leads out of the folder`] as [string[], number, string],
  ),
  [['a', '#include gone'], 2, 'the included file `gone` does not exist'],
  [['#include one', '#include ./one'], 2, '`one` is included more than once'],
  [['[a'], 1, '`[` is not closed; to match a bracket, write `\\[`'],
  [['[]'], 1, '`[]` has no characters'],
  [['[z-a]'], 1, 'the range `z-a` is in the wrong order'],
  [['{a,b'], 1, '`{` is not closed; to match a brace, write `\\{`'],
  [['!'], 1, '`!` has no pattern'],
  [['(?d)!(?i)'], 1, '`(?d)!(?i)` has no pattern'],
  [['a', '#escape=|'], 2, '`#escape` must come before all patterns'],
  [['#escape=||'], 1, 'write the escape character after `#escape=`, such as `#escape=|`'],
])('%j has a problem in line %d', (lines, line, message) => {
  const { rules, problems } = parse(lines, { one: 'x' })
  expect(problems).toEqual([{ line, message }])
  expect(rules.ignores('other', false)).toBe(false)
})

test('a problem in an included file names that file', () => {
  expect(parse(['#include one'], { one: 'x\n[' }).problems).toMatchObject([{ line: 2, file: 'one' }])
})

test('the escape character can be changed', () => {
  const { rules } = parse(['#escape=|', 'a|*b', 'c\\d'])
  expect(['a*b', 'axb', 'c\\d'].map(path => rules.ignores(path, false))).toEqual([true, false, true])
})

test('only an ignored file with `(?d)` may be deleted with its folder', () => {
  const rules = rulesOf('(?d).DS_Store', '!(?d)kept', 'x')
  expect(['.DS_Store', 'sub/.DS_Store', 'kept', 'x', 'y'].map(path => rules.deletable(path))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('the files of Syncthing itself are ignored', () => {
  const rules = rulesOf('!*')
  expect(['.stignore', '.stfolder', 'a/.syncthing.b.tmp'].filter(path => !rules.ignores(path, false))).toEqual([])
  expect(rules.ignores('sub/.stignore', false)).toBe(false)
})

describe('hostile files', () => {
  /** Milliseconds of the quickest of three runs: what else the machine does makes none of them quicker. */
  const took = (work: () => void): number =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const used = measureProcessor()
        work()
        return used()
      }),
    )

  /** Twice the size takes four times as long if every part of a pattern meets every part of a path. */
  const staysPolynomial = (work: (size: number) => void): void => {
    work(10)
    expect(took(() => work(200))).toBeLessThan(20 * took(() => work(100)) + 100)
  }

  test.each<[string, (size: number) => string, (size: number) => string]>([
    ['stars', size => '*a'.repeat(2 * size), size => 'a'.repeat(5 * size)],
    ['globstars', size => '**a/'.repeat(1.5 * size), size => 'aa/'.repeat(2 * size)],
    ['alternatives that end alike', size => '{a,aa}'.repeat(1.5 * size), size => 'a'.repeat(5 * size)],
    ['deep braces', size => '{a,'.repeat(100 * size) + '}'.repeat(100 * size), size => 'a'.repeat(20 * size)],
    ['question marks', size => `${'?'.repeat(2 * size)}*${'?'.repeat(2 * size)}`, size => 'é'.repeat(5 * size)],
  ])('the work stays polynomial with %s', (_, pattern, path) => {
    staysPolynomial(size => rulesOf(pattern(size)).ignores(`${path(size)}b`, false))
  })

  test('a path takes no longer with ten thousand patterns than with a hundred', () => {
    const rulesWith = (count: number) =>
      rulesOf(...Array.from({ length: count }, (_, at) => [`*.ext${at}`, `name-${at}/deep`]).flat())
    const walk = (rules: ReturnType<typeof rulesOf>) => () => {
      for (let at = 0; at < 20_000; at++) rules.ignores(`src/folder-${at % 300}/file-${at}.ts`, false)
    }
    const many = rulesWith(5_000)
    expect(many.ignores('src/a.ext4999', false)).toBe(true)
    expect(took(walk(many))).toBeLessThan(10 * took(walk(rulesWith(50))) + 100)
  })
})

describe('the default patterns', () => {
  test('version control and temporary files of editors are ignored by default', () => {
    const rules = defaultIgnores(() => false)
    const ignored = [
      '.git',
      '.git/config',
      'sub/.git',
      '.devctl/x',
      'devctl-doctor-20261123004116.zip',
      '.a.txt.swp',
      'a.txt~',
      '#a#',
      '.#a',
      '.DS_Store',
    ]
    expect(ignored.filter(path => !rules.ignores(path, false))).toEqual([])
    const kept = ['.gitignore', '.env', '.github/x', 'a.swp', 'node_modules/x', 'target/x', 'sub/.devctl/x']
    expect(kept.filter(path => rules.ignores(path, false))).toEqual([])
  })

  test('packages and builds are ignored by default where the container has its own', () => {
    const own = ['node_modules', 'packages/a/node_modules', 'vendor/bundle']
    const rules = defaultIgnores(folder => own.includes(folder))
    const ignored = ['node_modules', 'node_modules/a/b', 'packages/a/node_modules/x/node_modules/y', 'vendor/bundle/z']
    expect(ignored.filter(path => !rules.ignores(path, true))).toEqual([])
    expect(rules.mayHoldIncluded('node_modules')).toBe(false)
    const kept = ['packages/b/node_modules/x', 'my_node_modules', 'node_modules.txt', 'vendor', 'target/x']
    expect(kept.filter(path => rules.ignores(path, false))).toEqual([])
  })

  test('the default patterns are a valid ignore file', () => {
    expect(parse(DEFAULT_PATTERNS).problems).toEqual([])
  })
})

test('ignoringFolders ignores more folders, whatever the rules say', () => {
  const rules = ignoringFolders(rulesOf('!node_modules', '*.log'), ['node_modules', 'web/dist'])
  const ignored = ['node_modules', 'node_modules/a', 'web/dist/x', 'a.log']
  expect(ignored.filter(path => !rules.ignores(path, false))).toEqual([])
  expect(rules.ignores('sub/node_modules', false)).toBe(false)
  expect(rules.mayHoldIncluded('node_modules')).toBe(false)
})
