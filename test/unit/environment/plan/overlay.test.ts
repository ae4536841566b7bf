import { expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { differencesOf, pathText } from '../../../../environment/plan/comparison.ts'
import { overlay } from '../../../../environment/plan/overlay.ts'
import { actions, newCluster, object, plan, wanted, workload } from '../../../support/objects/deploying.ts'

const deployment = (containers: readonly object[], more = {}) =>
  object('Deployment', 'web', { spec: { template: { spec: { containers } }, ...more } })

test('overlay keeps fields that the files do not set, and matches items by their names', () => {
  const live = deployment(
    [
      { name: 'mesh', image: 'm:1' },
      { name: 'web', image: 'a:1', imagePullPolicy: 'Always' },
    ],
    { replicas: 3 },
  )
  const next = overlay(live, deployment([{ name: 'web', image: 'a:2' }]))
  expect(differencesOf(live, next).map(({ keys, after }) => `${pathText(keys)} ${JSON.stringify(after)}`)).toEqual([
    'spec.template.spec.containers[web].image "a:2"',
  ])
})

test('overlay keeps and adds keys that every object inherits', () => {
  const live = object('ConfigMap', 'web', { data: { constructor: 'kept' } })
  const next = overlay(live, object('ConfigMap', 'web', { data: { toString: 'added' } }))
  expect(Object.entries(next['data'] as object)).toEqual([
    ['constructor', 'kept'],
    ['toString', 'added'],
  ])
})

test('differencesOf has no value for a missing key that every object inherits', () => {
  const [one, other] = [{ data: {} }, { data: { constructor: 'x' } }].map(data => object('ConfigMap', 'web', data))
  expect(differencesOf(one!, other!)).toEqual([{ keys: ['data', 'constructor'], before: undefined, after: 'x' }])
})

test('a plan is made without the dry run if a webhook does not support it', async () => {
  const cluster = newCluster()
  const what = (image: string) => wanted([], [workload('Deployment', 'web', deployment([{ name: 'web', image }]))])
  cluster.before = ({ dryRun }) => {
    if (dryRun)
      throw new ClusterError('invalid', 'admission webhook "x.example.com" does not support dry run', { status: 400 })
  }
  expect(actions(await plan(cluster, what('a:1')))).toEqual(['create deployment/web'])
})
