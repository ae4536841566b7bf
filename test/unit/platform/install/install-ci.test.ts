import { expect, test } from 'vitest'
import { wantedCi } from '../../../../platform/install/install-ci.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'

test('wantedCi groups the rules of each CI system', () => {
  expect(
    wantedCi(
      [
        'github,repository=123456,ref=refs/heads/*,prefix=shop-',
        'github,owner=7,event=push,prefix=all-',
        'gitlab,repository=1,prefix=a-',
        'gitea=https://git.example.com,repository=2,prefix=b-',
      ],
      [{ kind: 'github', issuer: 'old', rules: [] }],
    ),
  ).toEqual([
    {
      kind: 'github',
      issuer: GITHUB,
      rules: [
        { repository: '123456', ref: 'refs/heads/*', prefix: 'shop-' },
        { owner: '7', event: 'push', prefix: 'all-' },
      ],
    },
    { kind: 'gitlab', issuer: 'https://gitlab.com', rules: [{ repository: '1', prefix: 'a-' }] },
    { kind: 'gitea', issuer: 'https://git.example.com', rules: [{ repository: '2', prefix: 'b-' }] },
  ])
})

test('wantedCi keeps the installed rules without an option, and `-` removes them', () => {
  const installed = [{ kind: 'github', issuer: GITHUB, rules: [] }]
  expect(wantedCi(undefined, installed)).toBe(installed)
  expect(wantedCi(['-'], installed)).toEqual([])
})

test.each([
  ['jenkins,repository=1,prefix=a-', 'is none of `github`, `gitlab`, `gitea`'],
  ['gitea,repository=1,prefix=a-', 'which server?'],
  ['gitlab=git.example.com,repository=1,prefix=a-', 'is no URL'],
  ['github,repository=acme/shop,prefix=a-', 'by number'],
  ['github,repository=1,prefix=shop', 'ends with `-`'],
  ['github,repository=1,prefix=kube-', 'names that begin with `kube-` are reserved'],
  ['github,repository=1,prefix=openshift-ci-', 'names that begin with `openshift-ci-` are reserved'],
  ['github,prefix=a-', 'needs `repository` or `owner`'],
  ['github,repository=1,repository=2,prefix=a-', 'is there twice'],
  ['github,repository=1,branch=main,prefix=a-', '`branch=main` is none of'],
  ['github,repository=1,prefix=a-,__proto__=x', 'is none of'],
])('`--ci %s` is refused', (option, message) => {
  expect(() => wantedCi([option], undefined)).toThrow(message)
})
