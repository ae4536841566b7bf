import type { SeenEvents, ShownService } from '../../../../../platform/api/environments.ts'
import type { ReplyOf } from '../../../../../platform/api/routes.ts'
import { DAY, type MinutesAgo } from '../times.ts'
import { blogDeploy, SHOP, shopDeploy } from './environments.ts'

type History = ReplyOf<'GET /namespaces/:ns/environments/:env/history'>['items']

/** The last deploys of an environment that changed something. */
export function sampleHistory(at: MinutesAgo, env: string): History {
  if (env === 'shop') return shopHistory(at)
  if (env !== 'blog') return []
  const image = (before: string, after: string) => ({
    path: 'spec.template.spec.containers[site].image',
    before: `registry.example.com/ann/blog:${before}`,
    after: `registry.example.com/ann/blog:${after}`,
  })
  return [
    {
      ...blogDeploy(at),
      number: 3,
      changes: [
        { action: 'update', object: 'deployment/site', service: 'site', values: [image('51ac03e', '9b2d7c1')] },
      ],
      unapplied: [{ action: 'create', object: 'job/reindex', service: 'reindex' }],
    },
  ]
}

const shopHistory = (at: MinutesAgo): History => [
  {
    ...shopDeploy(at),
    number: 12,
    changes: [
      {
        action: 'update',
        object: 'deployment/api',
        service: 'api',
        values: [
          {
            path: 'spec.template.spec.containers[api].image',
            before: 'registry.example.com/shop/api:8d20c71',
            after: 'registry.example.com/shop/api:4f1c9aa',
          },
          { path: 'spec.replicas', before: '1', after: '2' },
        ],
      },
      {
        action: 'update',
        object: 'secret/shop-db-password',
        service: 'db',
        values: [{ path: 'data.db_password', masked: 'changed, 7 → 12 bytes' }],
      },
      { action: 'delete', object: 'deployment/mailer', values: [] },
    ],
  },
  {
    by: 'bob',
    at: at(3 * DAY),
    number: 11,
    repository: SHOP,
    branch: 'main',
    commit: '8d20c71aa3b1c2e4f5a60718293a4b5c6d7e8f90',
    subject: 'Add a worker for invoices',
    isDirty: true,
    changes: [
      { action: 'create', object: 'deployment/worker', service: 'worker', values: [] },
      {
        action: 'replace',
        object: 'job/migrate',
        values: [],
        consequence: 'the Job runs again',
      },
    ],
  },
]

/** The events of a service in the cluster. */
export function sampleEvents(at: MinutesAgo, { name, state, workload }: ShownService): SeenEvents {
  if (workload === undefined || state === 'asleep') return { items: [] }
  const about = `pod/${name}-6bbc7c877f-l5m5d`
  const event = (minutes: number, reason: string, message: string, count = 1) => ({
    ...{ about, time: at(minutes), reason, message, count },
  })
  if (state === 'failed')
    return {
      items: [
        { ...event(1, 'BackOff', `Back-off restarting failed container ${name}`, 23), isWarning: true },
        event(4, 'Pulled', 'Container image already present on machine', 5),
        event(20, 'Scheduled', `Successfully assigned ${about.slice(4)} to node-2`),
      ],
    }
  return {
    items: [
      event(118, 'Started', `Started container ${name}`),
      event(119, 'Pulled', 'Successfully pulled image in 1.2s'),
      { ...event(120, 'ScalingReplicaSet', `Scaled up replica set ${name}-6bbc7c877f to 1`), about: workload },
    ],
  }
}

/** The settings of a service in the cluster. */
export const sampleSettings = ({
  name,
  image,
  wanted,
  endpoints,
  internal,
}: ShownService): ReplyOf<'GET /namespaces/:ns/environments/:env/services/:service/settings'> => ({
  ...(image !== undefined && { image }),
  ...(endpoints.length > 0 && { command: ['serve', '--title', 'The shop'], directory: '/app' }),
  replicas: wanted,
  ports: internal.map(one => one.slice(one.lastIndexOf(':') + 1)),
  variables: [
    { name: 'GREETING' },
    { name: 'LOG_LEVEL' },
    { name: 'PASSWORD', from: 'secret/shop-db-password' },
    { name: '*', from: 'configmap/features' },
  ],
  volumes: [
    { path: '/cache' },
    { path: '/etc/app/features.yaml', from: 'configmap/features', isReadOnly: true },
    ...(name === 'db' ? [{ path: '/var/lib/postgresql/data', from: 'persistentvolumeclaim/data' }] : []),
  ],
  checks: [
    { kind: 'readiness', does: 'GET /health on port 80', every: 5, failures: 3 },
    { kind: 'liveness', does: 'TCP on port 80', every: 10, failures: 3 },
  ],
  resources: [
    { name: 'cpu', request: '50m' },
    { name: 'memory', request: '64Mi', limit: '128Mi' },
  ],
})
