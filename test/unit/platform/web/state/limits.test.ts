import { expect, test } from 'vitest'
import { shownLimits } from '../../../../../platform/web/state/limits.ts'

const GI = 2 ** 30
const cpu = { resource: 'requests.cpu', unit: 'cores', used: 1.2501, most: 8 } as const
const pods = { resource: 'pods', unit: 'objects', used: 100, most: 100 } as const
const memory = { resource: 'limits.memory', unit: 'bytes', used: 1.5 * GI, most: 64 * GI } as const
const secrets = { resource: 'count/secrets', unit: 'objects', used: 159, most: 200 } as const

test('the usual limits are shown in their order, with amounts', () => {
  expect(
    shownLimits([pods, secrets, memory, cpu]).map(({ name, amount, warning }) => [name, amount, warning?.word]),
  ).toEqual([
    ['CPU requests', '1.25 of 8 cores', undefined],
    ['Memory limits', '1.5 GiB of 64 GiB', undefined],
    ['Pods', '100 of 100', 'full'],
  ])
})

test('other limits are shown when little is left', () => {
  expect(shownLimits([{ ...secrets, used: 160 }])).toEqual([
    {
      resource: 'count/secrets',
      name: 'secrets',
      amount: '160 of 200',
      share: 0.8,
      warning: { word: 'nearly full', tone: 'warn' },
    },
  ])
})
