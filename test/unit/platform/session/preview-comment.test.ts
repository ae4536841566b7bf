import { describe, expect, test } from 'vitest'
import type { PreviewDetails } from '../../../../platform/api/previews.ts'
import {
  commentText,
  destroyedText,
  refusedText,
  waitingText,
} from '../../../../platform/rules/previews/preview-comment.ts'
import { commentPlace } from '../../../../platform/session/preview-comment.ts'

const repository = 'https://git.example.com/team/shop'

describe('commentPlace', () => {
  test.each([
    [`${repository}/pull/7`, {}, 7],
    [`${repository}/pulls/7/files`, {}, 7],
    [`${repository}/-/merge_requests/12#note_3`, {}, 12],
    [undefined, { GITHUB_REF: 'refs/pull/8/merge' }, 8],
    [undefined, { CI_MERGE_REQUEST_IID: '9' }, 9],
    // A pull request that is named takes precedence.
    [`${repository}/pull/7`, { GITHUB_REF: 'refs/pull/8/merge' }, 7],
  ] as const)('commentPlace for %s and %j finds the number %i', (sourceUrl, env, number) => {
    expect(commentPlace(repository, sourceUrl, env)).toEqual({ repository, number })
  })

  test('the pull request of a fork is in the repository that it is merged into', () => {
    const place = commentPlace('https://git.example.com/bob/shop', `${repository}/pull/7`, {})
    expect(place).toEqual({ repository, number: 7 })
  })

  test.each([
    [undefined, {}],
    [undefined, { GITHUB_REF: 'refs/heads/pull/8' }],
    [undefined, { CI_MERGE_REQUEST_IID: '9/../1' }],
    [`${repository}/issues/7`, { CI_MERGE_REQUEST_IID: '9' }],
    [`${repository}/pull/0`, {}],
  ] as const)('commentPlace for %s and %j finds no pull request', (sourceUrl, env) => {
    expect(() => commentPlace(repository, sourceUrl, env)).toThrow('which pull request is the comment for?')
  })
})

describe('the text of a comment', () => {
  const preview = (more: object = {}) =>
    ({
      name: 'shop-pr-7',
      status: 'Active',
      scope: 'personal',
      owner: { id: 'a', login: 'ann' },
      repository,
      labels: [],
      created: '2026-01-01T00:00:00Z',
      lastActive: '2026-01-01T00:00:00Z',
      endpoints: [],
      ...more,
    }) as PreviewDetails
  const page = 'https://platform.dev.example.com/namespaces/shop-pr-7'

  test('the comment of a ready preview has its addresses and the commit', () => {
    const endpoints = [
      { url: 'https://web-shop-pr-7.dev.example.com', services: ['web'], ready: true },
      { url: 'https://api-shop-pr-7.dev.example.com', services: ['api', 'auth'], ready: false },
    ]
    const run = { commit: '0123456789abcdef0123456789abcdef01234567' }
    expect(
      commentText(preview({ endpoints, run }), page),
    ).toBe(`**Preview [shop-pr-7](${page})**: ✅ ready, commit \`0123456789ab\`

- <https://web-shop-pr-7.dev.example.com> (\`web\`)
- <https://api-shop-pr-7.dev.example.com> (\`api\`, \`auth\`, not ready)

`)
  })

  test('the comment of a preview with a problem after its deploy says so', () => {
    const problem = { service: 'api', code: 'deploy/crash-loop', message: '`api` ended 3 times with exit code 1' }
    expect(commentText(preview({ problem }), page)).toContain('**: ❌ problem\n')
  })

  test('the comment of a failed preview has the first problem, or the output of the deploy', () => {
    const problem = { service: 'api', code: 'deploy/crash-loop', message: '`api` ended 3 times with exit code 1' }
    expect(commentText(preview({ status: 'Failed', problem }), page)).toBe(`**Preview [shop-pr-7](${page})**: ❌ failed

\`\`\`text
api: \`api\` ended 3 times with exit code 1
\`\`\`

`)
    // The output of the deploy says more than the problem that the platform observes.
    const said = 'error[build/failed]: the image of `web` was not built\n  --> compose.yaml:3:5\n'
    expect(commentText(preview({ status: 'Failed', problem }), page, said)).toContain(`\`\`\`text\n${said}\`\`\``)
    const reason = 'the repository could not be cloned'
    expect(commentText(preview({ status: 'Failed', run: { reason } }), page)).toContain(reason)
  })

  test('text from the code of a branch never becomes markup', () => {
    const evil = '```\n@everyone [click](https://evil.example.com) <img src=x>'
    const endpoints = [{ url: 'https://x.example.com/)[a](b', services: ['`@team'], ready: true }]
    const text = commentText(
      preview({ status: 'Failed', endpoints, problem: { service: 'a', code: 'x', message: evil } }),
      page,
    )
    expect(text).toContain('- `https://x.example.com/)[a](b` (`` `@team ``)')
    expect(text).toContain(`\`\`\`\`text\na: ${evil}\n\`\`\`\``)
    const refused = refusedText('shop-pr-7', '0123456789ab', evil)
    expect(refused).toContain(`\`\`\`\`text\n${evil}\n\`\`\`\``)
  })

  test('the length of a comment is limited', () => {
    const long = 'x'.repeat(100_000)
    const endpoints = Array.from({ length: 500 }, (_, at) => ({
      url: `https://${at}-${long}`,
      services: Array(500).fill(long),
      ready: true,
    }))
    const text = commentText(preview({ endpoints, problem: { service: 'a', code: 'x', message: long } }), page)
    expect(text).toContain('- and 480 more')
    expect(text.length).toBeLessThan(25_000)
  })

  test('the comment of a waiting fork has the command that approves this commit', () => {
    const commit = '0123456789abcdef0123456789abcdef01234567'
    expect(
      waitingText('shop-pr-7', commit, page),
    ).toBe(`**Preview [shop-pr-7](${page})**: ✋ waiting for approval, commit \`0123456789ab\`

This commit comes from a fork. Someone with write access to this repository has to review all of its changes, and then approve it:

\`\`\`sh
devctl preview approve shop-pr-7 --commit ${commit}
\`\`\`

`)
    expect(destroyedText('shop-pr-7')).toBe('**Preview `shop-pr-7`**: destroyed\n')
  })
})
