import { expect, test } from 'vitest'
import { openDeploys } from '../../../../../platform/rules/runs/open-deploys.ts'

const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`
const run = (state: string, minute: number, more: object = {}) =>
  ({ environment: 'shop', action: 'deploy', state, ended: at(minute), ...more }) as never as Parameters<
    typeof openDeploys
  >[0][number]

test.each([
  ['the last one, whatever was before', [run('failed', 9), run('succeeded', 5)], {}, 9],
  ['not one that a newer run has followed', [run('succeeded', 9), run('failed', 5)], {}, undefined],
  ['nor while a newer one is at work', [run('running', 9), run('failed', 5)], {}, undefined],
  ['one that was replaced says nothing', [run('replaced', 9), run('failed', 5)], {}, 5],
  ['a destroy that failed says nothing', [run('failed', 9, { action: 'destroy' }), run('failed', 5)], {}, 5],
  [
    'not one of an environment that is destroyed',
    [run('succeeded', 9, { action: 'destroy' }), run('failed', 5)],
    {},
    undefined,
  ],
  ['one that came after a destroy', [run('failed', 9), run('succeeded', 5, { action: 'destroy' })], {}, 9],
  ['one that somebody has cancelled did not fail', [run('cancelled', 9)], {}, undefined],
  ['one that was refused did', [run('refused', 9)], {}, 9],
  ['not one that a deploy from elsewhere has followed', [run('failed', 5)], { shop: at(6) }, undefined],
  ['one that had noted itself before its end', [run('failed', 5)], { shop: at(4) }, 5],
  ['each environment for itself', [run('succeeded', 9, { environment: 'blog' }), run('failed', 5)], {}, 5],
] as const)('openDeploys finds the failed deploy: %s', (_, runs, deployed, minute) => {
  const { failed } = openDeploys(runs, new Map(Object.entries(deployed)))
  expect(failed.map(({ ended }) => ended)).toEqual(minute === undefined ? [] : [at(minute)])
})

test('each environment has its own failed deploy, and its own deploy in progress', () => {
  const runs = [
    run('queued', 9, { environment: 'shop' }),
    run('failed', 8, { environment: 'blog' }),
    run('failed', 7, { environment: 'shop' }),
    run('refused', 6, { environment: 'docs' }),
    run('failed', 5, { environment: 'docs' }),
  ]
  const { failed, atWork } = openDeploys(runs, new Map())
  expect(failed.map(({ environment, ended }) => [environment, ended])).toEqual([
    ['blog', at(8)],
    ['docs', at(6)],
  ])
  expect(atWork.map(({ environment }) => environment)).toEqual(['shop'])
})
