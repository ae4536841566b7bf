import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toDnsLabel } from '../../../../../compiler/plan/object-names.ts'
import { fromPreview, toPreview } from '../../../../../platform/records/preview.ts'
import { environmentOfRepository } from '../../../../../platform/rules/environment-name.ts'
import { previewConflict, previewStatus, sourceUrlProblem } from '../../../../../platform/rules/previews/previews.ts'
import type { RunState } from '../../../../../platform/rules/runs/run-states.ts'

const run = (state: RunState, action: 'deploy' | 'destroy' = 'deploy') => ({ action, state })

describe('the status of a preview', () => {
  test.each([
    ['Active', [], 'Active'],
    ['Active', [run('queued')], 'Deploying'],
    ['Active', [run('running'), run('failed')], 'Deploying'],
    ['Active', [run('stopping')], 'Deploying'],
    ['Active', [run('succeeded'), run('failed')], 'Active'],
    ['Active', [run('failed'), run('succeeded')], 'Failed'],
    ['Active', [run('refused')], 'Failed'],
    ['Active', [run('cancelled')], 'Failed'],
    // A newer run has replaced it.
    ['Active', [run('replaced'), run('succeeded')], 'Active'],
    ['Active', [run('failed', 'destroy'), run('succeeded')], 'Active'],
    ['Active', [run('succeeded', 'destroy'), run('failed')], 'Active'],
    ['Sleeping', [run('failed')], 'Sleeping'],
    ['Deleting', [run('running')], 'Deleting'],
    ['DeleteFailed', [], 'DeleteFailed'],
  ] as const)('a namespace in state %s with the runs %j has the status %s', (namespace, runs, status) => {
    expect(previewStatus(namespace, runs)).toBe(status)
  })
})

describe('previewConflict', () => {
  const there = { repository: 'https://git.example.com/team/shop', scope: 'personal', owner: 'ann' } as const
  const shared = { ...there, scope: 'global' } as const
  test.each([
    [there, there, undefined],
    [there, { ...there, repository: 'https://git.example.com/team/shop.git' }, undefined],
    [there, { ...there, repository: 'https://git.example.com/team/shopping' }, 'repository'],
    [there, { ...there, owner: 'bob' }, 'owner'],
    [there, shared, 'scope'],
    [shared, there, 'scope'],
    // Any administrator may deploy to a shared preview.
    [shared, { ...shared, owner: 'bob' }, undefined],
    [shared, { ...shared, repository: 'https://git.example.com/team/blog' }, 'repository'],
  ] as const)('a preview of %j and a deploy of %j conflict in: %s', (one, other, conflict) => {
    expect(previewConflict(one, other)).toBe(conflict)
  })
})

test.each([
  ['https://git.example.com/team/shop/pulls/1', true],
  ['http://git.example.com/team/shop/pulls/1', false],
  ['javascript:alert(1)', false],
  ['https://ann:secret@git.example.com/', false],
  ['', false],
])('the source URL %s is valid: %s', (url, isGood) => {
  expect(sourceUrlProblem(url) === undefined).toBe(isGood)
})

test('environmentOfRepository makes a DNS label of the name of a repository', () => {
  expect(environmentOfRepository('My_Shop.API')).toBe('my-shop-api')
  expect(environmentOfRepository('__')).toBe('app')
  expect(environmentOfRepository('x'.repeat(100))).toHaveLength(63)
  // A deploy in a folder gives the environment this name, too, if it needs no cut.
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(fc.constantFrom(...'aZ1-_.é '), fc.string()), maxLength: 40 }), text => {
      const name = toDnsLabel(text)
      const isItself = /[a-z0-9]/i.test(text) && name.length <= 63
      if (isItself) expect(environmentOfRepository(text)).toBe(name)
    }),
  )
})

test('toPreview reads what fromPreview wrote, and throws no error for other annotations', () => {
  const text = fc.string({ minLength: 1, maxLength: 30 })
  const label = fc.string({ unit: fc.constantFrom(...'abc-1'), minLength: 1 })
  const preview = fc.tuple(
    fc.record({ repository: text, labels: fc.array(label) }),
    fc.record({ branch: text, sourceUrl: text, hook: text }, { requiredKeys: [] }),
  )
  fc.assert(
    fc.property(preview, ([one, more]) => {
      const annotations = Object.entries(fromPreview({ ...one, ...more })).filter(([, value]) => value !== null)
      expect(toPreview(Object.fromEntries(annotations) as Record<string, string>)).toEqual({ ...one, ...more })
    }),
  )
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.string()), any => void toPreview(any)))
})
