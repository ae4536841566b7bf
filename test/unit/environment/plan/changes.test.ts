import { describe, expect, test } from 'vitest'
import {
  type ApplyOptions,
  type CallOptions,
  ClusterError,
  type DeleteOptions,
  type KubeObject,
  type ObjectQuery,
  type ObjectRef,
} from '../../../../adapters/kubernetes/cluster.ts'
import { destroyEnvironment } from '../../../../environment/apply/destroy.ts'
import { isUpToDate } from '../../../../environment/plan/changes.ts'
import { isLeftToScaler } from '../../../../environment/plan/conflicts.ts'
import { diffOf } from '../../../../environment/plan/diff.ts'
import { driftOf } from '../../../../environment/plan/drift.ts'
import { readRecord } from '../../../../environment/record/record.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import {
  actions,
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  plan,
  ref,
  SOURCE,
  wanted,
  workload,
} from '../../../support/objects/deploying.ts'
import { FakeClock } from '../../../support/objects/fake-clock.ts'

const config = (name = 'page', data: object = { a: '1' }, more: object = {}): KubeObject => {
  const made = object('ConfigMap', name, { data })
  return { ...made, metadata: { ...made.metadata, ...more } }
}
const labelled = (labels: Readonly<Record<string, string>>, annotations = {}): KubeObject => ({
  ...config(),
  metadata: { name: 'page', namespace: NAMESPACE, labels, annotations },
})

