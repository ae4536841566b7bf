import { expect, test } from 'vitest'
import { didYouMean } from '../../../../compiler/diagnostics/suggest.ts'
import { findTimeZoneFault } from '../../../../compiler/values/time-zone.ts'

test.each([
  'UTC',
  'Etc/UTC',
  'GMT',
  'EST',
  'US/Eastern',
  'Etc/GMT+5',
  'Europe/Berlin',
  'Europe/Kyiv',
  'Europe/Kiev',
  'Asia/Kolkata',
  'Asia/Calcutta',
  'America/Argentina/Buenos_Aires',
])('%s is a time zone', name => {
  expect(findTimeZoneFault(name, didYouMean)).toBeUndefined()
})

test.each([
  ['asia/kolkata', 'Asia/Kolkata'],
  ['asia/calcutta', 'Asia/Calcutta'],
  ['us/eastern', 'US/Eastern'],
  ['utc', 'UTC'],
  ['etc/utc', 'Etc/UTC'],
  ['gmt', 'GMT'],
  ['europe/Berlin', 'Europe/Berlin'],
  ['europe/kyiv', 'Europe/Kyiv'],
])('%s is written %s, because Kubernetes distinguishes upper and lower case', (name, spelled) => {
  expect(findTimeZoneFault(name, didYouMean)).toBe(`write \`${spelled}\``)
})

test.each([
  ['Asia/Kolkatta', 'Asia/Kolkata'],
  ['Europe/Berln', 'Europe/Berlin'],
])('%s is no time zone, and the nearest one is named', (name, nearest) => {
  expect(findTimeZoneFault(name, didYouMean)).toBe(`did you mean \`${nearest}\`?`)
})

test.each(['PST', 'IST', 'ist', 'SystemV/PST8', 'Local', '+01:00', 'Mars/Olympus'])('%s is no time zone', name => {
  expect(findTimeZoneFault(name, didYouMean)).toContain('write a name of the IANA time zone database')
})
