import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { addressOf } from '../../../../platform/api/pages.ts'
import { NoPlatform, PlatformRefusal } from '../../../../platform/client/client.ts'
import { readCliRequest } from '../../../../platform/web/pages/login/cli.tsx'
import { safeReturn } from '../../../../platform/web/pages/login/login.tsx'
import { Changes } from '../../../../platform/web/parts/changes.tsx'
import { Deployed, Place } from '../../../../platform/web/parts/deployed.tsx'
import { Environments } from '../../../../platform/web/parts/environments.tsx'
import { FailedDeployLine } from '../../../../platform/web/parts/failed-deploy.tsx'
import { isWebAddress, OutsideLink } from '../../../../platform/web/parts/link.tsx'
import { InlineCode, ProblemBox } from '../../../../platform/web/parts/problem.tsx'
import { ServiceProblemBox } from '../../../../platform/web/parts/service-problem.tsx'
import { namespaceState } from '../../../../platform/web/parts/state.tsx'
import { groupsOf } from '../../../../platform/web/state/groups.ts'
import { toProblem } from '../../../../platform/web/state/problem.ts'
import { duration, relativeTime } from '../../../../platform/web/state/relative-time.ts'

describe('addresses', () => {
  test('addressOf escapes the parameters of a page', () => {
    expect(addressOf('home')).toBe('/')
    expect(addressOf('members', { ns: 'a/b?c' })).toBe('/namespaces/a%2Fb%3Fc/members')
  })

  test.each([
    ['/namespaces/shop', '/namespaces/shop'],
    ['/cli?port=4000&state=x', '/cli?port=4000&state=x'],
    [undefined, '/'],
    ['', '/'],
    ['https://evil.example.com/', '/'],
    ['//evil.example.com', '/'],
    ['/\\evil.example.com', '/'],
    ['/.//evil.example.com', '/'],
    ['/%2e//evil.example.com', '/'],
    ['/\t/evil.example.com', '/'],
    ['javascript:alert(1)', '/'],
  ])('a login with the return address %j leads to %j', (text, expected) => {
    expect(safeReturn(text, 'https://platform.example.com')).toBe(expected)
  })

  test.each([
    ['https://web.example.com/', true],
    ['http://web.example.com', true],
    ['javascript:alert(1)', false],
    [' javascript:alert(1)', false],
    ['JaVaScRiPt:alert(1)', false],
    ['data:text/html,x', false],
    ['vbscript:x', false],
    ['/path', false],
    ['', false],
  ])('isWebAddress(%j) returns %j', (text, expected) => {
    expect(isWebAddress(text)).toBe(expected)
    expect(renderToString(h(OutsideLink, { href: text })).startsWith('<a ')).toBe(expected)
  })
})

describe('texts from outside', () => {
  const nasty = '<img src=x onerror=alert(1)> `<b>code</b>`'
  test('texts from outside are never markup', () => {
    const html = renderToString(h(InlineCode, { text: nasty }))
    expect(html).toBe('&lt;img src=x onerror=alert(1)> <code>&lt;b>code&lt;/b></code>')
    const problem = { kind: 'refused' as const, message: nasty, hint: nasty, notes: [nasty] }
    expect(renderToString(h(ProblemBox, { problem }))).not.toContain('<img')
  })
})

test.each([
  [new PlatformRefusal(401, { code: 'platform/login', message: 'log in first' }), 'login', 'log in first'],
  [new PlatformRefusal(403, { code: 'platform/quota', message: 'too many' }), 'refused', 'too many'],
  [new NoPlatform(502), 'offline', 'The platform does not answer'],
  [new NoPlatform(404), 'offline', 'The platform does not answer'],
  [new NoPlatform(200), 'refused', 'the answer (status 200) is not that of a platform'],
  [new TypeError('Failed to fetch'), 'offline', 'The platform cannot be reached'],
])('a failed call is shown as a problem: %s', (error, kind, message) => {
  expect(toProblem(error)).toMatchObject({ kind, message })
})

test.each([
  [0, 'just now'],
  [59_000, 'just now'],
  [60_000, '1 min ago'],
  [3_599_000, '59 min ago'],
  [7_200_000, '2 h ago'],
  [86_400_000 * 3, '3 d ago'],
  [86_400_000 * 50, '12 Sept 2026'],
  [-30_000, 'in a moment'],
  [-7_200_000, 'in 2 h'],
])('%d ms ago is shown as %j', (before, expected) => {
  const now = Date.UTC(2026, 10, 1, 12)
  expect(relativeTime(now - before, now)).toBe(expected)
})

test.each([
  [400, '0 s'],
  [12_300, '12 s'],
  [184_000, '3 min 4 s'],
  [180_000, '3 min'],
  [7_500_000, '2 h 5 min'],
])('a duration of %d ms is shown as %j', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected)
})