describe('the plan of a deploy', () => {
  test('the plan creates new objects, and is up to date after the deploy', async () => {
    const cluster = newCluster()
    const what = wanted([config()], [workload('Deployment', 'web')])
    const first = await plan(cluster, what)
    expect(actions(first)).toEqual(['create configmap/page', 'create deployment/web'])
    expect(isUpToDate(first)).toBe(false)
    expect(cluster.calls.every(({ verb, dryRun }) => dryRun || verb === 'get' || verb === 'list')).toBe(true)
    await deploy(cluster, what)
    const second = await plan(cluster, what)
    expect(actions(second)).toEqual(['unchanged configmap/page', 'unchanged deployment/web'])
    expect(isUpToDate(second)).toBe(true)
  })

  test('the plan updates only objects with different values', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config(), config('other')]))
    const what = wanted([config('page', { a: '2' }), config('other')])
    const changes = await plan(cluster, what)
    expect(actions(changes)).toEqual(['update configmap/page', 'unchanged configmap/other'])
    expect(diffOf(changes)).toMatchObject([{ values: [{ path: 'data.a', before: '1', after: '2' }] }])
    expect(await deploy(cluster, what)).toEqual(['update configmap/page'])
  })

  test('the plan does not create a StatefulSet again for annotations that its claim templates have lost', async () => {
    const cluster = newCluster()
    const claims = (...annotations: (object | undefined)[]) =>
      annotations.map((annotations, index) => ({
        metadata: { name: `v${index}`, ...(annotations && { annotations }) },
      }))
    const set = (...annotations: (object | undefined)[]) =>
      workload('StatefulSet', 'db', { spec: { volumeClaimTemplates: claims(...annotations) } })
    const before = set({ version: '1.0' }, { version: '1.0', team: 'a' }, undefined)
    await deploy(cluster, wanted([], [before]))
    const after = wanted([], [set(undefined, { team: 'a' }, undefined)])
    expect(actions(await plan(cluster, after))).toEqual(['unchanged statefulset/db'])
    const other = wanted([], [set(undefined, { team: 'b' }, undefined)])
    await expect(plan(cluster, other)).rejects.toThrow('the cluster refused `statefulset/db`')
  })

  test('the plan reverts a manual change, and names its author', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()]))
    cluster.act(ref(config()), live => ({ ...live, data: { a: 'by hand' } }), 'kubectl-edit')
    const changes = await plan(cluster, wanted([config()]))
    expect(diffOf(changes)).toMatchObject([
      {
        action: 'update',
        values: [{ path: 'data.a', before: 'by hand', after: '1', by: { manager: 'kubectl-edit' } }],
      },
    ])
    await deploy(cluster, wanted([config()]))
    expect((await cluster.get(ref(config())))?.['data']).toEqual({ a: '1' })
  })

  const service = (ports: readonly object[]) => object('Service', 'web', { spec: { ports } })
  const port = (number: number, fields: object = {}) => ({
    port: number,
    protocol: 'TCP',
    targetPort: number,
    ...fields,
  })
  const pod = (container: object, fields: object = {}) =>
    object('Deployment', 'web', {
      spec: { template: { spec: { containers: [{ name: 'web', ...container }], ...fields } } },
    })
  const containerPort = (protocol: string, hostPort: number) => ({ containerPort: 53, protocol, hostPort })
  const patch = (cluster: MemoryCluster, { metadata, ...to }: KubeObject) =>
    cluster.act(
      ref({ metadata, ...to }),
      live => ({ ...live, spec: { ...(live['spec'] as object), ...(to['spec'] as object) } }), // both have a spec
      'kubectl-patch',
    )
  const mount = (mountPath: string, subPath?: string) => ({ name: 'data', mountPath, ...(subPath && { subPath }) })

  test.each<[string, KubeObject, KubeObject, string]>([
    [
      'a named port of a Service',
      service([port(80, { name: 'http' }), port(81, { name: 'other' })]),
      service([port(80, { name: 'http', targetPort: 4444 }), port(81, { name: 'other' })]),
      'spec.ports[http].targetPort',
    ],
    [
      'a port of a Service without a name',
      service([port(8080)]),
      service([port(8080, { targetPort: 4444 })]),
      'spec.ports[0].targetPort',
    ],
    [
      'a port of a container, where another has the same number',
      pod({ ports: [containerPort('TCP', 1053), containerPort('UDP', 1053)] }),
      pod({ ports: [containerPort('TCP', 1053), containerPort('UDP', 2053)] }),
      'spec.template.spec.containers[web].ports[1].hostPort',
    ],
    [
      'a mount',
      pod({ volumeMounts: [mount('/a', 'a'), mount('/b', 'b')] }),
      pod({ volumeMounts: [mount('/a', 'a'), mount('/b', 'x')] }),
      'spec.template.spec.containers[web].volumeMounts[1].subPath',
    ],
    [
      'host aliases',
      pod({}, { hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }] }),
      pod({}, { hostAliases: [{ ip: '10.0.0.1', hostnames: ['b'] }] }),
      'spec.template.spec.hostAliases[0].hostnames[0]',
    ],
  ])('the plan names the author of a manual change of %s', async (_, made, changed, path) => {
    const cluster = newCluster()
    await deploy(cluster, wanted([made]))
    patch(cluster, changed)
    expect(driftOf(await plan(cluster, wanted([made])))).toMatchObject([
      { path, by: { manager: 'kubectl-patch' }, object: `${made.kind.toLowerCase()}/web` },
    ])
  })

  test('the plan names no author for a list item if others have changed another item', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([service([port(80), port(81)])]))
    const live = service([port(80, { targetPort: 4444 }), port(81)])
    patch(cluster, live)
    const [change] = diffOf(await plan(cluster, wanted([service([port(80), port(81, { targetPort: 8081 })])])))
    expect(change?.values).toMatchObject([
      { path: 'spec.ports[0].targetPort', before: 4444, after: 80, by: { manager: 'kubectl-patch' } },
      { path: 'spec.ports[1].targetPort', before: 81, after: 8081 },
    ])
    expect(change?.values[1]).not.toHaveProperty('by')
  })

  test('the plan refuses fields that another tool applies, unless conflicts are forced', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()]))
    await cluster.apply(config('page', { a: 'theirs' }), { manager: 'argocd', force: true })
    const error = await plan(cluster, wanted([config()])).catch(error => error)
    expect(error.message).toBe('`argocd` applies fields of `configmap/page`')
    expect(error.hint).toContain('--force-conflicts')
    expect(error.notes).toContain('.data.a: "theirs" in the cluster, "1" in the file')
    expect(actions(await plan(cluster, wanted([config()]), { forceConflicts: true }))).toEqual([
      'update configmap/page',
    ])
  })

  test('the plan does not show a secret in a conflict', async () => {
    const secret = (value: string) => object('Secret', 'key', { data: { a: Buffer.from(value).toString('base64') } })
    const cluster = newCluster()
    await cluster.apply(secret('theirs'), { manager: 'argocd' })
    const error = await plan(cluster, wanted([secret('mine')])).catch(error => error)
    expect(error.notes).toContain('.data.a')
    expect(JSON.stringify(error.notes)).not.toContain(Buffer.from('theirs').toString('base64'))
  })

  test('isLeftToScaler is true only if a conflict is about replicas with a scaler', () => {
    const entries = [{ manager: 'hpa', operation: 'Update' as const, subresource: 'scale' }]
    const made = object('Deployment', 'web')
    const live: KubeObject = { ...made, metadata: { ...made.metadata, managedFields: entries } }
    const conflict = (...fields: readonly string[]) =>
      new ClusterError('conflict', 'x', {
        causes: fields.map(field => ({ field, message: 'conflict with "hpa" with subresource "scale"' })),
      })
    expect(isLeftToScaler(conflict('.spec.replicas'), live)).toBe(true)
    expect(isLeftToScaler(conflict('.spec.paused', '.spec.replicas'), live)).toBe(true)
    expect(isLeftToScaler(conflict('.spec.paused'), live)).toBe(false)
    expect(isLeftToScaler(conflict('.spec.replicas'), made)).toBe(false)
  })

  test.each([
    [{ 'dev.platform/environment': 'other' }, {}, 'the environment `other`'],
    [{}, { 'meta.helm.sh/release-name': 'blog' }, 'the Helm release `blog`'],
    [{ 'kustomize.toolkit.fluxcd.io/name': 'apps' }, {}, 'the Flux Kustomization `apps`'],
    [{}, { 'argocd.argoproj.io/tracking-id': 'app:v1/ConfigMap:ns/page' }, 'the Argo CD application `app`'],
  ])('the plan never adopts an object of another owner: %o %o', async (labels, annotations, owner) => {
    const cluster = newCluster()
    await cluster.create(labelled(labels, annotations))
    for (const adopt of [false, true]) {
      const error = await plan(cluster, wanted([config()]), { adopt }).catch(error => error)
      expect(error.message).toBe(`\`configmap/page\` already exists and belongs to ${owner}`)
    }
  })

  test('the plan adopts an object without an owner only on request', async () => {
    const cluster = newCluster()
    await cluster.create(labelled({}))
    const error = await plan(cluster, wanted([config()])).catch(error => error)
    expect(error.message).toContain('is not managed by devctl')
    expect(error.hint).toContain('--adopt')
    const changes = await plan(cluster, wanted([config()]), { adopt: true })
    expect(diffOf(changes)).toMatchObject([{ action: 'update', consequence: 'becomes part of the environment' }])
  })

  test('the plan finds its own objects after the record is lost', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()]))
    await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: `devctl-${ENVIRONMENT}`, namespace: NAMESPACE })
    expect(actions(await plan(cluster, wanted([config()])))).toEqual(['unchanged configmap/page'])
  })

  test('the plan replaces a Service that becomes or stops being headless, and a Job to run again', async () => {
    const cluster = newCluster()
    const service = (spec: object) => object('Service', 'web', { spec })
    const job = workload('Job', 'seed', { spec: { template: {} } })
    await deploy(cluster, wanted([service({ clusterIP: 'None' })], [job]))
    const what = wanted([service({ ports: [{ port: 80 }] })], [job])
    expect(actions(await plan(cluster, what))).toEqual(['replace service/web', 'unchanged job/seed'])
    expect(actions(await plan(cluster, what, { rerun: new Set(['seed']) }))).toContain('replace job/seed')
    cluster.act(ref(job.object), live => ({
      ...live,
      status: { conditions: [{ type: 'Failed', status: 'True' }] },
    }))
    const changes = await plan(cluster, what)
    expect(actions(changes)).toContain('replace job/seed')
    expect(diffOf(changes).map(({ consequence }) => consequence)).toEqual([
      expect.stringContaining('cannot become headless or stop being headless'),
      'the Job failed and runs again',
    ])
  })

  test('the plan refuses an environment of another project, unless it may take it over', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()]))
    for (const [source, what] of [
      [{ ...SOURCE, repository: 'example.com/other' }, 'repository'],
      [{ ...SOURCE, file: 'other.yaml' }, 'file'],
    ] as const) {
      const error = await plan(cluster, wanted([config()]), {}, source).catch(error => error)
      expect(error.message).toBe(`\`shop\` was deployed from another ${what}`)
      expect(error.hint).toContain('--take-over')
      expect(isUpToDate(await plan(cluster, wanted([config()]), { takeOver: true }, source))).toBe(false)
    }
  })

  test('the plan refuses a namespace that does not exist', async () => {
    const there = config()
    const elsewhere = { ...there, metadata: { ...there.metadata, namespace: 'none' } }
    const error = await plan(newCluster(), { ...wanted([elsewhere]), namespace: 'none' }).catch(error => error)
    expect(error.message).toBe('the namespace `none` does not exist')
  })
})

