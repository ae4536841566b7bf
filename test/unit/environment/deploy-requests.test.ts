import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { Plan } from '../../../compiler/plan/plan.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import { type DeployEvents, type DeployResult, deployEnvironment } from '../../../environment/apply/deploy.ts'
import type { Clock } from '../../../environment/clock.ts'
import { NO_CHOICES } from '../../../environment/plan/choices.ts'
import { driftText } from '../../../operations/deploy/progress.ts'
import { type Call, MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

let time = 0
const clock: Clock = { now: () => time++, every: () => () => {} }
// A deploy reads only these fields of a plan.
const plan = { environment: { name: 'shop' }, secrets: [], workloads: [] } as unknown as Plan

const config = (name: string, a: string): Manifest => ({
  source: 'compose.yaml',
  folder: '_shared',
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { 'dev.platform/environment': 'shop' } },
    data: { a },
  } as Manifest['object'],
})

const deploy = (cluster: MemoryCluster, ...manifests: readonly Manifest[]): Promise<DeployResult> =>
  deployWith(cluster, manifests, {})

function deployWith(
  cluster: MemoryCluster,
  manifests: readonly Manifest[],
  more: Pick<DeployEvents, 'mayOverwrite' | 'overwriting'>,
  wait = false,
): Promise<DeployResult> {
  const holder = { name: 'ann@laptop (1)', isGone: () => false }
  const source = { repository: 'shop', file: 'compose.yaml' }
  const input = {
    cluster,
    plan,
    synth: () => manifests,
    namespace: 'default',
    source,
    choices: NO_CHOICES,
    services: undefined,
  }
  const events = {
    planned() {},
    locked() {},
    done() {},
    waiting() {},
    status() {},
    applied() {},
    routed() {},
    watching() {},
    ...more,
  }
  return deployEnvironment({ ...input, holder, wait }, { clock, events, signal: new AbortController().signal })
}

const words = (calls: readonly Call[]) =>
  calls.map(({ verb, kind, name, dryRun }) => `${dryRun ? 'dry ' : ''}${verb} ${kind}${name ? `/${name}` : ''}`)

test('a first deploy reads the record once, writes it twice, and dry-runs each object', async () => {
  const cluster = new MemoryCluster()
  await deploy(cluster, config('one', '1'), config('two', '1'))
  expect(words(cluster.calls)).toEqual([
    'get ConfigMap/devctl-shop',
    'get Namespace/default',
    'dry patch ConfigMap/one',
    'dry patch ConfigMap/two',
    'create Lease/devctl-shop',
    'create ConfigMap/devctl-shop',
    'patch ConfigMap/one',
    'patch ConfigMap/two',
    'update ConfigMap/devctl-shop',
    'delete Lease/devctl-shop',
  ])
})

test('a deploy without changes writes nothing and creates no Lease', async () => {
  const cluster = new MemoryCluster()
  await deploy(cluster, config('one', '1'))
  cluster.calls.length = 0
  expect(await deploy(cluster, config('one', '1'))).toMatchObject({ isUpToDate: true })
  expect(words(cluster.calls).sort()).toEqual([
    'dry patch ConfigMap/one',
    'get ConfigMap/devctl-shop',
    'get Lease/devctl-shop',
    'get Namespace/default',
    'list ConfigMap',
  ])
})

test('a write of a controller between list and dry run is no difference', async () => {
  const cluster = new MemoryCluster()
  await deploy(cluster, config('one', '1'))
  let isTouched = false
  cluster.before = async ({ verb, dryRun }) => {
    if (verb !== 'patch' || !dryRun || isTouched) return
    isTouched = true
    const { object } = config('one', '1')
    await cluster.apply(
      { ...object, metadata: { ...object.metadata, annotations: { seen: 'yes' } } },
      { manager: 'controller' },
    )
  }
  expect(await deploy(cluster, config('one', '1'))).toMatchObject({ isUpToDate: true })
  expect(isTouched).toBe(true)
})

test.each([false, true])(
  'a deploy plans again if another one finishes between plan and Lease (deployed before: %s)',
  async before => {
    const cluster = new MemoryCluster()
    if (before) await deploy(cluster, config('one', '1'))
    let isFirst = true
    cluster.before = async ({ verb, kind }) => {
      if (verb !== 'create' || kind !== 'Lease' || !isFirst) return
      isFirst = false
      await deploy(cluster, config('theirs', '1'))
    }
    const { pruned } = await deploy(cluster, config('one', '2'))
    expect(pruned, 'what the other one made has left the files').toEqual(['configmap/theirs'])
    const { data } = (await cluster.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'one', namespace: 'default' }))!
    expect(data).toEqual({ a: '2' })
    expect(await cluster.list({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })).toEqual([])
  },
)

test('a manual change is overwritten only if `mayOverwrite` agrees', async () => {
  const cluster = new MemoryCluster()
  await deploy(cluster, config('page', '1'))
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'page', namespace: 'default' }
  cluster.act(ref, live => ({ ...live, data: { a: 'by hand' } }), 'kubectl-edit')
  const asked: string[] = []
  const answering = (answer: boolean) =>
    deployWith(cluster, [config('page', '1')], {
      mayOverwrite: async drift => {
        asked.push(...drift.map(({ object, path, by }) => `${object} ${path} ${by.manager}`))
        return answer
      },
    })
  await expect(answering(false)).rejects.toThrow('manual changes are kept')
  expect((await cluster.get(ref))!['data']).toEqual({ a: 'by hand' })
  await answering(true)
  expect((await cluster.get(ref))!['data']).toEqual({ a: '1' })
  expect(asked).toEqual(['configmap/page data.a kubectl-edit', 'configmap/page data.a kubectl-edit'])
})

