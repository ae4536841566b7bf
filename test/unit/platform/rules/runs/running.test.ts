import { describe, expect, test } from 'vitest'
import { environmentState, runningOf, standingOf } from '../../../../../platform/rules/runs/running.ts'

interface Environment {
  readonly name: string
  readonly state: string
  readonly ready: number
  readonly endpoints: readonly string[]
  readonly problem?: { readonly service: string; readonly reason: string }
  readonly waits?: { readonly service: string; readonly reason: string }
  readonly deployed?: { readonly by: string; readonly at: string }
}
const environment = (name: string, more: Partial<Environment> = {}): Environment => ({
  name,
  state: 'ready',
  ready: 3,
  endpoints: [`https://web-${name}.example.com`],
  ...more,
})
const of = (run: string, environment: string) => ({ run, environment })
const BROKEN = { state: 'failed', ready: 0 }

describe('runningOf', () => {
  test.each([
    ['empty', 'Nothing running', []],
    ['ready', '3 services ready', [environment('shop')]],
    ['ready', '1 service ready', [environment('shop', { ready: 1 })]],
    ['ready', '3 services ready', [environment('shop'), environment('pay', { state: 'stopped', ready: 0 })]],
    ['waiting', 'Starting', [environment('shop'), environment('pay', { state: 'waiting' })]],
    ['failed', 'Problem in pay', [environment('shop', { state: 'waiting' }), environment('pay', BROKEN)]],
    ['failed', '2 problems', [environment('shop', BROKEN), environment('pay', BROKEN)]],
    ['asleep', 'Asleep', [environment('shop', { state: 'asleep', ready: 0 })]],
    ['stopped', 'Stopped', [environment('shop', { state: 'stopped', ready: 0 })]],
  ])('a namespace is %s, shown as "%s"', (state, word, environments) => {
    expect(runningOf({ environments })).toMatchObject({ state, word })
  })

  test('a failed last deploy is reported, and whether earlier services still run', () => {
    const failedDeploys = [of('r', 'shop')]
    const word = 'Deploy of shop failed'
    const still = runningOf({ environments: [environment('shop')], failedDeploys })
    expect(still).toMatchObject({ state: 'failed', word, failedDeploy: { run: 'r' }, isPreviousRunning: true })
    const never = runningOf({ environments: [environment('blog')], failedDeploys })
    expect(never).toMatchObject({ state: 'failed', word })
    expect(never.isPreviousRunning).toBeUndefined()
    const broken = runningOf({ environments: [environment('pay', BROKEN)], failedDeploys })
    expect(broken).toMatchObject({ word: 'Problem in pay', failedDeploy: { run: 'r' } })
  })

  test('a namespace whose services only wait is starting, with the reason, unless another service has a problem', () => {
    const waits = { service: 'db', reason: 'no node has room: insufficient memory' }
    const shop = environment('shop', { state: 'waiting', ready: 1, waits })
    expect(runningOf({ environments: [shop] })).toMatchObject({ state: 'waiting', word: 'Starting', waits })
    expect(environmentState(shop, {})).toEqual({ state: 'waiting', word: 'Starting' })
    const problem = { service: 'api', reason: 'its image cannot be pulled' }
    const both = runningOf({ environments: [shop, environment('pay', { ...BROKEN, problem })] })
    expect(both).toMatchObject({ state: 'failed', problem })
    expect(both.waits).toBeUndefined()
  })

  test('a deploy in progress is reported, unless another environment is broken', () => {
    const deploys = [of('r', 'shop')]
    const deploying = { state: 'deploying', word: 'Deploying shop' }
    expect(runningOf({ environments: [], deploys })).toMatchObject(deploying)
    expect(runningOf({ environments: [environment('shop', BROKEN)], deploys })).toMatchObject(deploying)
    const other = runningOf({ environments: [environment('pay', BROKEN)], deploys })
    expect(other).toMatchObject({ state: 'failed', word: 'Problem in pay' })
  })

  test('runningOf returns the first problem, the last deploy, and all URLs', () => {
    const problem = { service: 'api', reason: 'the image cannot be pulled' }
    const found = runningOf({
      environments: [
        environment('shop', { deployed: { by: 'ann', at: '2026-01-02T00:00:00Z' } }),
        environment('pay', { ...BROKEN, problem, deployed: { by: 'bob', at: '2026-01-03T00:00:00Z' } }),
      ],
    })
    expect(found).toMatchObject({ problem, deployed: { environment: 'pay', deploy: { by: 'bob' } } })
    expect(found.endpoints).toEqual(['https://web-shop.example.com', 'https://web-pay.example.com'])
  })
})

describe('standingOf', () => {
  const running = { state: 'ready', word: '3 services ready' } as const
  test.each([
    ['Active', running, running],
    // A deploy from elsewhere has followed the run.
    ['Failed', running, running],
    ['Deploying', running, running],
    ['Sleeping', running, { state: 'Sleeping', word: 'Asleep' }],
    ['Deleting', running, { state: 'Deleting', word: 'Deleting' }],
    ['Active', undefined, { state: 'Active', word: 'Active' }],
    ['Failed', undefined, { state: 'Failed', word: 'Deploy failed' }],
    ['Melting', running, { state: 'Melting', word: 'Melting' }],
  ])('standingOf combines the status %s with %o', (status, inside, wanted) => {
    expect(standingOf(status, inside)).toEqual(wanted)
  })
})

test('an environment has the state of its services, unless a deploy is in progress or has failed', () => {
  const shop = { name: 'shop', state: 'ready' }
  const failedDeploys = [of('r', 'shop')]
  expect(environmentState(shop, {})).toEqual({ state: 'ready', word: 'Ready' })
  expect(environmentState(shop, { failedDeploys: [of('r', 'pay')], deploys: [of('s', 'pay')] }).word).toBe('Ready')
  expect(environmentState(shop, { failedDeploys })).toEqual({ state: 'failed', word: 'Deploy failed' })
  expect(environmentState({ ...shop, state: 'failed' }, { failedDeploys }).word).toBe('Problem')
  expect(environmentState(shop, { failedDeploys, deploys: [of('s', 'shop')] }).word).toBe('Deploying')
  expect(environmentState({ ...shop, state: 'melting' }, {})).toEqual({ state: 'melting', word: 'melting' })
})