describe('objects that left the files', () => {
  test.each([
    ['is pruned', {}, 'prune configmap/old'],
    ['stays when it asks for it', { 'dev.platform/policy': 'keep' }, 'keep configmap/old'],
    ['stays when it asks Helm for it', { 'helm.sh/resource-policy': 'keep' }, 'keep configmap/old'],
    [
      'stays when it asks Argo CD for it',
      { 'argocd.argoproj.io/sync-options': 'A=b,Prune=false' },
      'keep configmap/old',
    ],
    ['is pruned with another policy', { 'dev.platform/policy': 'delete' }, 'prune configmap/old'],
  ])('an object that left the files %s', async (_, annotations, action) => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config(), config('old', { a: '1' }, { annotations })]))
    expect(actions(await plan(cluster, wanted([config()])))).toEqual(['unchanged configmap/page', action])
  })

  test('an object that left the files stays if it is a claim, is from a command, or has an owner', async () => {
    const cluster = newCluster()
    const claim = object('PersistentVolumeClaim', 'data', { spec: { resources: {} } })
    await deploy(cluster, wanted([config(), claim]))
    const own = { 'dev.platform/environment': ENVIRONMENT }
    const made = (name: string, metadata: object) => config(name, {}, { labels: own, ...metadata })
    await cluster.create(made('chart', { annotations: { 'dev.platform/origin': 'command' } }))
    const { uid = '' } = (await cluster.get(ref(claim)))!.metadata
    const owner = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'data', uid }
    await cluster.create(made('dependant', { ownerReferences: [owner] }))
    const changes = actions(await plan(cluster, wanted([config()])))
    expect(changes).toEqual(['unchanged configmap/page', 'keep configmap/chart', 'keep persistentvolumeclaim/data'])
  })

  test('a workload that left the files is deleted before its successor of another kind is created', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([], [workload('Deployment', 'web')]))
    const what = wanted([], [workload('StatefulSet', 'web')])
    expect(actions(await plan(cluster, what))).toEqual(['create statefulset/web', 'prune first deployment/web'])
    expect(await deploy(cluster, what)).toEqual(['delete deployment/web', 'create statefulset/web'])
  })

  test('an object of another environment in the namespace is not touched', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()]))
    await cluster.create(config('theirs', {}, { labels: { 'dev.platform/environment': 'other' } }))
    expect(actions(await plan(cluster, wanted([config()])))).toEqual(['unchanged configmap/page'])
  })
})

