import { CoreV1Api, KubeConfig, type V1PodStatus } from '@kubernetes/client-node'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { withChangeList } from '../../../environment/record/change-lists.ts'
import { recordName } from '../../../environment/record/record.ts'
import { PLATFORM_NAMESPACE } from '../../../platform/records/names.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import type { TestPlatform } from '../../support/platform/open-platform.ts'
import { PICTURES, shown } from './shown.ts'

// An environment as a deploy leaves it, whose Pods get no node: what a kubelet would say is written here.

export const COMMIT = '4f1c9aa0d3b1c2e4f5a60718293a4b5c6d7e8f90'
/** Event texts with an image name that tries to be markup: events contain image names, which any deployer chooses. */
export const NASTY_EVENT = shown(
  'pulled image <img src=x onerror=alert(1)>\u202egnp.exe',
  'Successfully pulled image "registry.example.com/shop/web:1.4.3" in 1.2s',
)
const SHOP = {
  repository: 'git.example.com/team/shop',
  branch: 'main',
  commit: COMMIT,
  subject: 'new greeting',
} as const

/** The value of a variable, which no page shows. */
export const SECRET_VALUE = 'canary-of-a-variable'
const SETTINGS_OF_WEB = {
  args: ['serve', '--title', shown('<img src=x onerror=alert(1)>\u202egnp.exe', 'The shop')],
  ports: [{ containerPort: 80 }],
  env: [
    { name: 'GREETING', value: SECRET_VALUE },
    { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'shop-db-password', key: 'db_password' } } },
  ],
  volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
  readinessProbe: { httpGet: { path: '/health', port: 80 }, periodSeconds: 5 },
  resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '128Mi' } },
}

interface Service {
  readonly service: string
  readonly kind: 'Deployment' | 'StatefulSet' | 'Job'
  readonly image: string
  readonly line: number
  readonly needs?: readonly { readonly service: string; readonly condition: string }[]
  readonly endpoints?: readonly string[]
}

const needs = (service: string, condition = 'service_started') => ({ service, condition })
const SERVICES: readonly Service[] = [
  { service: 'db', kind: 'StatefulSet', image: 'postgres:17', line: 41 },
  { service: 'cache', kind: 'Deployment', image: 'redis:7-alpine', line: 36 },
  {
    service: 'migrate',
    kind: 'Job',
    image: 'registry.example.com/shop/api:1.4.3',
    line: 30,
    needs: [needs('db', 'service_healthy')],
  },
  {
    service: 'api',
    kind: 'Deployment',
    image: 'registry.example.com/shop/api:1.4.3',
    line: 18,
    needs: [needs('migrate', 'service_completed_successfully'), needs('cache')],
  },
  {
    service: 'worker',
    kind: 'Deployment',
    image: 'registry.example.com/shop/worker:1.4.3',
    line: 25,
    needs: [needs('cache'), needs('db', 'service_healthy')],
  },
  {
    service: 'web',
    kind: 'Deployment',
    image: 'registry.example.com/shop/web:1.4.3',
    line: 4,
    needs: [needs('api', 'service_healthy')],
    endpoints: ['https://web-shop.dev.example.com', ...(PICTURES ? [] : ['javascript:alert(document.domain)'])],
  },
]

/**
 * Deploys `shop` with all of it ready but `api`, whose container ends again and again, with texts that try to be more.
 */
export async function makeEnvironment(platform: TestPlatform, namespace: string): Promise<void> {
  const apply = (object: KubeObject) => platform.cluster.apply(object, { manager: 'test', force: true })
  const labels = (service?: string) => ({
    'dev.platform/environment': 'shop',
    ...(service !== undefined && { 'dev.platform/service': service }),
  })
  const at = new Date(Date.now() - 180_000).toISOString()
  let history = withChangeList(undefined, {
    by: 'bob@desk',
    at: new Date(Date.now() - 90_000_000).toISOString(),
    ...SHOP,
    commit: 'abc1234567',
    subject: shown('<img src=x onerror=alert(1)>', 'first version of the shop'),
    changes: SERVICES.map(one => ({
      action: 'create',
      object: `${one.kind.toLowerCase()}/${one.service}`,
      service: one.service,
      values: [],
    })),
  })
  history = withChangeList(history, {
    by: 'ann@laptop-7',
    at,
    ...SHOP,
    changes: [
      {
        action: 'update',
        object: 'deployment/api',
        service: 'api',
        values: [
          {
            path: 'spec.template.spec.containers[api].image',
            before: 'registry.example.com/shop/api:1.4.2',
            after: 'registry.example.com/shop/api:1.4.3',
          },
          {
            path: 'spec.template.spec.containers[api].env[GREETING].value',
            before: 'hello',
            after: shown('</script><b>hello</b>', 'welcome'),
          },
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
  })
  const application = {
    services: SERVICES.map(({ needs = [], endpoints = [], ...one }) => ({
      ...one,
      needs,
      endpoints,
      file: 'compose.yaml',
      keys: {},
    })),
  }
  await apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: recordName('shop'), namespace, labels: labels() },
    data: {
      kinds: '',
      repository: SHOP.repository,
      file: 'compose.yaml',
      by: 'ann@laptop-7',
      at,
      application: JSON.stringify(application),
    },
    binaryData: { history },
  })
  for (const one of SERVICES) await apply(workload(one, namespace, labels(one.service)))
  await makeJob(platform, namespace, labels('backup'))
  await apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace, labels: labels('web') },
    spec: { ports: [{ port: 80 }], selector: { 'dev.platform/service': 'web' } },
  })
  await apply({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace, labels: labels('web') },
    spec: {
      tls: [{ hosts: [`web-${namespace}.dev.example.com`] }],
      rules: [
        {
          host: `web-${namespace}.dev.example.com`,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
          },
        },
      ],
    },
  })
  await apply({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'web.1', namespace },
    type: 'Normal',
    reason: 'Pulled',
    message: NASTY_EVENT,
    involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 3,
  })
  await says(platform, namespace)
}

