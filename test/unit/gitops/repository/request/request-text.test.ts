import { describe, expect, test } from 'vitest'
import { clampBody } from '../../../../../adapters/forge/api/clamp-body.ts'
import { forgeOf } from '../../../../../adapters/forge/forge-of.ts'
import { block, cell, code, details, prose, title } from '../../../../../compiler/values/markdown.ts'
import type { ValueChange } from '../../../../../gitops/repository/request/change-text.ts'
import { type RequestContent, requestText } from '../../../../../gitops/repository/request/request-text.ts'

const content: RequestContent = {
  environment: 'staging',
  application: 'shop',
  subject: 'deploy(shop/staging): web 1.4.2 → 1.4.3',
  changes: [
    { action: 'create', object: 'deployment/api', values: [] },
    {
      action: 'update',
      object: 'deployment/web',
      values: [
        { path: 'spec.replicas', before: 1, after: 3 },
        { path: 'spec.template.spec.containers[web].image', before: 'web:1.4.2', after: 'web:1.4.3' },
        { path: 'spec.template.spec.containers[web].env[TOKEN].value', masked: '*** (changed)' },
        { path: 'spec.template.spec.nodeSelector', after: { disk: 'ssd' } },
      ],
    },
    { action: 'delete', object: 'service/old', values: [], consequence: 'left the Compose file' },
  ],
  images: [
    { name: 'web', before: 'ghcr.io/a/web:1.4.2', after: 'ghcr.io/a/web:1.4.3' },
    { name: 'api', after: 'ghcr.io/a/api@sha256:0f' },
  ],
  diagnostics: [{ severity: 'warning', message: '`container_name` has no meaning', place: 'compose.yml:8:11' }],
  source: {
    repository: 'org/shop',
    commit: '0123456789abcdef0123456789abcdef01234567',
    subject: 'web: faster list',
    page: 'https://github.com/org/shop/commit/0123456789abcdef0123456789abcdef01234567',
  },
  branch: 'devctl/staging/shop',
  path: 'environments/staging/shop',
  verify: 'devctl publish --environment staging --verify',
}
const valuesOf = (...values: readonly ValueChange[]) =>
  requestText({ ...content, changes: [{ action: 'update', object: 'configmap/nginx', values }] }).body