describe('the record', () => {
  const kinds = async (cluster: ReturnType<typeof newCluster>) =>
    (await readRecord(cluster, ENVIRONMENT, NAMESPACE, {}))?.kinds.map(({ kind }) => kind)

  test('the record has old and new kinds during a deploy, and only remaining ones at its end', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config()], [workload('Deployment', 'web')]))
    expect(await kinds(cluster)).toEqual(['Deployment', 'ConfigMap'])
    const seen: (readonly string[] | undefined)[] = []
    cluster.before = async ({ verb, kind, name, dryRun }) => {
      if (verb !== 'patch' || dryRun || kind !== 'Secret' || name !== 'key') return
      cluster.before = () => {}
      seen.push(await kinds(cluster))
    }
    await deploy(cluster, wanted([object('Secret', 'key', { data: {} })]))
    expect(seen).toEqual([['Deployment', 'ConfigMap', 'Secret']])
    expect(await kinds(cluster)).toEqual(['Secret'])
  })

  test('the record keeps the kinds of kept objects, and kinds that the cluster does not know', async () => {
    const cluster = newCluster()
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }
    const known = { ...widget, name: 'widgets', namespaced: true, hasStatus: false }
    cluster.register(known)
    const claim = object('PersistentVolumeClaim', 'data', { spec: { resources: {} } })
    await deploy(cluster, wanted([claim, config(), { ...object('ConfigMap', 'w'), ...widget }]))
    cluster.unregister(known)
    await deploy(cluster, wanted([config()]))
    expect(await kinds(cluster)).toEqual(['Widget', 'ConfigMap', 'PersistentVolumeClaim'])
    cluster.register(known)
    expect(actions(await plan(cluster, wanted([config()])))).toContain('prune widget/w')
  })

  test('the record survives a deploy that fails in the middle, and the next one does the rest', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([config('old')]))
    cluster.before = ({ verb, kind, dryRun }) => {
      if (verb === 'patch' && kind === 'Secret' && !dryRun) throw new ClusterError('unreachable', 'cut')
    }
    const what = wanted([config(), object('Secret', 'key', { data: {} })])
    await expect(deploy(cluster, what)).rejects.toThrow('cut')
    cluster.before = () => {}
    expect(await deploy(cluster, what)).toEqual(['create secret/key', 'delete configmap/old'])
    expect(isUpToDate(await plan(cluster, what))).toBe(true)
  })
})

