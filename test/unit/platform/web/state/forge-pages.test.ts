import { expect, test } from 'vitest'
import { commitPage, linePage } from '../../../../../platform/web/state/forge-pages.ts'

const commit = '4f1c9aa0d3b1'
test.each([
  ['github.com/team/shop', `https://github.com/team/shop/blob/${commit}/a%20b/compose.yaml#L4`],
  [
    'gitlab.example.com/group/sub/shop',
    `https://gitlab.example.com/group/sub/shop/-/blob/${commit}/a%20b/compose.yaml#L4`,
  ],
  ['git.example.com/team/shop', `https://git.example.com/team/shop/src/commit/${commit}/a%20b/compose.yaml#L4`],
  ['example.com/team/shop', undefined],
  ['shop', undefined],
  [undefined, undefined],
  ['github.com/../../evil', undefined],
  ['github.com@evil.example.com/a/b', undefined],
  ['github.com/a/b?x=', undefined],
  ['javascript:alert(1)//github.com/a/b', undefined],
])('the line of a file in %j is at %j', (repository, expected) => {
  const source = { commit, ...(repository !== undefined && { repository }) }
  expect(linePage(source, { file: 'a b/compose.yaml', line: 4 })).toBe(expected)
})

test('commitPage returns no page for an invalid commit', () => {
  expect(commitPage({ repository: 'github.com/a/b', commit })).toBe(`https://github.com/a/b/commit/${commit}`)
  expect(commitPage({ repository: 'github.com/a/b', commit: '../../x' })).toBeUndefined()
  expect(commitPage({ repository: 'github.com/a/b' })).toBeUndefined()
})
