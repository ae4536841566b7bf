import type { ContainerPlan, DeploymentPlan, ObjectPlan, Plan, PodPlan } from '../../../compiler/plan/plan.ts'

const encoder = new TextEncoder()

/** A plan with nothing but what is given. */
export function planOf(parts: Partial<Plan>): Plan {
  return {
    environment: { name: 'shop', namespace: 'dev' },
    workloads: [],
    services: [],
    routes: [],
    openRoutes: [],
    claims: [],
    configMaps: [],
    secrets: [],
    externalSecrets: [],
    requiredSecrets: [],
    policies: [],
    autoscalers: [],
    serviceAccounts: [],
    objects: [],
    images: new Map(),
    unknownPrograms: [],
    builds: [],
    serviceCount: 0,
    jobCount: 0,
    security: { level: 'restricted', reasons: [] },
    ...parts,
  }
}

export function containerOf(parts: Partial<ContainerPlan> = {}): ContainerPlan {
  return { name: 'web', image: 'nginx:1.27', imagePullPolicy: 'IfNotPresent', env: [], ports: [], mounts: [], ...parts }
}

export function podOf(parts: Partial<PodPlan> = {}): PodPlan {
  return {
    services: ['web'],
    containers: [containerOf()],
    waits: [],
    fills: [],
    init: [],
    volumes: [],
    terminationGracePeriodSeconds: 10,
    ...parts,
  }
}

export function deploymentOf(
  name: string,
  pod: Partial<PodPlan> = {},
  parts: Partial<DeploymentPlan> = {},
): DeploymentPlan {
  return {
    kind: 'Deployment',
    ...object(name),
    ...(pod.waits && { waitsSource: `compose.yaml#services.${name}.depends_on` }),
    pod: podOf({ services: [name], containers: [containerOf({ name })], ...pod }),
    ...parts,
  }
}

export function object(name: string): ObjectPlan & { readonly service: string } {
  return { name, service: name, source: `compose.yaml#services.${name}` }
}

export function bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

/**
 * An application with one of most things: a web server before an API, a migration, a database with a volume, a cache.
 */