const NEW = { 'example.com/v1beta1': 'example.com/v1', 'autoscaling/v1': 'autoscaling/v2' }

/** A cluster that serves two kinds in two versions each: every object is in the lists of both, as on a real server. */
class ServedTwice extends MemoryCluster {
  constructor() {
    super({ namespace: NAMESPACE })
    const widget = { kind: 'Widget', name: 'widgets' }
    const autoscaler = { kind: 'HorizontalPodAutoscaler', name: 'horizontalpodautoscalers' }
    for (const [old, now] of Object.entries(NEW))
      for (const apiVersion of [old, now])
        this.register({
          ...(now === 'example.com/v1' ? widget : autoscaler),
          ...{ apiVersion, namespaced: true, hasStatus: true },
        })
  }
  override async get(of: ObjectRef, options?: CallOptions) {
    const found = await super.get(stored(of), options)
    return found && { ...found, apiVersion: of.apiVersion }
  }
  override async list(query: ObjectQuery, options?: CallOptions) {
    const found = await super.list(stored(query), options)
    return found.map(one => ({ ...one, apiVersion: query.apiVersion }))
  }
  override async apply(wanted: KubeObject, options: ApplyOptions) {
    return { ...(await super.apply(stored(wanted), options)), apiVersion: wanted.apiVersion }
  }
  override delete(of: ObjectRef, options?: DeleteOptions) {
    return super.delete(stored(of), options)
  }
}

const stored = <T extends { readonly apiVersion: string }>(of: T): T => ({
  ...of,
  apiVersion: NEW[of.apiVersion as keyof typeof NEW] ?? of.apiVersion,
})

const widget = (version: string, name = 'w', annotations = {}): KubeObject => {
  const { metadata, ...made } = object('Widget', name, { spec: { size: 1 } })
  return { ...made, apiVersion: `example.com/${version}`, metadata: { ...metadata, annotations } }
}
const autoscaler = (version: string, metadata: object = {}): KubeObject => {
  const made = object('HorizontalPodAutoscaler', 'web', {
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 9 },
  })
  return { ...made, apiVersion: `autoscaling/${version}`, metadata: { ...made.metadata, ...metadata } }
}
const web = (replicas?: number) => workload('Deployment', 'web', { spec: { replicas } })
const versions = async (cluster: MemoryCluster) =>
  (await readRecord(cluster, ENVIRONMENT, NAMESPACE, {}))?.kinds
    .filter(({ kind }) => kind === 'Widget')
    .map(({ apiVersion }) => apiVersion)

describe('an object whose version changes in the files', () => {
  test.each([
    ['v1beta1', 'v1'],
    ['v1', 'v1beta1'],
  ])('the object stays, and the record has only its new version: %s to %s', async (before, after) => {
    const cluster = new ServedTwice()
    await deploy(cluster, wanted([widget(before), config()]))
    const what = wanted([widget(after), config()])
    expect(actions(await plan(cluster, what))).toEqual(['unchanged widget/w', 'unchanged configmap/page'])
    await deploy(cluster, what)
    expect(await cluster.get(ref(widget(after)))).toBeDefined()
    expect(await versions(cluster)).toEqual([`example.com/${after}`])
    expect(isUpToDate(await plan(cluster, what))).toBe(true)
  })

  test('an object that leaves the files at the same time is pruned once', async () => {
    const cluster = new ServedTwice()
    await deploy(cluster, wanted([widget('v1beta1'), widget('v1beta1', 'old')]))
    expect(actions(await plan(cluster, wanted([widget('v1')])))).toEqual(['unchanged widget/w', 'prune widget/old'])
  })

  test.each([
    ['v1beta1', 'v1'],
    ['v1', 'v1beta1'],
  ])('an object that stays is kept once, and recorded in the version of the files: %s to %s', async (before, after) => {
    const cluster = new ServedTwice()
    const kept = widget(before, 'old', { 'dev.platform/policy': 'keep' })
    await deploy(cluster, wanted([widget(before), kept]))
    const what = wanted([widget(after)])
    expect(actions(await plan(cluster, what))).toEqual(['unchanged widget/w', 'keep widget/old'])
    await deploy(cluster, what)
    expect(await versions(cluster)).toEqual([`example.com/${after}`])
  })

  test('a deploy that fails in between leaves both versions in the record, and destroy deletes the object once', async () => {
    const cluster = new ServedTwice()
    await deploy(cluster, wanted([widget('v1beta1')]))
    cluster.before = ({ verb, kind, dryRun }) => {
      if (verb === 'patch' && kind === 'Secret' && !dryRun) throw new ClusterError('unreachable', 'cut')
    }
    await expect(deploy(cluster, wanted([widget('v1'), object('Secret', 'key', { data: {} })]))).rejects.toThrow('cut')
    expect(await versions(cluster)).toEqual(['example.com/v1', 'example.com/v1beta1'])
    const result = await destroyEnvironment(
      { cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder(), volumes: false, wait: false },
      { clock: new FakeClock(), signal: never, events: { planned() {}, deleted() {}, locked() {} } },
    )
    expect(result).toMatchObject({ deleted: ['widget/w'], kept: [] })
    expect(await cluster.get(ref(widget('v1')))).toBeUndefined()
  })
})

