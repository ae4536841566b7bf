import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { diffOf } from '../../../environment/plan/diff.ts'
import { deploy, newCluster, object, plan, wanted, workload } from '../../support/objects/deploying.ts'

const reasons = async (before: readonly KubeObject[], after: readonly KubeObject[]) => {
  const cluster = newCluster()
  await deploy(cluster, wanted(before))
  const changes = await plan(cluster, wanted(after))
  const of = (isPast: boolean) =>
    diffOf(changes, undefined, isPast).flatMap(({ action, consequence }) => (action === 'delete' ? [consequence] : []))
  return [of(false), of(true)]
}
const file = (name: string, kind = 'ConfigMap') => object(kind, name, { data: {} })

test.each([
  [[file('shop-a-1111aaaa')], [file('shop-a-2222bbbb')], 'replaced, because its content changed', ''],
  [
    [file('shop-a-1111aaaa', 'Secret')],
    [file('shop-a-2222bbbb', 'Secret')],
    'replaced, because its content changed',
    '',
  ],
  [[file('shop-a-1111aaaa')], [file('shop-b-2222bbbb')], 'removed from the Compose file', '; will be deleted'],
  [[file('shop-a')], [file('shop-a-2222bbbb')], 'removed from the Compose file', '; will be deleted'],
  // The older object is of another file with that name, or of a part that was deployed before.
  [
    [file('shop-a-1111aaaa'), file('shop-a-2222bbbb')],
    [file('shop-a-2222bbbb')],
    'no longer used',
    '; will be deleted',
  ],
])('the reason of a deletion says what happened to the file (%#)', async (before, after, reason, future) => {
  expect(await reasons(before, after)).toEqual([[`${reason}${future}`], [reason]])
})

test('a file that now has the content of another one is reported as no longer used', async () => {
  const cluster = newCluster()
  const using = (name: string) => workload('Deployment', 'web', { spec: { template: { spec: { config: name } } } })
  await deploy(cluster, wanted([file('shop-a-1111aaaa'), file('shop-b-2222bbbb')], [using('shop-b-2222bbbb')]))
  const changes = await plan(cluster, wanted([file('shop-a-1111aaaa')], [using('shop-a-1111aaaa')]))
  expect(diffOf(changes)).toContainEqual(expect.objectContaining({ consequence: 'no longer used; will be deleted' }))
})