test('an overwritten manual change is reported with its author and both values', async () => {
  const cluster = new MemoryCluster()
  await deploy(cluster, config('page', '1'))
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'page', namespace: 'default' }
  const told: string[] = []
  const overwriting: DeployEvents['overwriting'] = drift => {
    for (const one of drift) told.push(driftText(one, Date.now() + 3 * 3_600_000))
  }
  cluster.act(ref, live => ({ ...live, data: { a: '5' } }), 'kubectl-edit')
  await deployWith(cluster, [config('page', '1')], { overwriting })
  cluster.act(ref, live => ({ ...live, data: { a: '7' } }), 'Lens')
  await deployWith(cluster, [config('page', '2')], {
    overwriting,
    mayOverwrite: () => Promise.reject(new Error('asked')),
  })
  expect(told).toEqual([
    'configmap/page data.a "5" → "1", set by kubectl-edit 3 hours ago',
    'configmap/page data.a "7" → "2", set by Lens 3 hours ago',
  ])
  await deployWith(cluster, [config('page', '3')], { overwriting })
  expect(told, 'a change of the files is nobody else’s').toHaveLength(2)
})

/** Acts when the rest of a deploy is done, as it deletes its Lease. */
function atTheEnd(cluster: MemoryCluster, act: () => void): void {
  cluster.before = async ({ verb, kind }) => {
    if (verb === 'delete' && kind === 'Lease') act()
  }
}

const service: Manifest = {
  ...config('web', ''),
  object: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', labels: { 'dev.platform/environment': 'shop' } },
    spec: { ports: [{ port: 80, protocol: 'TCP' }] },
  } as Manifest['object'],
}
const refTo = (kind: string, name: string) => ({ apiVersion: 'v1', kind, name, namespace: 'default' })
const waited = (cluster: MemoryCluster, ...manifests: readonly Manifest[]) => deployWith(cluster, manifests, {}, true)

test('a deploy with --wait checks at the end, by one list of each kind, that its objects exist', async () => {
  const cluster = new MemoryCluster()
  const manifests = [config('one', '1'), config('two', '1'), service]
  let calls = 0
  atTheEnd(cluster, () => {
    calls = cluster.calls.length
  })
  await waited(cluster, ...manifests)
  expect(words(cluster.calls.slice(calls)).sort()).toEqual(['get Namespace/default', 'list ConfigMap', 'list Service'])
})

test.each<[string, readonly (readonly [string, string])[], string]>([
  ['a Service', [['Service', 'web']], '`service/web` was deleted while the deploy ran'],
  ['the record', [['ConfigMap', 'devctl-shop']], '`configmap/devctl-shop` was deleted while the deploy ran'],
  [
    'all of it',
    [
      ['Service', 'web'],
      ['ConfigMap', 'one'],
      ['ConfigMap', 'devctl-shop'],
    ],
    '`configmap/one`, `configmap/devctl-shop` and `service/web` were deleted while the deploy ran',
  ],
])('%s that is deleted during a deploy with --wait is an error', async (_, deleted, message) => {
  const cluster = new MemoryCluster()
  const manifests = [config('one', '1'), service]
  atTheEnd(cluster, () => {
    for (const [kind, name] of deleted) void cluster.delete(refTo(kind, name))
  })
  await expect(waited(cluster, ...manifests)).rejects.toMatchObject({ message })
  cluster.before = () => {}
  expect(await waited(cluster, ...manifests)).toMatchObject({ isUpToDate: false })
})

test('a namespace that is being deleted during a deploy with --wait is an error', async () => {
  const cluster = new MemoryCluster()
  const get = cluster.get.bind(cluster)
  const deletionTimestamp = new Date(0).toISOString()
  atTheEnd(cluster, () => {
    cluster.get = async (what, options) => {
      const found = await get(what, options)
      return found && what.kind === 'Namespace'
        ? { ...found, metadata: { ...found.metadata, deletionTimestamp } }
        : found
    }
  })
  await expect(waited(cluster, service)).rejects.toThrow('the namespace `default` is being deleted')
})

test('an object that lost its label still counts as existing', async () => {
  const cluster = new MemoryCluster()
  const unlabelled = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, labels: {} } })
  atTheEnd(cluster, () => cluster.act(refTo('Service', 'web'), unlabelled))
  await waited(cluster, service)
})

test('a deploy returns the routes that it applied, also if they are unchanged', async () => {
  const route: Manifest = {
    source: 'compose.yaml#services.web',
    folder: 'web',
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: 'default', labels: { 'dev.platform/environment': 'shop' } },
      spec: { rules: [{ host: 'web.dev.example.com' }] },
    } as Manifest['object'],
  }
  const cluster = new MemoryCluster()
  const first = await deploy(cluster, config('one', '1'), route)
  expect(first.routes.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual(['Ingress/web'])
  const second = await deploy(cluster, config('one', '1'), route)
  expect(second).toMatchObject({ isUpToDate: true, routes: first.routes })
})