describe('replicas that an autoscaler has set', () => {
  test.each([{}, { forceConflicts: true }])(
    'replicas are kept if another field was changed by hand: %j',
    async choices => {
      const cluster = new ServedTwice()
      const of = (image: string) =>
        wanted([], [workload('Deployment', 'web', { spec: { replicas: 2, template: { image } } })])
      await deploy(cluster, of('a'))
      scale(cluster, 8)
      const byHand = (one: KubeObject) => ({ ...one, spec: { ...(one['spec'] as object), template: { image: 'b' } } })
      cluster.act(ref(web().object), byHand, 'kubectl-set')
      const [step] = (await plan(cluster, of('a'), choices)).steps.values()
      expect(step?.action === 'update' && step.object['spec']).toEqual({ template: { image: 'a' } })
      expect(diffOf(await plan(cluster, of('a'), choices))).toMatchObject([
        { values: [{ path: 'spec.template.image' }] },
      ])
    },
  )

  const owned = (uid: string) => ({
    ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid }],
  })
  test.each<[string, (widget: string) => object, readonly KubeObject[], number]>([
    ['changes its version', () => ({}), [autoscaler('v2')], 8],
    ['stays because of its policy', () => ({ annotations: { 'dev.platform/policy': 'keep' } }), [], 8],
    ['belongs to an object that stays', owned, [widget('v1')], 8],
    ['belongs to an object that is deleted', owned, [], 2],
    ['is deleted', () => ({}), [], 2],
  ])('replicas are kept unless their autoscaler is deleted: it %s', async (_, metadata, after, replicas) => {
    const cluster = new ServedTwice()
    await deploy(cluster, wanted([widget('v1'), autoscaler('v1')], [web()]))
    const { uid = '' } = (await cluster.get(ref(widget('v1'))))!.metadata
    const change = (one: KubeObject) => ({ ...one, metadata: { ...one.metadata, ...metadata(uid) } })
    cluster.act(ref(autoscaler('v2')), change)
    scale(cluster, 8)
    const [step] = [...(await plan(cluster, wanted(after, [web(2)]))).steps.values()].slice(-1)
    const spec = step?.action === 'update' ? step.object['spec'] : { replicas: 8 }
    expect(spec).toEqual({ replicas })
  })

  function scale(cluster: MemoryCluster, replicas: number): void {
    const entry = { manager: 'hpa', operation: 'Update' as const, subresource: 'scale' }
    cluster.act(ref(web().object), live => ({ ...live, spec: { ...(live['spec'] as object), replicas } }), 'hpa')
    const get = cluster.get.bind(cluster)
    const list = cluster.list.bind(cluster)
    const scaled = (one: KubeObject): KubeObject => ({
      ...one,
      metadata: {
        ...one.metadata,
        managedFields: one.metadata.managedFields?.map(of => (of.manager === 'hpa' ? { ...of, ...entry } : of)),
      },
    })
    cluster.get = async (...args) => {
      const found = await get(...args)
      return found && scaled(found)
    }
    cluster.list = async (...args) => (await list(...args)).map(scaled)
  }
})
