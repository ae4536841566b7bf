import { expect, test } from 'vitest'
import { IDLENESS, type IdleNamespace, whenIdle } from '../../../../../platform/rules/runs/idleness.ts'

const NOW = Date.parse('2026-06-15T12:00:00Z')
const HOUR = 3_600_000

test.each<[number, Partial<IdleNamespace>, 'stay' | 'sleep' | 'delete']>([
  [2.9, {}, 'stay'],
  [3, {}, 'sleep'],
  [3, { status: 'Sleeping' }, 'stay'],
  [3, { status: 'Waking' }, 'stay'],
  [1, { kind: 'preview' }, 'sleep'],
  [0.9, { kind: 'preview' }, 'stay'],
  [3, { kind: 'personal' }, 'sleep'],
  [24 * 14 - 1, {}, 'sleep'],
  [24 * 14, {}, 'delete'],
  [24 * 14, { status: 'Sleeping' }, 'delete'],
  [24 * 14, { status: 'DeleteFailed' }, 'stay'],
  [24 * 14, { status: 'Deleting' }, 'stay'],
  [24 * 7, { kind: 'preview', status: 'Sleeping' }, 'delete'],
  [24 * 400, { kind: 'personal', status: 'Sleeping' }, 'stay'],
  [24 * 400, { isPersistent: true }, 'stay'],
  [-5, {}, 'stay'],
  // A preview that ends at a set time ends then, no matter who uses it or wants to keep it.
  [0, { kind: 'preview', expires: '2026-06-15T12:00:00Z' }, 'delete'],
  [0, { kind: 'preview', expires: '2026-06-15T12:00:01Z' }, 'stay'],
  [0, { kind: 'preview', isPersistent: true, expires: '2026-06-15T11:00:00Z' }, 'delete'],
  [0, { kind: 'preview', status: 'Waking', expires: '2026-06-15T11:00:00Z' }, 'delete'],
  [0, { kind: 'preview', status: 'DeleteFailed', expires: '2026-06-15T11:00:00Z' }, 'stay'],
  [0, { kind: 'personal', expires: '2026-06-15T11:00:00Z' }, 'stay'],
  [0, { kind: 'preview', expires: 'tomorrow' }, 'stay'],
])('after %d idle hours, the decision for %j is %s', (hours, more, wanted) => {
  const lastActive = new Date(NOW - hours * HOUR).toISOString()
  expect(whenIdle({ kind: 'namespace', status: 'Active', lastActive, ...more }, NOW, IDLENESS)).toBe(wanted)
})

test('an invalid time, or limits of zero, change nothing', () => {
  const one = { kind: 'namespace', status: 'Active', lastActive: 'yesterday' } as const
  expect(whenIdle(one, NOW, IDLENESS)).toBe('stay')
  const never = { sleep: { namespace: 0, preview: 0 }, delete: { namespace: 0, preview: 0 } }
  expect(whenIdle({ ...one, lastActive: '2001-01-01T00:00:00Z' }, NOW, never)).toBe('stay')
})
