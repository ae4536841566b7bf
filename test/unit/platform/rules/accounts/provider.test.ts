import { expect, test } from 'vitest'
import {
  isAdmitted,
  isOrganisation,
  returnPath,
  shownText,
  toClaimRule,
} from '../../../../../platform/rules/accounts/provider.ts'

test.each([
  ['/', '/'],
  ['/namespaces/shop?tab=runs', '/namespaces/shop?tab=runs'],
  ['/a/../b', '/b'],
  [undefined, '/'],
  [['/a', '/b'], '/'],
  ['', '/'],
  ['https://evil.example/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/x/..//evil.example', '/'],
  ['/%2e%2e//evil.example', '/'],
  ['/.//evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/x\r\nset-cookie: a=b', '/'],
  ['/api/v1/me', '/'],
  ['/x/../api/v1/me', '/'],
  ['/login/oidc', '/'],
  ['/apis', '/apis'],
  [`/${'x'.repeat(501)}`, '/'],
])('a login that began at %j ends at %j', (from, to) => {
  expect(returnPath(from)).toBe(to)
})

test.each([
  ['groups=dev', { claim: 'groups', value: 'dev' }],
  ['https://example.com/role=a=b', { claim: 'https://example.com/role', value: 'a=b' }],
  ['groups', undefined],
  ['=x', undefined],
  ['groups=', undefined],
  ['email=ann@example.com', undefined],
  ['email_verified=true', undefined],
])('toClaimRule reads %j', (text, rule) => {
  expect(toClaimRule(text)).toEqual(rule)
})

test('isAdmitted ignores inherited properties and nested lists', () => {
  expect(isAdmitted({}, [{ claim: 'constructor', value: 'x' }])).toBe(false)
  expect(isAdmitted({ groups: [['dev']] }, [{ claim: 'groups', value: 'dev' }])).toBe(false)
})

test.each([
  ['acme', true],
  ['acme/backend', true],
  ['acme/backend/x', false],
  ['../acme', false],
  ['acme?x', false],
])('isOrganisation(%j) returns %j', (text, is) => {
  expect(isOrganisation(text)).toBe(is)
})

test('shownText returns one short line without control characters', () => {
  expect(shownText('  a\u202eb\nc\u0000 ')).toBe('abc')
  expect(shownText('x'.repeat(200))).toHaveLength(100)
  expect([shownText(1), shownText(' ')]).toEqual([undefined, undefined])
})
