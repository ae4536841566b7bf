import { expect, test } from 'vitest'
import { sumOfDays } from '../../../../../platform/web/state/analytics.ts'

const NOW = Date.UTC(2026, 10, 23, 12)
const day = (date: string, commands: Record<string, Record<string, number>>) => ({
  day: date,
  commands,
  versions: { '0.1.0': 3, '0.2.0': 1 },
  systems: { linux: 2 },
})

test('sumOfDays adds counts, sorts them by use, and includes days without counts', () => {
  const found = sumOfDays(
    [
      day('2026-11-23', { deploy: { done: 3, failed: 1, '10s': 3, '1m': 1 }, ps: { done: 1, '1s': 1 } }),
      day('2026-11-21', { deploy: { done: 2, usage: 2, interrupted: 1, '1m': 5 } }),
      // This day is before the period.
      day('2026-11-20', { up: { done: 9, longer: 9 } }),
    ],
    NOW,
    3,
  )
  expect(found).toEqual({
    all: 10,
    days: [
      { name: '2026-11-21', count: 5, share: 1 },
      { name: '2026-11-22', count: 0, share: 0 },
      { name: '2026-11-23', count: 5, share: 1 },
    ],
    commands: [
      // One of the 6 commands that ended by themselves has failed.
      { name: 'deploy', count: 9, share: 1, failed: 17, half: '1 min' },
      { name: 'ps', count: 1, share: 1 / 9, failed: 0, half: '1 s' },
    ],
    versions: [
      { name: '0.1.0', count: 6, share: 1 },
      { name: '0.2.0', count: 2, share: 1 / 3 },
    ],
    systems: [{ name: 'linux', count: 4, share: 1 }],
  })
})

test('a median above all lengths is undefined, and no days have no counts', () => {
  const long = sumOfDays([day('2026-11-23', { up: { interrupted: 3, longer: 2, '1s': 1 } })], NOW, 1)
  expect(long.commands).toEqual([{ name: 'up', count: 3, share: 1, failed: 0, half: undefined }])
  expect(sumOfDays([], NOW, 2)).toMatchObject({ all: 0, days: [{ share: 0 }, { share: 0 }], commands: [], systems: [] })
})
