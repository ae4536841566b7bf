import type {
  EnvironmentDetails,
  ServiceProblem,
  ShownDeploy,
  ShownJob,
  ShownService,
} from '../../../../../platform/api/environments.ts'
import { DAY, HOUR, type MinutesAgo } from '../times.ts'

/** Repository of the environment `shop`. */
export const SHOP = 'git.example.com/team/shop'
export const SHOP_COMMIT = '4f1c9aa0d3b1c2e4f5a60718293a4b5c6d7e8f90'
export const BLOG_COMMIT = '9b2d7c11e0f34a5b6c7d8e9fa0b1c2d3e4f50617'
export const PULL_COMMIT = 'c01dbeef5b57875f334f61aebed695e2e4193db5'

/** A healthy service, of which only the differences from most services have to be given. */
const service = (
  name: string,
  line: number,
  more: Partial<ShownService> & Pick<ShownService, 'image' | 'since'>,
): ShownService => ({
  name,
  state: 'ready',
  kind: 'Deployment',
  workload: `deployment/${name}`,
  ready: 1,
  wanted: 1,
  restarts: 0,
  endpoints: [],
  exposed: [],
  internal: [],
  dependsOn: [],
  place: { file: 'compose.yaml', line },
  problems: [],
  ...more,
})

const shopServices = (since: string, web: readonly string[]): ShownService[] => [
  service('db', 38, {
    ...{ since, image: 'postgres:17', kind: 'StatefulSet', workload: 'statefulset/db' },
    internal: ['db:5432'],
  }),
  service('cache', 33, { since, image: 'redis:7-alpine', internal: ['cache:6379'] }),
  service('api', 15, {
    ...{ since, image: 'registry.example.com/shop/api:4f1c9aa', ready: 2, wanted: 2, restarts: 1 },
    internal: ['api:8080'],
    dependsOn: [
      { service: 'db', condition: 'service_healthy' },
      { service: 'cache', condition: 'service_started' },
    ],
  }),
  service('worker', 25, {
    ...{ since, image: 'registry.example.com/shop/worker:4f1c9aa' },
    dependsOn: [
      { service: 'db', condition: 'service_healthy' },
      { service: 'cache', condition: 'service_started' },
    ],
  }),
  service('web', 4, {
    ...{ since, image: 'registry.example.com/shop/web:4f1c9aa' },
    endpoints: [...web],
    internal: ['web:80'],
    dependsOn: [{ service: 'api', condition: 'service_healthy' }],
  }),
]

/** The jobs of `shop`, the last run of one of which has failed. */
const shopJobs = (at: MinutesAgo): ShownJob[] => [
  {
    name: 'backup',
    schedules: [{ cron: '30 3 * * *', timeZone: 'Europe/Berlin' }],
    nextRun: at(-9 * HOUR),
    lastRun: { state: 'succeeded', started: at(15 * HOUR), ended: at(15 * HOUR - 2), exitStatus: 0 },
  },
  {
    name: 'import',
    schedules: [{ cron: '*/15 * * * *' }],
    nextRun: at(-7),
    lastRun: { state: 'failed', started: at(8), ended: at(7), exitStatus: 1 },
  },
  { name: 'reindex', schedules: [] },
]

const CRASH_LOOP: ServiceProblem = {
  code: 'deploy/crash-loop',
  message: '`site` exited 5 times with code 1',
  hint: '`devctl logs site` shows more',
  notes: [
    'its image is `registry.example.com/ann/blog:9b2d7c1`',
    'the last lines of its log:',
    '| Loading content from /site/posts',
    "| Error: ENOENT: no such file or directory, open '/site/config.json'",
  ],
  place: { file: 'compose.yaml', line: 3 },
}

/** Environments by namespace. */
export function sampleEnvironments(at: MinutesAgo): Map<string, EnvironmentDetails[]> {
  const shop: EnvironmentDetails = {
    name: 'shop',
    namespace: 'shop',
    state: 'ready',
    deployed: { ...shopDeploy(at), number: 12 },
    source: { repository: SHOP, file: 'compose.yaml' },
    services: shopServices(at(2 * HOUR), ['https://shop.dev.example.com', 'https://web-shop.dev.example.com']),
    jobs: shopJobs(at),
  }
  const blog: EnvironmentDetails = {
    name: 'blog',
    namespace: 'ann',
    state: 'failed',
    deployed: { ...blogDeploy(at), number: 3 },
    source: { repository: 'git.example.com/ann/blog', file: 'compose.yaml' },
    services: [
      service('db', 12, {
        ...{ since: at(2 * DAY), image: 'postgres:17', kind: 'StatefulSet', workload: 'statefulset/db' },
        internal: ['db:5432'],
      }),
      service('site', 3, {
        ...{ since: at(20), image: 'registry.example.com/ann/blog:9b2d7c1', state: 'failed', ready: 0, restarts: 5 },
        reason: 'its container exits again and again, with code 1',
        endpoints: ['https://blog-ann.dev.example.com'],
        internal: ['site:3000'],
        dependsOn: [{ service: 'db', condition: 'service_healthy' }],
        problems: [CRASH_LOOP],
      }),
    ],
  }
  const docs: EnvironmentDetails = {
    name: 'docs',
    namespace: 'docs',
    state: 'asleep',
    deployed: { by: 'bob', at: at(5 * DAY), number: 4, repository: 'git.example.com/team/docs', branch: 'main' },
    source: { repository: 'git.example.com/team/docs', file: 'compose.yaml' },
    services: [
      service('search', 9, {
        ...{ since: at(4 * DAY), image: 'getmeili/meilisearch:v1.11', state: 'asleep', ready: 0, wanted: 0 },
        internal: ['search:7700'],
      }),
      service('site', 2, {
        ...{ since: at(4 * DAY), image: 'nginx:1.27', state: 'asleep', ready: 0, wanted: 0 },
        endpoints: ['https://docs.dev.example.com'],
        internal: ['site:80'],
        dependsOn: [{ service: 'search', condition: 'service_started' }],
      }),
    ],
  }
  const preview: EnvironmentDetails = {
    ...shop,
    namespace: 'shop-pr-7',
    deployed: { by: 'bob', at: at(3 * HOUR), number: 1, repository: SHOP, branch: 'feature/checkout' },
    services: shopServices(at(3 * HOUR), ['https://shop-pr-7.dev.example.com']),
  }
  return new Map([
    ['ann', [blog]],
    ['docs', [docs]],
    ['shop', [shop]],
    ['shop-pr-7', [preview]],
  ])
}

/** The last deploy of `shop`. */
export const shopDeploy = (at: MinutesAgo): ShownDeploy => ({
  by: 'ann',
  at: at(2 * HOUR),
  repository: SHOP,
  branch: 'main',
  commit: SHOP_COMMIT,
  subject: 'Show the delivery date in the cart',
})

/** The failed deploy of `blog`. */
export const blogDeploy = (at: MinutesAgo): ShownDeploy => ({
  by: 'ann',
  at: at(20),
  repository: 'git.example.com/ann/blog',
  branch: 'main',
  commit: BLOG_COMMIT,
  subject: 'Read the settings from a file',
  end: 'failed',
})