describe('the text of a request', () => {
  test('the text has images, objects, diagnostics, the source and values', () => {
    expect(requestText(content)).toMatchInlineSnapshot(`
      {
        "body": "Manifests of \`shop\` for the environment \`staging\`, in \`environments/staging/shop\`: 1 added, 1 changed, 1 removed.

      ### Images

      | image of | before | after |
      | --- | --- | --- |
      | \`web\` | \`ghcr.io/a/web:1.4.2\` | \`ghcr.io/a/web:1.4.3\` |
      | \`api\` |  | \`ghcr.io/a/api@sha256:0f\` |

      ### Objects

      |  | object | what |
      | --- | --- | --- |
      | \`+\` | \`deployment/api\` | added |
      | \`~\` | \`deployment/web\` | 4 values |
      | \`-\` | \`service/old\` | removed: left the Compose file |

      ### Diagnostics

      - **warning**: \`container_name\` has no meaning (\`compose.yml:8:11\`)

      ### Source

      Rendered from commit [\`0123456789ab\`](<https://github.com/org/shop/commit/0123456789abcdef0123456789abcdef01234567>) of \`org/shop\`: web: faster list

      After the merge, to check that the branch has exactly what that commit renders to:

      \`\`\`sh
      git checkout 0123456789abcdef0123456789abcdef01234567
      devctl publish --environment staging --verify
      \`\`\`

      > devctl overwrites the branch \`devctl/staging/shop\` with each publish: do not push to it. Change the source and publish again; this request is updated.

      ### Values

      <details open>
      <summary>~ <code>deployment/web</code>: 4 values</summary>

      \`\`\`diff
      @@ spec.replicas @@
      - 1
      + 3
      @@ spec.template.spec.containers[web].image @@
      - web:1.4.2
      + web:1.4.3
      @@ spec.template.spec.containers[web].env[TOKEN].value @@
      ! *** (changed)
      @@ spec.template.spec.nodeSelector @@
      + disk: ssd
      \`\`\`

      </details>
      ",
        "title": "deploy(shop/staging): web 1.4.2 → 1.4.3",
      }
    `)
  })

  test('equal contents give equal texts', () => {
    expect(requestText(structuredClone(content))).toEqual(requestText(content))
  })

  test('empty parts have no heading', () => {
    const { body } = requestText({ ...content, changes: [], images: [], diagnostics: [] })
    expect(body.match(/^### .*/gm)).toEqual(['### Source'])
    expect(body).toContain('no object changes')
  })

  test('files are counted if the changed objects are unknown', () => {
    const { body } = requestText({ ...content, changes: [], files: '2 files changed, 1 added' })
    expect(body).toContain('in `environments/staging/shop`: 2 files changed, 1 added.')
  })

  test('long lists and long differences are folded', () => {
    const changes = Array.from({ length: 16 }, (_, index) => ({
      action: 'update' as const,
      object: `deployment/web-${index}`,
      values: [{ path: 'spec.replicas', before: 1, after: 2 }],
    }))
    const { body } = requestText({ ...content, changes })
    expect(body).toContain('<summary>16 objects</summary>')
    expect(body).not.toContain('<details open>')
    expect(body).toContain('<summary>~ <code>deployment/web-15</code>: 1 value</summary>')
  })

  test('a long text is shown only around its difference', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
    const after = lines.with(50, 'changed')
    const body = valuesOf({ path: 'data["nginx.conf"]', before: lines.join('\n'), after: after.join('\n') })
    expect(body).toContain('  line 48\n  line 49\n- line 50\n+ changed\n  line 51\n  line 52\n```')
    expect(body).not.toMatch(/line 47|line 53/)
  })

  test('a long value is cut', () => {
    const body = valuesOf({ path: 'data.x', after: Array.from({ length: 100 }, (_, index) => `l${index}`).join('\n') })
    expect(body).toContain('+ l39\n  … 60 more lines\n')
    expect(valuesOf({ path: 'data.x', after: 'x'.repeat(2000) })).toContain(`+ ${'x'.repeat(498)}…\n`)
  })

  test('a value cannot end the block that contains it', () => {
    expect(valuesOf({ path: 'data.x', after: 'a\n```\n<script>\n````\nb' })).toContain(
      '`````diff\n@@ data.x @@\n+ a\n+ ```\n',
    )
  })

  test.each([null, false, 0, '', [], {}])('an empty value is shown: %j', value => {
    expect(valuesOf({ path: 'p', after: value })).toMatch(/@@ p @@\n\+ \S+\n/)
  })

  test('no line is a command of GitLab, or a mention', () => {
    const { title: name, body } = requestText({
      ...content,
      subject: 'deploy: for @team\n/close',
      images: [],
      diagnostics: [{ severity: 'warning', message: 'ask @team\n/close\r/merge see #12 and !3' }],
      source: { commit: 'abc', subject: 'fixes #12\n/approve @bob' },
    })
    expect(name).toBe('deploy: for @ team /close')
    expect(body).not.toMatch(/^\//m)
    expect(body).not.toMatch(/@\w|(?<!&)#\d|!\d/)
  })

  test('a page that is no web address is not linked', () => {
    const page = 'javascript:alert(1)'
    expect(requestText({ ...content, source: { commit: 'abc', page } }).body).toContain('commit `abc`\n')
  })

  test('changes that are not committed have no command that checks them', () => {
    const dirty = requestText({ ...content, source: { commit: 'abc', isDirty: true, subject: 's' } }).body
    expect(dirty).toContain('Rendered from commit `abc`, with changes that are not committed: s\n\n> devctl overwrites')
    const { source: _, ...without } = content
    expect(requestText(without).body).toContain('Rendered from files outside a repository.\n\n> devctl overwrites')
  })

  test('a title is cut to 200 characters', () => {
    expect(requestText({ ...content, subject: 'x'.repeat(500) }).title).toHaveLength(200)
  })
})

describe('Markdown', () => {
  test.each([
    ['web', '`web`'],
    ['a`b', '``a`b``'],
    ['`a``', '``` `a`` ```'],
    ['a\nb\r\nc', '`a↵b↵c`'],
    ['', '` `'],
    ['@team #12', '`@team #12`'],
  ])('code quotes %j', (text, expected) => {
    expect(code(text)).toBe(expected)
  })

  test('cell escapes a bar, so that it does not end the cell', () => {
    expect(cell('a|b')).toBe('`a\\|b`')
    expect(cell('a\\|b')).toBe('`a\\|b`')
  })

  test.each([
    ['`web` has *no* [link](x)', '`web` has \\*no\\* \\[link\\](x)'],
    ['<b>&amp; &12', '&lt;b&gt;&amp;amp; &amp;&#8203;12'],
    ['a @team, #12, !3, %4, GH-5', 'a @&#8203;team, #&#8203;12, !&#8203;3, %&#8203;4, GH&#8203;-5'],
    ['mail me@example.com', 'mail me@&#8203;example.com'],
    ['https://x.example/issues/1 www.x.example', 'https:&#8203;//x.example/issues/1 www&#8203;.x.example'],
    ['one `unclosed', 'one \\`unclosed'],
    ['`@team` stays', '`@team` stays'],
    ['~~gone~~ | $x$ _y_', '\\~\\~gone\\~\\~ \\| \\$x\\$ \\_y\\_'],
    [' two\n\nlines\u001b ', 'two lines'],
  ])('prose escapes %j', (text, expected) => {
    expect(prose(text)).toBe(expected)
  })

  test('details escapes the HTML of a summary', () => {
    expect(details('`a<b` & "c"', 'x')).toBe(
      '<details>\n<summary><code>a&#60;b</code> &#38; &#34;c&#34;</summary>\n\nx\n\n</details>',
    )
  })

  test('block puts a fence around its lines', () => {
    expect(block('sh', ['a', 'b'])).toBe('```sh\na\nb\n```')
  })

  test.each([
    ['web 1 @ann (#2) a/b#3 !4', 'web 1 @ ann (# 2) a/b# 3 ! 4'],
    ['web@sha256:0f', 'web@sha256:0f'],
    ['  a\n b ', 'a b'],
  ])('title makes plain text of %j', (text, expected) => {
    expect(title(text, 100)).toBe(expected)
  })
})

describe('clampBody', () => {
  test('clampBody does not change a text that fits', () => {
    expect(clampBody('x'.repeat(65_536), 'github')).toHaveLength(65_536)
  })

  test('clampBody cuts at the end of a line and closes open blocks', () => {
    const body = `intro\n\n<details>\n<summary>s</summary>\n\n\`\`\`\`diff\n${'+ ```\n'.repeat(500)}\`\`\`\`\n\n</details>\n`
    const cut = clampBody(body, 'github', 1000)
    expect(cut.length).toBeLessThanOrEqual(1000)
    expect(cut).toMatch(/\n\+ ```\n````\n\n<\/details>\n\n_The rest does not fit here: see the commit\._\n$/)
  })

  test('clampBody does not close blocks that are closed', () => {
    const body = `<details>\n\n\`\`\`diff\n</details>\n\`\`\`\n\n</details>\n${'text\n'.repeat(500)}`
    expect(clampBody(body, 'github', 1000)).toMatch(/\ntext\n\n_The rest/)
  })

  test('clampBody leaves out one endless line', () => {
    expect(clampBody('x'.repeat(5000), 'github', 1000)).toBe('\n\n_The rest does not fit here: see the commit._\n')
  })
})

describe('forgeOf', () => {
  const request = { head: 'devctl/staging/shop', base: 'release/1', title: 'web: a & b' }
  test.each<[string, string, string, string]>([
    [
      'git@github.com:o/r.git',
      'https://github.com/o/r/compare/release/1...devctl/staging/shop?quick_pull=1&title=web%3A+a+%26+b',
      'https://github.com/o/r/commit/abc',
      'https://github.com/o/r/pulls',
    ],
    [
      'git@gitlab.com:g/s/r.git',
      'https://gitlab.com/g/s/r/-/merge_requests/new?merge_request%5Bsource_branch%5D=devctl%2Fstaging%2Fshop&merge_request%5Btarget_branch%5D=release%2F1&merge_request%5Btitle%5D=web%3A+a+%26+b',
      'https://gitlab.com/g/s/r/-/commit/abc',
      'https://gitlab.com/g/s/r/-/merge_requests',
    ],
    [
      'https://codeberg.org/o/r.git',
      'https://codeberg.org/o/r/compare/release/1...devctl/staging/shop?quick_pull=1&title=web%3A+a+%26+b',
      'https://codeberg.org/o/r/commit/abc',
      'https://codeberg.org/o/r/pulls',
    ],
  ])('forgeOf returns the pages of %s', (address, newPage, commit, list) => {
    const forge = forgeOf(address, {})!
    expect(forge.newRequestPage(request)).toBe(newPage)
    expect(forge.commitPage('abc')).toBe(commit)
    expect(forge.requestsPage).toBe(list)
    expect(forge.requests).toBeUndefined()
    expect(forge.withoutToken).toMatch(/^there is no token for /)
  })
})