export const guestbook: Plan = planOf({
  environment: { name: 'guestbook', namespace: 'shop' },
  images: new Map(),
  serviceCount: 5,
  jobCount: 0,
  configMaps: [
    {
      name: 'guestbook-site-2c8f1e0a',
      source: 'compose.yaml#configs.site',
      data: { site: bytes('server {\n  listen 80;\n  location / { proxy_pass http://api:3000; }\n}\n') },
    },
  ],
  claims: [
    {
      name: 'data',
      source: 'compose.yaml#volumes.data',
      spec: { name: 'data', size: '2Gi', accessMode: 'ReadWriteOnce' },
    },
  ],
  services: [
    {
      ...object('api'),
      selects: { service: 'api' },
      headless: false,
      ports: [{ name: 'tcp-3000', port: 3000, targetPort: 3000, protocol: 'TCP' }],
    },
    { ...object('cache'), selects: { service: 'cache' }, headless: true, ports: [] },
    { ...object('db'), selects: { service: 'db' }, headless: true, ports: [] },
    {
      ...object('web'),
      source: 'compose.yaml#services.web.ports',
      selects: { service: 'web' },
      headless: false,
      ports: [
        { name: 'tcp-80', port: 80, targetPort: 80, protocol: 'TCP' },
        { name: 'tcp-8080', port: 8080, targetPort: 80, protocol: 'TCP' },
      ],
    },
  ],
  routes: [
    {
      ...object('web'),
      kind: 'Ingress',
      isOwnHost: false,
      source: 'compose.yaml#services.web.ports',
      host: 'web-shop.dev.example.com',
      rules: [{ path: '/', service: 'web', port: 80 }],
    },
  ],
  workloads: [
    {
      kind: 'StatefulSet',
      ...object('db'),
      serviceName: 'db',
      claimTemplates: [],
      pod: podOf({
        services: ['db'],
        fills: [
          {
            volume: 'data',
            directory: 'data',
            path: '/var/lib/postgresql/data',
            image: 'postgres:16-alpine',
            imagePullPolicy: 'IfNotPresent',
            toolsImage: 'busybox:1.37',
            rootless: false,
          },
        ],
        volumes: [{ kind: 'claim', name: 'data', claim: 'data' }],
        containers: [
          containerOf({
            name: 'db',
            image: 'postgres:16-alpine',
            env: [{ name: 'POSTGRES_PASSWORD', value: 'example' }],
            readinessProbe: {
              check: { kind: 'exec', command: ['pg_isready', '-U', 'postgres'] },
              periodSeconds: 2,
              timeoutSeconds: 30,
            },
            mounts: [{ volume: 'data', path: '/var/lib/postgresql/data', subPath: 'data' }],
          }),
        ],
      }),
    },
    {
      kind: 'Job',
      ...object('migrate'),
      restartPolicy: 'Never',
      backoffLimit: 0,
      pod: podOf({
        services: ['migrate'],
        waits: [{ kind: 'name', service: 'db', host: 'db', image: 'busybox:1.37' }],
        containers: [
          containerOf({
            name: 'migrate',
            image: 'postgres:16-alpine',
            args: ['psql', '-h', 'db', '-U', 'postgres', '-c', 'create table if not exists visits (at timestamptz)'],
            env: [{ name: 'PGPASSWORD', value: 'example' }],
          }),
        ],
      }),
    },
    deploymentOf(
      'api',
      {
        waits: [
          { kind: 'job', service: 'migrate', image: 'registry.k8s.io/kubectl:v1.34.2', toolsImage: 'busybox:1.37' },
        ],
        volumes: [{ kind: 'secret', name: 'secret-db-password', secret: 'guestbook-db-password', mode: 0o444 }],
        containers: [
          containerOf({
            name: 'api',
            image: 'node:22-alpine',
            args: [
              'node',
              '-e',
              "require('http').createServer((q, s) => s.end(process.env.GREETING + '\\n')).listen(3000)",
            ],
            env: [
              { name: 'GREETING', value: 'hello, $USER' },
              { name: 'LOG_LEVEL', value: '' },
            ],
            ports: [{ name: 'tcp-3000', port: 3000, protocol: 'TCP' }],
            readinessProbe: {
              check: {
                kind: 'exec',
                command: ['/bin/sh', '-c', 'wget -q -O /dev/null http://127.0.0.1:3000/ || exit 1'],
              },
              periodSeconds: 5,
              timeoutSeconds: 30,
              failureThreshold: 3,
            },
            resources: { limits: { cpu: '500m', memory: '128Mi' } },
            mounts: [
              {
                volume: 'secret-db-password',
                path: '/run/secrets/db_password',
                subPath: 'db_password',
                readOnly: true,
              },
            ],
          }),
        ],
      },
      { replicas: 2 },
    ),
    deploymentOf('web', {
      waits: [{ kind: 'port', service: 'api', host: 'api', ports: [3000], image: 'busybox:1.37' }],
      volumes: [{ kind: 'configMap', name: 'config-site', configMap: 'guestbook-site-2c8f1e0a' }],
      containers: [
        containerOf({
          name: 'web',
          image: 'nginx:1.27-alpine',
          ports: [{ name: 'tcp-80', port: 80, protocol: 'TCP' }],
          readinessProbe: { check: { kind: 'http', path: '/', port: 80 }, periodSeconds: 2, timeoutSeconds: 30 },
          mounts: [{ volume: 'config-site', path: '/etc/nginx/conf.d/default.conf', subPath: 'site', readOnly: true }],
        }),
      ],
    }),
    deploymentOf('cache', {
      containers: [containerOf({ name: 'cache', image: 'redis:7-alpine', args: ['redis-server', '--save', ''] })],
    }),
  ],
})
