import { expect, test } from 'vitest'
import { type OnceSettings, toRunJob } from '../../../../operations/run/run-job.ts'
import { workload } from '../../../support/objects/deploying.ts'

const template = (container: object) => ({
  template: { spec: { containers: [{ name: 'web', image: 'web:1', ...container }] } },
})

/** Returns the Job of a run of the service `web`, and its container. */
function jobOf(settings: Partial<OnceSettings>, container: object = {}, kind = 'Deployment') {
  const spec = kind === 'CronJob' ? { jobTemplate: { spec: template(container) } } : template(container)
  const { object } = workload(kind, 'web', { spec })
  const { job } = toRunJob(object, 'web', { name: 'run', command: [], variables: {}, noDeps: false, ...settings })
  const { template: pod, ...of } = job['spec'] as { template: { spec: { containers: Record<string, unknown>[] } } }
  return { spec: of as Record<string, unknown>, container: pod.spec.containers[0]! }
}

test('the arguments of a run reach its program without an expansion by Kubernetes', () => {
  const command = ['sh', '-c', 'echo pid $$ $(KUBERNETES_PORT) $HOME', '$$(A)']
  expect(jobOf({ command }).container['args']).toEqual([
    'sh',
    '-c',
    'echo pid $$$ $$(KUBERNETES_PORT) $HOME',
    '$$$$(A)',
  ])
})

test('the variables of a run have their values without an expansion by Kubernetes', () => {
  const { container } = jobOf(
    { variables: { A: '$(B) $$ $C', B: '' } },
    {
      env: [
        { name: 'A', value: 'x' },
        { name: 'D', value: '$(E)' },
      ],
    },
  )
  expect(container['env']).toEqual([
    { name: 'D', value: '$(E)' },
    { name: 'A', value: '$$(B) $$$ $C' },
    { name: 'B', value: '' },
  ])
})

test.each([
  ['Deployment', false, 86_400],
  ['Deployment', true, 0],
  ['CronJob', false, undefined],
  ['CronJob', true, 0],
])(
  'the cluster deletes a finished run of a %s, with removal at its end %j, after %j seconds',
  (kind, isRemoved, ttl) => {
    expect(jobOf({ isRemoved }, {}, kind).spec['ttlSecondsAfterFinished']).toBe(ttl)
  },
)
