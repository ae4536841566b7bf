import { expect, test } from 'vitest'
import { neverFires, nextFire } from '../../../../compiler/values/next-fire.ts'

test.each([
  ['30 3 * * *', 'UTC', '2026-03-01T03:30:00Z', '2026-03-02T03:30:00.000Z'],
  ['30 3 * * *', 'Europe/Berlin', '2026-01-01T00:00:00Z', '2026-01-01T02:30:00.000Z'],
  ['30 3 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T22:00:00.000Z'],
  ['*/15 8-18/2 * jan,7 mon-fri', 'UTC', '2026-01-02T18:46:00Z', '2026-01-05T08:00:00.000Z'],
  ['5/20 * * * *', 'UTC', '2026-01-01T00:26:00Z', '2026-01-01T00:45:00.000Z'],
  ['0 0 13 * fri', 'UTC', '2026-01-03T00:00:00Z', '2026-01-09T00:00:00.000Z'],
  ['0 0 */2 * fri', 'UTC', '2026-01-03T00:00:00Z', '2026-01-05T00:00:00.000Z'],
  ['0 0 */01 * fri', 'UTC', '2026-01-03T00:00:00Z', '2026-01-09T00:00:00.000Z'],
  ['0 0 1 * */2', 'UTC', '2026-01-03T00:00:00Z', '2026-01-04T00:00:00.000Z'],
  ['0 0 5,* * mon', 'UTC', '2026-01-03T00:00:00Z', '2026-01-05T00:00:00.000Z'],
  ['0 0 6,* * mon', 'UTC', '2026-01-05T00:00:00Z', '2026-01-12T00:00:00.000Z'],
  ['0 0 30 2 */2', 'UTC', '2026-01-03T00:00:00Z', '2026-02-01T00:00:00.000Z'],
  ['0 0 29 2 ?', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['005 * * * *', 'UTC', '2026-01-01T00:05:00Z', '2026-01-01T01:05:00.000Z'],
  ['0 0 * * ,1,', 'UTC', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00.000Z'],
  ['@weekly', 'UTC', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00.000Z'],
  // Clocks skip from 2:00 to 3:00 on this day.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00.000Z'],
  ['30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', '2026-03-09T06:30:00.000Z'],
])('`%s` in %s fires after %s at %s', (cron, zone, after, expected) => {
  const time = nextFire(cron, zone, Date.parse(after))
  expect(time && new Date(time).toISOString()).toBe(expected)
})

test.each(['0 0 30 2 *', '@every 1h', 'nonsense'])('`%s` has no known next time', cron => {
  expect(nextFire(cron, 'UTC', 0)).toBeUndefined()
})

test.each([
  ['@every 5m', '2026-01-01T00:00:07Z', '2026-01-01T00:12:00Z', '2026-01-01T00:15:07.000Z'],
  ['@every 1h30m', '2026-01-01T00:00:00Z', '2026-01-01T01:30:00Z', '2026-01-01T03:00:00.000Z'],
  ['@every 1h', '2026-01-01T00:00:10Z', '2026-01-01T00:00:00Z', '2026-01-01T01:00:10.000Z'],
  ['@every 1.5s', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01.000Z'],
  ['@every 100ms', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01.000Z'],
  ['@every 1m2500ms', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:01:02.000Z'],
  ['@every 0.2s', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01.000Z'],
])('`%s` since %s fires after %s at %s', (cron, begun, after, expected) => {
  const time = nextFire(cron, 'UTC', Date.parse(after), Date.parse(begun))
  expect(time && new Date(time).toISOString()).toBe(expected)
})

test.each(['0 0 30 2 *', '0 0 31 2,4,jun *', '5 4 30-31 feb */1', '0 0 31 9 ?'])('`%s` never fires', cron => {
  expect(neverFires(cron)).toBe(true)
})

test.each(['0 0 29 2 *', '0 0 30 2 mon', '0 0 30 2 */2', '0 0 31 */2 *', '@daily', '@every 1h', '* * * * *'])(
  '`%s` fires',
  cron => {
    expect(neverFires(cron)).toBe(false)
  },
)

test('an expression in a time zone that is unknown here, or a very long one, has no known next time', () => {
  expect(nextFire('30 3 * * *', 'posixrules', 0)).toBeUndefined()
  expect(nextFire(`${'0,'.repeat(1000)}0 3 * * *`, 'UTC', 0)).toBeUndefined()
})

test.each([
  ['45 2 * * *', 'Europe/Berlin', '2026-10-25T00:10:00Z', '2026-10-25T00:45:00.000Z'],
  ['45 2 * * *', 'Europe/Berlin', '2026-10-25T00:50:00Z', '2026-10-25T01:45:00.000Z'],
  ['30 * * * *', 'Europe/Berlin', '2026-10-25T00:10:00Z', '2026-10-25T00:30:00.000Z'],
  ['30 * * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00.000Z'],
  ['30 * * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00.000Z'],
  ['0,50 * * * *', 'Europe/Berlin', '2026-10-25T00:50:00Z', '2026-10-25T01:00:00.000Z'],
  ['30 * * * *', 'America/New_York', '2026-11-01T04:45:00Z', '2026-11-01T05:30:00.000Z'],
  ['30 * * * *', 'America/New_York', '2025-11-02T05:45:00Z', '2025-11-02T06:30:00.000Z'],
  ['15 1,2 * * *', 'Australia/Lord_Howe', '2026-04-04T14:30:00Z', '2026-04-04T15:45:00.000Z'],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T14:50:00Z', '2026-04-04T15:15:00.000Z'],
  // Clocks go back from midnight to 23:00.
  ['30 23 * * *', 'Asia/Beirut', '2026-10-24T20:45:00Z', '2026-10-24T21:30:00.000Z'],
])('`%s` in %s, where clocks go back, fires after %s at %s', (cron, zone, after, expected) => {
  const at = nextFire(cron, zone, Date.parse(after))
  expect(at && new Date(at).toISOString()).toBe(expected)
})
