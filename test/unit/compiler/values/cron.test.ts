import { expect, test } from 'vitest'
import { findCronFault } from '../../../../compiler/values/cron.ts'

test.each([
  '* * * * *',
  '? ? ? ? ?',
  '*/15 8-18/2 1,15 jan,7 MON-fri',
  '59 23 31 12 6',
  '0 0 1 1 sun-sat',
  '  0\t5  * * * ',
  '@daily',
  '@every 1h30m',
  '005 * * * *',
  '0 0 * * 1,',
  ',0,,30 * * * *',
  '@every 100ms',
  '@every .5h1µs',
])('a valid cron expression: %j', text => {
  expect(findCronFault(text)).toBeUndefined()
})

test.each([
  ['60 * * * *', '`60` is not valid for the minute', 'the minute is between 0 and 59'],
  ['* 5-99 * * *', '`5-99` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* 5- * * *', '`5-` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* -5 * * *', '`-5` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* 5-1 * * *', '`5-1` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* 1-2-3 * * *', '`1-2-3` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* */0 * * *', '`*/0` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* * 0 * *', '`0` is not valid for the day of the month', 'the day of the month is between 1 and 31'],
  ['* * * mon *', '`mon` is not valid for the month', 'the month is between 1 and 12'],
  ['* 024 * * *', '`024` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* , * * *', '`,` is not valid for the hour', 'the hour is between 0 and 23'],
  ['* * * * 7', '`7` is not valid for the day of the week', 'write `0` for Sunday'],
  ['* * * * fri-7', '`fri-7` is not valid for the day of the week', 'Sunday is `0`: write `fri-6,0`'],
  ['* * * * 7-8', '`7-8` is not valid for the day of the week', 'the day of the week is between 0 and 6'],
])('an invalid cron expression: %j', (text, fault, hint) => {
  expect(findCronFault(text)).toEqual({ fault, hint })
})

test.each(['@every 1d', '@every 2w', '@every 5', '@every -5m', '@every'])('an invalid interval: %j', cron => {
  expect(findCronFault(cron)?.fault).toBe(`\`${cron}\` is unknown`)
})

test('the hints for Sunday are valid', () => {
  for (const day of ['0', 'fri-6,0']) expect(findCronFault(`* * * * ${day}`)).toBeUndefined()
})
