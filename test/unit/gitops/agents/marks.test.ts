import { describe, expect, test } from 'vitest'
import { toManifests } from '../../../../constructs/index.ts'
import type { KubernetesObject, Manifest } from '../../../../constructs/manifest.ts'
import { forControllers } from '../../../../gitops/agents/marks.ts'
import type { WaveWorkload } from '../../../../gitops/agents/sync-waves.ts'
import { planOf } from '../../../support/plan/compose.ts'

const SYNC_OPTIONS = 'argocd.argoproj.io/sync-options'
const COMPARE_OPTIONS = 'argocd.argoproj.io/compare-options'
const SUBSTITUTE = 'kustomize.toolkit.fluxcd.io/substitute'
const PRUNE = 'kustomize.toolkit.fluxcd.io/prune'
const WAVE = 'argocd.argoproj.io/sync-wave'

const manifest = (object: KubernetesObject): Manifest => ({ source: 'compose.yaml', folder: 'x', object })

function claim(name: string, annotations?: Readonly<Record<string, string>>): Manifest {
  const metadata = { name, ...(annotations && { annotations }) }
  return manifest({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: {} })
}

function workload(
  service: string,
  { kind = 'Deployment', claims = [] as readonly string[], name = service } = {},
): Manifest {
  const labels = { 'dev.platform/service': service }
  const volumes = claims.map(claimName => ({ name: claimName, persistentVolumeClaim: { claimName } }))
  return manifest({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, labels },
    spec: { template: { metadata: { labels }, spec: { volumes } } },
  })
}

