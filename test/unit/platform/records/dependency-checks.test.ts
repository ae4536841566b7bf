import { expect, test } from 'vitest'
import { fromChecks, toChecks } from '../../../../platform/records/dependency-checks.ts'
import type { DependencyChecks, ReachFailure } from '../../../../platform/rules/dependencies.ts'

const failures: readonly ReachFailure[] = [
  { kind: 'name' },
  { kind: 'untrusted', detail: 'self-signed certificate' },
  { kind: 'timeout', seconds: 5 },
  { kind: 'status', url: 'https://git.example.com/x', status: 404 },
  { kind: 'no-document', url: 'https://git.example.com/x' },
  { kind: 'issuer', found: 'https://x.example.com' },
]
const checks: DependencyChecks = {
  checked: '2026-11-23T14:55:00Z',
  settings: '0c1f6d3b8a9e4f57',
  all: [
    ...failures.map(failure => ({ kind: 'oidc', name: 'Git', address: 'https://git.example.com', failure }) as const),
    { kind: 'forge', name: 'x', address: 'https://x.example.com', forge: 'gitea', api: 'https://x.example.com/api' },
  ],
}

test('the record of checks is read as it was written', () => {
  expect(toChecks(fromChecks(checks))).toEqual(checks)
})

test('toChecks ignores entries that cannot be read', () => {
  const read = (value: unknown) => toChecks(fromChecks(value as DependencyChecks))
  expect(toChecks(undefined)).toBeUndefined()
  expect(toChecks({ ...fromChecks(checks), data: { checks: 'e3t7' } })).toBeUndefined()
  for (const wrong of [null, [], 'x', {}, { checked: 'yesterday', all: [] }, { checked: checks.checked, all: {} }])
    expect(read(wrong), JSON.stringify(wrong)).toBeUndefined()
  const [one] = checks.all
  for (const wrong of [
    null,
    'x',
    { ...one, kind: 'other' },
    { ...one, address: 'x' },
    { ...one, api: 7 },
    { ...one, failure: { kind: 'other' } },
    { ...one, failure: 'x' },
  ])
    expect(read({ ...checks, all: [wrong] })?.all, JSON.stringify(wrong)).toEqual([])
})
