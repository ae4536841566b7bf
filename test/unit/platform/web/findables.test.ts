import { describe, expect, test } from 'vitest'
import type { Namespace } from '../../../../platform/api/namespaces.ts'
import type { Run } from '../../../../platform/api/runs.ts'
import type { SearchNames } from '../../../../platform/api/search.ts'
import { findablesOf } from '../../../../platform/web/parts/frame/findables.ts'
import { find } from '../../../../platform/web/state/find.ts'

const ann = { id: 'ann', login: 'ann' }
const bob = { id: 'bob', login: 'bob', name: 'Bob Lee' }
const cem = { id: 'cem', login: 'cem' }
const now = Date.parse('2026-01-02T00:00:00Z')
const namespace = (name: string, owner = ann, more: Partial<Namespace> = {}): Namespace => ({
  name,
  kind: 'namespace',
  status: 'Active',
  owner,
  created: '',
  lastActive: '2026-01-01T00:00:00Z',
  ...more,
})
const member = (user: typeof ann, role: 'owner' | 'developer' | 'viewer' = 'owner') => ({ user, role })
const names: SearchNames = {
  items: [
    { namespace: 'blog', environments: [], members: [member(bob)] },
    {
      namespace: 'team',
      environments: [{ name: 'shop', services: ['api', 'web'] }],
      members: [member(ann), member(bob, 'developer'), member(cem, 'viewer')],
    },
  ],
}
const run: Run = {
  id: '01hqxyz',
  namespace: 'team',
  environment: 'shop',
  action: 'deploy',
  state: 'failed',
  user: bob,
  branch: 'feature/checkout\u202e',
  commit: '4f1c9aa0d3b1c2e4f5a60718293a4b5c6d7e8f90',
  created: '2026-01-01T23:57:00Z',
}
const all = (isAdmin = false) =>
  findablesOf(
    { namespaces: [namespace('team'), namespace('shop-pr-7', bob, { kind: 'preview' })], names, runs: [run] },
    { self: 'ann', isAdmin, now },
  )
const found = (text: string, isAdmin = false) =>
  find(all(isAdmin), text).map(({ group, text, href }) => `${group} ${text} ${href}`)

describe('the search', () => {
  test('the search finds a namespace and a preview', () => {
    expect(found('team')[0]).toBe('Namespace team /namespaces/team')
    expect(found('shop-pr')).toEqual(['Preview shop-pr-7 /namespaces/shop-pr-7'])
  })

  test('the search finds an environment by its name and that of its namespace', () => {
    expect(found('shop')[0]).toBe('Environment shop /namespaces/team/environments/shop')
    expect(found('team shop')[0]).toBe('Environment shop /namespaces/team/environments/shop')
  })

  test('the search finds a service, and shows where it runs', () => {
    expect(found('web')).toEqual(['Service web /namespaces/team/environments/shop/services/web'])
    expect(all().find(one => one.text === 'web')?.detail).toBe('team / shop')
    expect(found('service shop')).toHaveLength(2)
  })

  test.each(['deploy shop', 'checkout', '4f1c9aa', 'run bob', 'failed', 'Lee deploy'])('it finds a run by %j', text => {
    expect(found(text)[0]).toBe('Run Deploy shop /runs/01hqxyz')
  })

  test('the details of a run distinguish it from others', () => {
    expect(all().find(one => one.group === 'Run')?.detail).toBe(
      'team · feature/checkout\\u{202e} · 4f1c9aa · bob · failed · 3 min ago',
    )
  })

  test('the search finds users in the namespaces that they share with the caller', () => {
    expect(found('bob')[0]).toBe('Person Bob Lee /namespaces/team/members')
    expect(all().find(one => one.text === 'Bob Lee')?.detail).toBe('bob · developer of team and 1 more')
    expect(found('cem')).toEqual(['Person cem /namespaces/team/members'])
    // The account of the caller has its own page.
    expect(all().some(one => one.group === 'Person' && one.text === 'ann')).toBe(false)
  })

  test('the search leads administrators to the page of users', () => {
    expect(found('bob', true)[0]).toBe('Person Bob Lee /admin/users?find=bob')
  })

  test('the search finds what has been read so far', () => {
    const nothing = { namespaces: undefined, names: undefined, runs: undefined }
    const by = { self: 'ann', isAdmin: false, now }
    expect(findablesOf(nothing, by)).toEqual([])
    expect(findablesOf({ ...nothing, runs: [run] }, by)).toHaveLength(1)
  })

  test('the search lists the most recently used namespaces first', () => {
    const many = [namespace('a'), namespace('b', ann, { lastActive: '2026-01-01T12:00:00Z' })]
    const by = { self: 'ann', isAdmin: false, now }
    expect(findablesOf({ namespaces: many, names: undefined, runs: undefined }, by).map(one => one.text)).toEqual([
      'b',
      'a',
    ])
  })
})
