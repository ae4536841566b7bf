import { expect, test } from 'vitest'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { beyondWorkloads, failuresIn } from '../../../environment/apply/deploy.ts'
import { WorkloadFailed } from '../../../environment/rollout/rollout.ts'

const never = new AbortController().signal

test('beyondWorkloads returns a refusal that occurs beside a failed workload', () => {
  // The functions read only the service of a workload.
  const failed = new WorkloadFailed({ service: 'web' } as never, {} as never)
  const refusal = new ClusterError('invalid', 'the webhook `checks` refuses this change')
  const both = new AggregateError([failed, refusal])
  expect(failuresIn(both, never)).toBeUndefined()
  expect(beyondWorkloads(both)).toBe(refusal)
  expect(beyondWorkloads(new AggregateError([failed, refusal, refusal]))).toMatchObject({ errors: [refusal, refusal] })
  expect(beyondWorkloads(refusal)).toBe(refusal)
})
