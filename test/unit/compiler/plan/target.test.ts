import { expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

// The whole plan of a small application with one object of each kind.

const guestbook = `
name: guestbook
services:
  web:
    image: nginx:1.27-alpine
    ports: ["8080:80"]
    configs: [{source: site, target: /etc/nginx/conf.d/default.conf}]
    depends_on: {api: {condition: service_healthy}}
    healthcheck: {http: {path: /, port: 80}, interval: 2s}
  api:
    image: node:22-alpine
    environment: {GREETING: "hello, $$USER", LOG_LEVEL: ""}
    secrets: [db_password]
    expose: ["3000"]
    healthcheck: {test: wget http://127.0.0.1:3000/, interval: 5s, retries: 3}
    depends_on: {migrate: {condition: service_completed_successfully}}
    deploy: {replicas: 2, resources: {limits: {cpus: "0.5", memory: 128M}}}
  migrate:
    image: postgres:16-alpine
    restart: "no"
    command: psql -h db -U postgres
    depends_on: {db: {condition: service_healthy}}
  db:
    image: postgres:16-alpine
    volumes: [data:/var/lib/postgresql/data]
    healthcheck: {test: [CMD, pg_isready]}
volumes: {data: {driver_opts: {size: 2Gi}}}
configs: {site: {content: "proxy_pass http://api:3000;"}}
secrets: {db_password: {file: ./db_password.txt}}
`
const files = { 'db_password.txt': 'hunter2' }

test('the plan has the kinds, Services, routes and objects of the application', () => {
  const { plan, codes } = planOf(guestbook, { name: 'guestbook' }, files)
  expect(codes).toEqual([])
  expect(plan.environment).toEqual({ name: 'guestbook', namespace: 'shop' })
  expect(plan.serviceCount).toBe(4)
  expect(plan.workloads.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'Deployment api',
    'StatefulSet db',
    'Job migrate',
    'Deployment web',
  ])
  // A task whose completion is awaited has no Service, since no service connects to it.
  expect(plan.services.map(({ name, headless, ports }) => [name, headless, ports.map(({ port }) => port)])).toEqual([
    ['api', false, [3000]],
    ['db', true, []],
    ['web', false, [80, 8080]],
  ])
  expect(plan.routes.map(({ name, host, rules }) => ({ name, host, rules }))).toEqual([
    { name: 'web', host: 'web-shop.dev.example.com', rules: [{ path: '/', service: 'web', port: 80 }] },
  ])
  expect(plan.claims.map(({ spec }) => spec)).toEqual([{ name: 'data', size: '2Gi', accessMode: 'ReadWriteOnce' }])
  expect(plan.configMaps.map(({ name, data }) => [name.replace(/[0-9a-f]{8}$/, '#'), Object.keys(data)])).toEqual([
    ['guestbook-site-#', ['site']],
  ])
  expect(plan.secrets.map(({ name, data }) => [name, Object.keys(data)])).toEqual([
    ['guestbook-db-password', ['db_password']],
  ])
  expect(plan.policies).toEqual([])
})

test('the Pods have the containers, volumes and waits of the application', () => {
  const { pod, container } = planOf(guestbook, { name: 'guestbook' }, files)
  const image = 'busybox:1.37'
  expect(pod('web').waits).toEqual([{ kind: 'port', service: 'api', host: 'api', ports: [3000], image }])
  expect(pod('migrate').waits).toEqual([{ kind: 'name', service: 'db', host: 'db', image }])
  expect(pod('api').waits).toEqual([
    { kind: 'job', service: 'migrate', image: 'registry.k8s.io/kubectl:v1.34.2', toolsImage: 'busybox:1.37' },
  ])
  expect(pod('db').fills).toEqual([
    {
      volume: 'data',
      directory: 'data',
      path: '/var/lib/postgresql/data',
      image: 'postgres:16-alpine',
      imagePullPolicy: 'IfNotPresent',
      toolsImage: image,
      rootless: false,
    },
  ])
  expect(container('db').mounts).toEqual([{ volume: 'data', path: '/var/lib/postgresql/data', subPath: 'data' }])
  expect(container('web').mounts).toEqual([
    { volume: 'config-site', path: '/etc/nginx/conf.d/default.conf', subPath: 'site', readOnly: true },
  ])
  expect(pod('api').volumes).toEqual([
    { kind: 'secret', name: 'secret-db-password', secret: 'guestbook-db-password', mode: 0o444 },
  ])
  expect(container('api')).toMatchObject({
    env: [
      { name: 'GREETING', value: 'hello, $USER' },
      { name: 'LOG_LEVEL', value: '' },
    ],
    resources: { limits: { cpu: '500m', memory: '128Mi' } },
    readinessProbe: {
      check: { kind: 'exec', command: ['/bin/sh', '-c', 'wget http://127.0.0.1:3000/'] },
      periodSeconds: 5,
      timeoutSeconds: 30,
      failureThreshold: 3,
    },
  })
  expect(pod('web').terminationGracePeriodSeconds).toBe(10)
})

test('every object has the position that it comes from', () => {
  const { plan } = planOf(guestbook, { name: 'guestbook' }, files)
  const objects = [plan.workloads, plan.services, plan.routes, plan.claims, plan.configMaps, plan.secrets].flat()
  expect(objects.map(({ source }) => source)).toEqual([
    'compose.yaml#services.api',
    'compose.yaml#services.db',
    'compose.yaml#services.migrate',
    'compose.yaml#services.web',
    'compose.yaml#services.api',
    'compose.yaml#services.db',
    'compose.yaml#services.web.ports',
    'compose.yaml#services.web.ports',
    'compose.yaml#volumes.data',
    'compose.yaml#configs.site',
    'compose.yaml#secrets.db_password',
  ])
})

test('client start order has no waits in the manifests, and keeps dependencies in the plan', () => {
  const { plan, pod } = planOf(guestbook, { startOrder: 'client' }, files)
  for (const { name } of plan.workloads) expect(pod(name).waits).toEqual([])
  expect(plan.workloads.map(({ name, dependencies }) => [name, dependencies])).toEqual([
    ['api', [{ service: 'migrate', condition: 'service_completed_successfully' }]],
    ['db', undefined],
    ['migrate', [{ service: 'db', condition: 'service_healthy' }]],
    ['web', [{ service: 'api', condition: 'service_healthy' }]],
  ])
})

test('a warning names the Secret that is left out without --include-secrets', () => {
  const { plan, diagnostics } = planOf(guestbook, { includeSecrets: false }, files)
  expect(plan.secrets).toEqual([])
  expect(diagnostics.map(({ message }) => message)).toEqual([
    'the Secret `app-db-password` is left out of the manifests',
  ])
})

test('the plan does not depend on the order of keys', () => {
  const services = [
    'a: {image: a, ports: ["80:80"], networks: {n2: {}, n1: {aliases: [x]}}, environment: {B: "2", A: "1"}}',
    'b_1: {image: b, volumes: ["data:/d"], networks: [n1], labels: {z: "1", y: "2"}}',
    'b-1: {image: b, volumes: ["data:/d"], networks: [n2], depends_on: {a: {condition: service_healthy}}}',
  ]
  const text = (lines: readonly string[]) =>
    `services:\n${lines.map(line => `  ${line}\n`).join('')}volumes: {data: }\nnetworks: {n1: , n2: }\n`
  const strip = (value: unknown) => JSON.stringify(value, (key, inner) => (key === 'span' ? undefined : inner))
  expect(strip(planOf(text(services.toReversed())).plan)).toBe(strip(planOf(text(services)).plan))
})
