import { describe, expect, test } from 'vitest'
import { isPrefix } from '../../../../../platform/rules/accounts/ci-trust.ts'
import { namespaceNameProblem } from '../../../../../platform/rules/names.ts'
import {
  approvalProblem,
  decidePull,
  dependsOnAuthor,
  type ForkPolicy,
  type KnownPull,
  type PullFacts,
  pullPrefix,
  pullPreviewName,
  trustOf,
} from '../../../../../platform/rules/previews/pull-trust.ts'

const [sha, next] = ['a'.repeat(40), 'b'.repeat(40)]
const facts = (head: PullFacts['head'], more: Partial<PullFacts> = {}): PullFacts => ({
  number: 7,
  isOpen: true,
  page: 'https://git.example.com/team/shop/pulls/7',
  author: { id: '5', login: 'ann' },
  base: '1',
  commit: sha,
  branch: 'feature',
  head,
  ...more,
})
const own = { id: '1', url: 'https://git.example.com/team/shop.git', owner: '9' }
const fork = { id: '2', url: 'https://git.example.com/ann/shop.git', owner: '5' }

describe('trustOf', () => {
  test.each<readonly [string, PullFacts['head'], boolean, string]>([
    ['a branch of the repository itself', own, false, 'repository'],
    ['a fork of an author who may write', fork, true, 'repository'],
    ['a fork of an author who may not', fork, false, 'fork'],
    // The owner of the fork can push to it, no matter who has opened the request.
    ['the fork of somebody else, opened by who may write', { ...fork, owner: '6' }, true, 'fork'],
    ['a fork of an organisation', { id: fork.id, url: fork.url }, true, 'fork'],
    ['a fork that is gone', undefined, true, 'fork'],
  ])('trustOf decides on %s', (_, head, mayWrite, trust) => {
    expect(trustOf(facts(head), mayWrite)).toBe(trust)
  })

  test('dependsOnAuthor is true only for a fork that the author owns', () => {
    const asked = [own, fork, { ...fork, owner: '6' }, { id: '2', url: fork.url }, undefined].map(head =>
      dependsOnAuthor(facts(head)),
    )
    expect(asked).toEqual([false, true, false, false, false])
  })
})

describe('decidePull', () => {
  const of = (trust: 'repository' | 'fork', commit = sha) => ({ deployed: { commit, trust } })
  const allowed = { approved: { commit: sha } }
  test.each<readonly [string, 'repository' | 'fork', ForkPolicy, KnownPull | undefined, string]>([
    ['a new one', 'repository', 'approve', undefined, 'deploy'],
    ['a new one', 'repository', 'never', undefined, 'deploy'],
    ['the same commit', 'repository', 'approve', of('repository'), 'nothing'],
    ['a push', 'repository', 'approve', of('repository', next), 'deploy'],
    ['a new one of a fork', 'fork', 'approve', undefined, 'wait'],
    ['a new one of a fork', 'fork', 'never', undefined, 'refuse'],
    ['a new one of a fork', 'fork', 'sandbox', undefined, 'deploy'],
    ['an allowed commit of a fork', 'fork', 'approve', allowed, 'deploy'],
    ['an allowed commit of a fork', 'fork', 'never', allowed, 'refuse'],
    ['one that is there', 'fork', 'approve', { ...allowed, ...of('fork') }, 'nothing'],
    ['a push after it', 'fork', 'approve', { approved: { commit: next }, ...of('fork', next) }, 'wait'],
    // The approval was withdrawn in the meantime, by another policy.
    ['deployed as a sandbox', 'fork', 'approve', of('fork'), 'wait'],
    ['a push', 'fork', 'sandbox', of('fork', next), 'deploy'],
    ['the author may write no more', 'fork', 'sandbox', of('repository'), 'replace'],
    ['the author may write no more', 'fork', 'approve', of('repository'), 'wait'],
    ['allowed over trusted code', 'fork', 'approve', { ...allowed, ...of('repository', next) }, 'replace'],
    ['the author may write now', 'repository', 'approve', of('fork'), 'replace'],
  ])('decidePull handles "%s" with trust %s and policy %s', (_, trust, policy, known, kind) => {
    expect(decidePull(facts(trust === 'fork' ? fork : own), { trust, policy, known }).kind).toBe(kind)
  })

  test('decidePull closes the preview of a closed request', () => {
    for (const known of [undefined, of('fork'), of('repository')])
      expect(decidePull(facts(fork, { isOpen: false }), { trust: 'fork', policy: 'sandbox', known })).toEqual({
        kind: 'close',
      })
  })

  test('decidePull refuses a request whose head cannot be cloned', () => {
    expect(decidePull(facts(undefined), { trust: 'fork', policy: 'sandbox', known: allowed }).kind).toBe('refuse')
  })
})

test.each([
  [sha, { commit: sha }, undefined],
  [sha, undefined, 'no commit is waiting'],
  [sha, { commit: next }, 'newer commit'],
  [sha.slice(0, 12), { commit: sha }, 'the full commit is required'],
  ['', { commit: sha }, 'the full commit is required'],
])('approvalProblem checks an approval of %s while %j waits', (commit, waits, problem) => {
  const found = approvalProblem(commit, waits)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(problem)
})

test('pullPreviewName joins the prefix and the number of a request', () => {
  expect(pullPreviewName('shop-', 7)).toBe('shop-pr-7')
})

test.each([
  ['shop', 'shop-'],
  ['Shop.Web', 'shop-web-'],
  ['a'.repeat(50), `${'a'.repeat(30)}-`],
  [`${'a'.repeat(29)}-b`, `${'a'.repeat(29)}-`],
  ['kube-tools', 'preview-kube-tools-'],
  ['devctl-shop', 'preview-devctl-shop-'],
  ['OpenShift', 'preview-openshift-'],
  [`kube-${'a'.repeat(50)}`, `preview-kube-${'a'.repeat(17)}-`],
])('the previews of the repository %s have the prefix %s by default', (repository, prefix) => {
  expect(pullPrefix(repository)).toBe(prefix)
  expect(namespaceNameProblem(pullPreviewName(prefix, 1))).toBeUndefined()
  expect(isPrefix(prefix)).toBe(true)
})
