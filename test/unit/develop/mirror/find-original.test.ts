import { expect, test } from 'vitest'
import type { KubeObject, ObjectQuery } from '../../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { MIRROR_LABEL } from '../../../../constructs/mirror/names.ts'
import { findOriginal, named } from '../../../../develop/mirror/find-original.ts'
import type { Session } from '../../../../project/session.ts'

const workload = (kind: string, name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: kind.endsWith('Job') ? 'batch/v1' : 'apps/v1',
  kind,
  metadata: { name, namespace: 'shop', ...metadata },
})

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: kind === 'CronJob' ? 'batch/v1' : 'apps/v1', kind, name, uid: name }],
})

/** Returns the workload that `app=nightly` selects in a cluster in which all these workloads have the label. */
async function find(...objects: readonly KubeObject[]): Promise<unknown> {
  const list = async ({ kind }: ObjectQuery) => objects.filter(one => one.kind === kind)
  const session = { cluster: { list }, namespace: 'shop', signal: new AbortController().signal } as unknown as Session
  try {
    const found = await findOriginal(session, { name: 'nightly', selector: [{ name: 'app', value: 'nightly' }] })
    return found && named(found)
  } catch (error) {
    if (error instanceof UserError) return [error.message, error.hint]
    throw error
  }
}

test.each<[string, string, readonly KubeObject[]]>([
  [
    'the Jobs that a CronJob has made',
    'cronjob/nightly',
    [
      workload('CronJob', 'nightly'),
      workload('Job', 'nightly-1', ownedBy('CronJob', 'nightly')),
      workload('Job', 'nightly-2', ownedBy('CronJob', 'nightly')),
    ],
  ],
  [
    'the Job of `devctl run`',
    'deployment/nightly',
    [workload('Deployment', 'nightly'), workload('Job', 'nightly-run', ownedBy('Deployment', 'nightly'))],
  ],
  [
    'mirrors',
    'deployment/nightly',
    [workload('Deployment', 'nightly'), workload('Deployment', 'nightly-dev', { labels: { [MIRROR_LABEL]: 'x' } })],
  ],
])('findOriginal ignores %s', async (_, expected, objects) => {
  expect(await find(...objects)).toBe(expected)
})

test('findOriginal finds a Deployment that an operator owns', async () => {
  expect(await find(workload('Deployment', 'nightly', ownedBy('Operator', 'all')))).toBe('deployment/nightly')
})

test('findOriginal asks for more labels if the labels select several workloads', async () => {
  expect(await find(workload('Deployment', 'one'), workload('Deployment', 'two'))).toEqual([
    '`selector` of `nightly` selects 2 workloads: deployment/one, deployment/two',
    'add labels that only one of them has',
  ])
})

test('findOriginal explains that a job with several schedules cannot be developed', async () => {
  expect(await find(workload('CronJob', 'nightly'), workload('CronJob', 'nightly-2'))).toEqual([
    '`nightly` has 2 schedules, and only one can be suspended: cronjob/nightly, cronjob/nightly-2',
    'keep only one schedule of the job, or select one CronJob by a label in `selector` that only it has',
  ])
})
