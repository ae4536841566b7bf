import { describe, expect, test } from 'vitest'
import { dockerIgnore, gitIgnore } from '../../../../../compiler/values/images/ignore-file.ts'

describe('gitIgnore', () => {
  test.each([
    ['*.log', 'a.log', false, true],
    ['*.log', 'deep/er/a.log', false, true],
    ['/*.log', 'deep/a.log', false, undefined],
    ['build/', 'build', true, true],
    ['build/', 'build', false, undefined],
    ['doc/*.txt', 'doc/a.txt', false, true],
    ['doc/*.txt', 'doc/b/a.txt', false, undefined],
    ['**/foo', 'a/b/foo', false, true],
    ['foo/**', 'foo/a/b', false, true],
    ['a/**/b', 'a/b', false, true],
    ['a/**/b', 'a/x/y/b', false, true],
    ['*.log\n!keep.log', 'keep.log', false, false],
    ['# note\n\n\\#x', '#x', false, true],
    ['\\!x', '!x', false, true],
    ['file[0-9].txt', 'file7.txt', false, true],
    ['file[!0-9].txt', 'file7.txt', false, undefined],
    ['a b  ', 'a b', false, true],
    ['[z-a]', 'z', false, undefined],
    ['x.y', 'xay', false, undefined],
    ['my-dir/{a}|$^+', 'my-dir/{a}|$^+', false, true],
    ['a]b}c', 'a]b}c', false, true],
  ])('the rules %j applied to %s, a folder: %s, return %s', (text, path, isFolder, expected) => {
    expect(gitIgnore(text)(path, isFolder)).toBe(expected)
  })
})

describe('dockerIgnore', () => {
  test.each([
    ['node_modules', 'node_modules/a/b.js', true],
    ['node_modules', 'web/node_modules', false],
    ['**/node_modules', 'web/node_modules/x', true],
    ['*\n!src', 'src/a.js', false],
    ['*\n!src', 'other', true],
    ['/docs/', 'docs/a', true],
    ['./docs', 'docs', true],
    ['src\n!src/keep', 'src/keep/a', false],
    ['*.md\n!README.md', 'README.md', false],
    // No rule excludes `a` before `!a`, so BuildKit does not include the content of `a` again.
    ['*/*\n!a', 'a/b', true],
    ['*/*\n!a/.', 'a/b', true],
    ['a\n!a', 'a/b', false],
    ['a\n!a\na/*', 'a/b', true],
    ['a\n!a/b', 'a/b/c', false],
    ['**\n!a\n!x/y', 'a/b', false],
    ['a/b\n!a\n*/c', 'a/b', true],
    // As in moby/patternmatcher: the text after two stars is the end of a path.
    ['**.env', 'prod.env', true],
    ['**.env', 'x/prod.env', true],
    ['**.env', 'prod.envs', false],
    ['**a/b', 'xa/b', true],
    ['**.p*c', 'x.pyc', false],
    // Go negates a set only with `^`.
    ['[!a].log', 'a.log', true],
    ['[!a].log', 'b.log', false],
    ['[^a].log', 'b.log', true],
  ])('the rules %j applied to %s return %s', (text, path, expected) => {
    expect(dockerIgnore(text)(path)).toBe(expected)
  })
})
