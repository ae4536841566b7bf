import { expect, test } from 'vitest'
import { toContainer } from '../../../../constructs/pod/container.ts'
import { onceContainer } from '../../../../constructs/pod/once.ts'
import type { Tools } from '../../../../constructs/pod/tools.ts'
import { type OnceSettings, toRunJob } from '../../../../containers/run/run-job.ts'
import { workload } from '../../../support/objects/deploying.ts'

type Labels = Readonly<Record<string, string>>

const template = (container: object, labels?: Labels) => ({
  template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1', ...container }] } },
})

interface PodTemplate {
  readonly metadata: { readonly labels: Labels }
  readonly spec: { readonly containers: readonly Record<string, unknown>[] }
}

/** Returns the Job of a run of the service `web`, its container, and the labels of its Pod. */
function jobOf(settings: Partial<OnceSettings>, container: object = {}, kind = 'Deployment', labels?: Labels) {
  const own = template(container, labels)
  const { object } = workload(kind, 'web', { spec: kind === 'CronJob' ? { jobTemplate: { spec: own } } : own })
  const { job } = toRunJob(object, 'web', { name: 'run', command: [], variables: {}, noDeps: false, ...settings })
  const { template: pod, ...of } = job['spec'] as { template: PodTemplate }
  const inJob = job.metadata.labels
  expect(inJob).toEqual(pod.metadata.labels)
  return { spec: of as Record<string, unknown>, container: pod.spec.containers[0]!, labels: pod.metadata.labels }
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

const LABELS = {
  'app.kubernetes.io/name': 'web',
  'dev.platform/environment': 'shop',
  'dev.platform/service': 'web',
  'alias.devctl/app': 'true',
  'network.devctl/back': 'true',
  'pod-template-hash': '5d4f',
  tier: 'front',
}

test.each([
  ['Deployment', ['app.kubernetes.io/name', 'dev.platform/environment', 'network.devctl/back', 'tier']],
  ['CronJob', Object.keys(LABELS)],
])('the Pod of a run of a %s has the labels %j', (kind, expected) => {
  expect(Object.keys(jobOf({}, {}, kind, LABELS).labels)).toEqual(expected)
})

const ONCE = { name: 'web', image: 'web:1', imagePullPolicy: 'Always', env: [], ports: [], mounts: [] } as const
const TOOLS = { mount: { volume: 'tools', path: '/devctl' } } as Tools

test.each([
  ['its arguments', { args: ['hi'] }, [], { args: ['hi'] }],
  ['other arguments', { args: ['hi'] }, ['echo'], { args: ['echo'] }],
  ['its entrypoint', { command: ['/$(A)'], args: ['hi'] }, ['echo'], { command: ['/$$(A)'], args: ['echo'] }],
  ['its image', { once: { entrypoint: ['/run'], cmd: ['all'] } }, [], { command: ['/run'], args: ['all'] }],
  [
    'other arguments of its image',
    { once: { entrypoint: ['/run'], cmd: ['all'] } },
    ['x'],
    { command: ['/run'], args: ['x'] },
  ],
  ['other arguments of an image without an entrypoint', { once: { cmd: ['all'] } }, ['x'], { args: ['x'] }],
])('a run of a service that stays in the Pod of others ends with its program, with %s', (_, own, command, expected) => {
  const once = { ...('once' in own && own.once), toolsImage: 'busybox', retries: 0 }
  const container = toContainer(onceContainer({ ...ONCE, ...own, once }, TOOLS)) as object
  const { command: program, args } = jobOf({ command }, container).container
  expect({ command: program, args }).toEqual({ command: undefined, ...expected })
})