describe('a request of a command line', () => {
  const good = { port: '43127', state: 'abc_-1', challenge: 'A'.repeat(43), label: 'ann@laptop' }
  test('readCliRequest reads a valid request, and cuts its label', () => {
    expect(readCliRequest(good)).toEqual({ ...good, port: 43127 })
    expect(readCliRequest({ ...good, label: 'x'.repeat(200) })?.label).toHaveLength(60)
  })
  test.each([
    { port: '80' },
    { port: '70000' },
    { port: '4000@evil.example.com' },
    { port: '' },
    { state: '' },
    { state: 'a&b' },
    { challenge: 'short' },
  ])('readCliRequest ignores an invalid request: %j', change => {
    expect(readCliRequest({ ...good, ...change })).toBeUndefined()
  })
})

test('an environment whose services only wait is starting, not broken, and says what they wait for', () => {
  const waits = { service: 'web', reason: 'waits for db' }
  const item = { name: 'shop', state: 'waiting', services: 2, ready: 1, endpoints: [], waits }
  const html = renderToString(h(Environments, { ns: 'n', items: [item] } as never))
  expect(html).toContain('tone-busy')
  expect(html).not.toContain('tone-bad')
  expect(html.replaceAll(/<[^>]*>/g, '')).toMatch(/Starting1 of 2 ready.*web: waits for db/)
})

describe('texts that members write', () => {
  const bad = 'a\u202eb\u009bc'
  const place = { file: bad, line: 1 }
  const deployed = { number: 1, at: '2026-01-01T00:00:00Z', by: bad }
  const values = [
    { path: bad, before: bad, after: bad },
    { path: 'x', masked: bad },
  ]
  const changes = [{ action: 'update', object: bad, service: bad, values, consequence: bad }]
  const problem = { code: bad, message: bad, notes: [bad, `| ${bad}`], hint: bad, place }
  const environment = { name: 'shop', state: 'failed', services: 1, ready: 0, endpoints: [] }
  test.each<readonly [string, () => string]>([
    ['a place', () => renderToString(h(Place, { place }))],
    ['the changes of a deploy', () => renderToString(h(Changes, { history: [{ ...deployed, changes }] } as never))],
    [
      'what a deploy did not change',
      () =>
        renderToString(
          h(Changes, {
            history: [{ ...deployed, changes: [], unapplied: [{ action: 'update', object: bad }] }],
          } as never),
        ),
    ],
    ['a problem', () => renderToString(h(ServiceProblemBox, { problem, deployed: undefined } as never))],
    [
      'a failed deploy',
      () => renderToString(h(FailedDeployLine, { failed: { run: 'r', environment: 'shop', reason: bad } } as never)),
    ],
    [
      'the environments of a namespace',
      () =>
        renderToString(
          h(Environments, { ns: 'n', items: [{ ...environment, problem: { service: 'w', reason: bad } }] } as never),
        ),
    ],
  ])('%s cannot change the text around it', (_, render) => {
    const html = render()
    expect(html).toContain('a\\u{202e}b\\u{9b}c')
    expect(html).not.toMatch(/[\u202e\u009b]/)
  })
})

test.each([
  [{}, /by ann(<[^>]*>)*$/],
  [{ isDirty: true }, /, with uncommitted changes/],
  [{ isUnchecked: true }, /, perhaps with uncommitted changes/],
  [{ end: 'failed' }, / · failed/],
  [{ end: 'interrupted' }, / · interrupted/],
  [{ end: 'unknown' }, / · not finished, as far as is known/],
])('a deploy with %j shows what is known about it', (more, expected) => {
  const deploy = { at: '2026-01-01T00:00:00Z', by: 'ann', ...more }
  expect(renderToString(h(Deployed, { deploy } as never))).toMatch(expected)
})

describe('Home', () => {
  const namespace = (name: string, owner: string, more: object = {}) => ({
    name,
    kind: 'namespace',
    status: 'Active',
    owner: { id: owner, login: owner },
    created: '',
    lastActive: '',
    ...more,
  })
  test('Home lists own namespaces first, and the personal one before them', () => {
    const items = [
      namespace('blog', 'ann', { role: 'owner' }),
      namespace('ann', 'ann', { role: 'owner', kind: 'personal' }),
      namespace('pay', 'bob', { role: 'viewer' }),
      namespace('bob', 'bob', { kind: 'personal' }),
      namespace('shop-main', 'bob', { kind: 'preview', role: 'viewer' }),
    ]
    expect(groupsOf(items, 'ann').map(({ title, found }) => [title, ...found.map(one => one.name)])).toEqual([
      ['Your namespaces', 'ann', 'blog'],
      ['Shared with you', 'pay'],
      ['Previews', 'shop-main'],
      ['Other namespaces', 'bob'],
    ])
  })
})

test('an unknown state is shown by its word', () => {
  expect(namespaceState('Melting')).toEqual({ tone: 'quiet', icon: 'ring', word: 'Melting' })
  expect(new Set(['Active', 'Sleeping', 'Deleting', 'DeleteFailed'].map(one => namespaceState(one).icon)).size).toBe(4)
})