/** Creates a job whose last run has failed. */
async function makeJob(
  { cluster }: TestPlatform,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const containers = [{ name: 'backup', image: 'postgres:17' }]
  const spec = { template: { spec: { schedulerName: 'nobody', restartPolicy: 'Never', containers } } }
  const apiVersion = 'batch/v1'
  const job = await cluster.create({
    apiVersion,
    kind: 'CronJob',
    metadata: { name: 'backup', namespace, labels },
    spec: { schedule: '30 3 * * *', timeZone: 'Europe/Berlin', jobTemplate: { spec } },
  })
  const owner = { apiVersion, kind: 'CronJob', name: 'backup', uid: job.metadata.uid ?? '' }
  const run = { name: 'backup-1', namespace, labels, ownerReferences: [owner] }
  // The Job controller fails it at once.
  await cluster.create({ apiVersion, kind: 'Job', metadata: run, spec: { ...spec, activeDeadlineSeconds: 1 } })
}

function workload(
  { service, kind, image }: Service,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): KubeObject {
  const template = {
    metadata: { labels },
    spec: {
      // No node gets them: where there is a kubelet, it would say otherwise.
      schedulerName: 'nobody',
      containers: [{ name: service, image, ...(service === 'web' && SETTINGS_OF_WEB) }],
      ...(service === 'web' && { volumes: [{ name: 'cache', emptyDir: {} }] }),
      ...(kind === 'Job' && { restartPolicy: 'Never' }),
    },
  }
  const selector = { matchLabels: { 'dev.platform/service': service } }
  return {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: service, namespace, labels },
    spec:
      kind === 'Job'
        ? { template }
        : { replicas: 1, selector, template, ...(kind === 'StatefulSet' && { serviceName: service }) },
  }
}

/** Writes what the kubelet would report about the Pods that controllers create. */
const says = (platform: TestPlatform, namespace: string): Promise<unknown> =>
  Promise.all(SERVICES.map(one => setPod(platform, namespace, one, podStatus(one.service, one.kind, one.image))))

/** Writes what becomes of the Pod of a service, as a kubelet would. */
export async function setReady(
  platform: TestPlatform,
  namespace: string,
  service: string,
  isReady: boolean,
): Promise<void> {
  const found = SERVICES.find(one => one.service === service)! // one of the list
  await setPod(platform, namespace, found, podStatus(service, found.kind, found.image, isReady))
}

/** Has the Pod of the platform's own server get ready. */
export const startServer = (platform: TestPlatform): Promise<void> =>
  writePod(platform, PLATFORM_NAMESPACE, undefined, podStatus('server', 'Deployment', 'devctl/platform'))

const setPod = (platform: TestPlatform, namespace: string, { service }: Service, status: V1PodStatus): Promise<void> =>
  writePod(platform, namespace, `dev.platform/service=${service}`, status)

/** Again where a controller was faster with the Pod. */
async function writePod(
  { cluster }: TestPlatform,
  namespace: string,
  labels: string | undefined,
  status: V1PodStatus,
): Promise<void> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const core = config.makeApiClient(CoreV1Api)
  await eventually(`the Pod of ${labels ?? namespace} says how it is`, async () => {
    const [pod] = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, ...(labels && { labels }) })
    if (!pod) return undefined
    const { name } = pod.metadata
    const body = await core.readNamespacedPod({ name, namespace })
    body.status = status
    return core.replaceNamespacedPodStatus({ name, namespace, body }).then(
      () => true,
      (error: { readonly code?: number }) => {
        if (error.code === 409) return undefined
        throw error
      },
    )
  })
}

function podStatus(
  service: string,
  kind: Service['kind'],
  image: string,
  isReady = service !== 'api' && kind !== 'Job',
): V1PodStatus {
  const now = new Date()
  const ended = (exitCode: number) => ({
    terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: now, finishedAt: now },
  })
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 2m40s restarting failed container' }
  return {
    phase: kind === 'Job' ? 'Succeeded' : 'Running',
    startTime: now,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type => ({
      type,
      status: isReady || !type.endsWith('Ready') ? 'True' : 'False',
      lastTransitionTime: now,
    })),
    containerStatuses: [
      {
        name: service,
        image,
        imageID: '',
        ready: isReady,
        started: isReady,
        restartCount: service === 'api' ? 5 : 0,
        state: kind === 'Job' ? ended(0) : isReady || service !== 'api' ? { running: { startedAt: now } } : { waiting },
        ...(service === 'api' && { lastState: ended(1) }),
      },
    ],
  }
}