function service(name: string, selects = name): Manifest {
  const spec = { selector: { 'dev.platform/service': selects } }
  return manifest({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
}

const annotationsOf = ({ object }: Manifest) => object.metadata.annotations

/** Returns the wave of each `kind/name` that has one. */
function waves(manifests: readonly Manifest[], workloads: readonly WaveWorkload[]): Readonly<Record<string, string>> {
  const marked = forControllers(manifests, { syncWaves: workloads })
  return Object.fromEntries(
    marked.flatMap(({ object: { kind, metadata } }) => {
      const wave = metadata.annotations?.[WAVE]
      return wave === undefined ? [] : [[`${kind.toLowerCase()}/${metadata.name}`, wave]]
    }),
  )
}

const healthy = (service: string) => ({ service, condition: 'service_healthy' }) as const
const started = (service: string) => ({ service, condition: 'service_started' }) as const
const completed = (service: string) => ({ service, condition: 'service_completed_successfully' }) as const

describe('manifests for controllers', () => {
  test('claims are kept when their files are deleted', () => {
    const [marked] = forControllers([claim('data')])
    expect(annotationsOf(marked!)).toEqual({
      // Argo CD would sync for ever to remove what it may not remove.
      [COMPARE_OPTIONS]: 'IgnoreExtraneous',
      [SYNC_OPTIONS]: 'Prune=false,Delete=false',
      [PRUNE]: 'disabled',
    })
  })

  test('annotations that a file has on a claim are kept', () => {
    const [marked] = forControllers([claim('data', { [PRUNE]: 'enabled', zone: 'a', 'a.b/c': 'd' })])
    expect(Object.entries(annotationsOf(marked!)!)).toEqual([
      ['a.b/c', 'd'],
      [COMPARE_OPTIONS, 'IgnoreExtraneous'],
      [SYNC_OPTIONS, 'Prune=false,Delete=false'],
      [PRUNE, 'enabled'],
      ['zone', 'a'],
    ])
  })

  test.each([['echo ${HOME}'], ['echo $$(NAME)']])('Flux does not substitute the dollars of `%s`', text => {
    const spec = { template: { spec: { containers: [{ name: 'web', args: [text] }] } } }
    const web = manifest({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec })
    expect(forControllers([web]).map(annotationsOf)).toEqual([{ [SUBSTITUTE]: 'disabled' }])
  })

  test('other manifests are not changed', () => {
    const manifests = [workload('web', { kind: 'StatefulSet', claims: ['data'] }), service('web')]
    expect(forControllers(manifests)).toEqual(manifests)
  })

  test('a Job with a time to live is refused', () => {
    const spec = { ttlSecondsAfterFinished: 60 }
    const job = manifest({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate-1' }, spec })
    expect(() => forControllers([job])).toThrow('job migrate-1 has a time to live')
  })

  test('manifests begin with the namespace, on request', () => {
    const createNamespace = { name: 'shop', level: 'baseline', source: 'devctl.yml#environments.staging' } as const
    const [first, ...others] = forControllers([service('web')], { createNamespace })
    expect(first).toEqual({
      source: 'devctl.yml#environments.staging',
      folder: '_shared',
      object: {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          name: 'shop',
          labels: { 'app.kubernetes.io/managed-by': 'devctl', 'pod-security.kubernetes.io/enforce': 'baseline' },
          annotations: {
            [COMPARE_OPTIONS]: 'IgnoreExtraneous',
            [SYNC_OPTIONS]: 'Prune=false,Delete=false',
            [PRUNE]: 'disabled',
          },
        },
      },
    })
    expect(others).toEqual([service('web')])
  })
})

describe('sync waves', () => {
  test('sync waves exist only where a service waits until another is healthy or complete', () => {
    const plan = [
      { service: 'db' },
      { service: 'migrate', dependencies: [healthy('db')] },
      { service: 'web', dependencies: [started('cache'), completed('migrate')] },
      { service: 'cache' },
      { service: 'agent', dependencies: [started('web')] },
    ]
    const manifests = [
      workload('db', { kind: 'StatefulSet' }),
      workload('migrate', { kind: 'Job', name: 'migrate-abc' }),
      workload('web'),
      workload('cache'),
      workload('agent', { kind: 'DaemonSet' }),
      service('web'),
    ]
    expect(waves(manifests, plan)).toEqual({ 'job/migrate-abc': '1', 'deployment/web': '2', 'daemonset/agent': '2' })
  })

  test('a claim has the wave of its first user, and an unused claim has the last wave', () => {
    const plan = [
      { service: 'a' },
      { service: 'b', dependencies: [healthy('a')] },
      { service: 'c', dependencies: [healthy('b')] },
    ]
    const manifests = [
      ...['early', 'late', 'both', 'nobodys'].map(name => claim(name)),
      workload('a', { claims: ['early'] }),
      workload('b', { claims: ['both'] }),
      workload('c', { claims: ['both', 'late'] }),
    ]
    expect(waves(manifests, plan)).toEqual({
      'deployment/b': '1',
      'deployment/c': '2',
      'persistentvolumeclaim/both': '1',
      'persistentvolumeclaim/late': '2',
      'persistentvolumeclaim/nobodys': '2',
    })
  })

  test('a route has the wave of the Pods behind it', () => {
    const plan = [{ service: 'db' }, { service: 'pod', dependencies: [healthy('db')] }]
    const paths = [{ backend: { service: { name: 'web' } } }]
    const manifests = [
      workload('db'),
      workload('pod'),
      service('db'),
      service('web', 'pod'),
      manifest({
        apiVersion: 'v1',
        kind: 'Ingress',
        metadata: { name: 'web' },
        spec: { rules: [{ http: { paths } }] },
      }),
      manifest({
        apiVersion: 'v1',
        kind: 'HTTPRoute',
        metadata: { name: 'both' },
        spec: { rules: [{ backendRefs: [{ name: 'db' }] }, { backendRefs: [{ name: 'web' }] }] },
      }),
      manifest({
        apiVersion: 'v1',
        kind: 'HTTPRoute',
        metadata: { name: 'db' },
        spec: { rules: [{ backendRefs: [{ name: 'db' }] }] },
      }),
    ]
    expect(waves(manifests, plan)).toEqual({ 'deployment/pod': '1', 'ingress/web': '1', 'httproute/both': '1' })
  })

  test('a wave that a file sets is kept', () => {
    const plan = [{ service: 'a' }, { service: 'b', dependencies: [healthy('a')] }]
    const { object, ...rest } = workload('b')
    const own = { ...rest, object: { ...object, metadata: { ...object.metadata, annotations: { [WAVE]: '7' } } } }
    expect(waves([workload('a'), own], plan)).toEqual({ 'deployment/b': '7' })
  })

  test('sync waves follow the dependencies of an application', () => {
    const { plan } = planOf(`
services:
  web:
    image: web
    network_mode: service:proxy
    depends_on: {db: {condition: service_healthy}}
  proxy: {image: proxy, ports: ["80"]}
  migrate:
    image: migrate
    restart: "no"
    depends_on: {db: {condition: service_healthy}}
  api:
    image: api
    ports: ["8080"]
    volumes: [files:/files]
    depends_on: {migrate: {condition: service_completed_successfully}, proxy: {condition: service_started}}
  db: {image: db, expose: ["5432"], volumes: [data:/data]}
volumes: {files: {}, data: {}}
`)
    const found = waves(toManifests(plan), plan.workloads)
    const named = Object.fromEntries(
      Object.entries(found).map(([name, wave]) => [name.replace(/-[0-9a-f]{8}$/, ''), wave]),
    )
    // The Pod of proxy contains web, which waits for db.
    expect(named).toEqual({
      'deployment/proxy': '1',
      'job/migrate': '1',
      'persistentvolumeclaim/files': '2',
      'statefulset/api': '2',
    })
  })

  test('sync waves do not exist without dependencies', () => {
    expect(waves([workload('a'), claim('x')], [{ service: 'a' }])).toEqual({})
  })
})
