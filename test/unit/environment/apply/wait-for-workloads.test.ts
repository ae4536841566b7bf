import { expect, test } from 'vitest'
import { explainWait } from '../../../../environment/apply/wait-for-workloads.ts'
import { WorkloadFailed } from '../../../../environment/rollout/rollout.ts'
import { WorkloadDeleted } from '../../../../environment/rollout/tracker.ts'
import { never, newCluster, object, workload } from '../../../support/objects/deploying.ts'

test('a wait in which one workload fails and another is deleted ends with the deletion', async () => {
  const web = workload('Deployment', 'web')
  const status = { state: 'failed', text: 'failed' } as const
  const seen = { isStable: false, hasStartedPod: false, hasReadyPods: false, stuck: [], warnings: [] }
  const failed = new WorkloadFailed(web, { object: web.object, status, pods: [], problems: [], ...seen })
  const deleted = new WorkloadDeleted(object('StatefulSet', 'db'))
  const error = new AggregateError([failed, deleted])
  await expect(explainWait(newCluster(), error, undefined, never)).rejects.toBe(deleted)
})
