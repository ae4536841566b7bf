import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Change,
  type Cluster,
  ClusterError,
  type ClusterFailure,
  type KubeObject,
} from '../../adapters/kubernetes/cluster.ts'

/** Environment that the contract tests need around a cluster. */
export interface World {
  readonly cluster: Cluster
  /** Two existing, empty namespaces that belong to this run alone. */
  readonly namespaces: readonly [string, string]
  /** Client of the same cluster for a user without any permission. */
  readonly powerless: Cluster
  /** Defines a namespaced kind without a schema. */
  define(kind: { readonly apiVersion: string; readonly kind: string; readonly plural: string }): Promise<void>
  /**
   * Runs a Pod whose container `main` has printed these lines, ended, printed them again in its second run, and
   * continues; undefined if no Pods run.
   */
  readonly print: undefined | ((pod: string, namespace: string, lines: readonly string[]) => Promise<void>)
  close(): Promise<void>
}

/**
 * Declares the tests of what every `Cluster` promises: each test is a sentence of cluster/cluster.ts, and holds for a
 * real cluster and for the one in memory.
 */
export function describeCluster(name: string, open: () => Promise<World>): void {
  describe(name, () => {
    let world: World
    let cluster: Cluster
    let namespace: string
    let other: string
    beforeAll(async () => {
      world = await open()
      cluster = world.cluster
      namespace = world.namespaces[0]
      other = world.namespaces[1]
    })
    afterAll(() => world?.close())

    const manager = 'contract'
    const config = (name: string, data: Record<string, unknown> = { a: '1' }, more: object = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, ...more },
      data,
    })
    const ref = (name: string, kind = 'ConfigMap', apiVersion = 'v1') => ({ apiVersion, kind, name, namespace })
    const dataOf = (object: KubeObject | undefined) => object?.['data']
    const failing = (promise: Promise<unknown>): Promise<ClusterError> =>
      promise.then(
        () => expect.fail('it was done'),
        error => {
          expect(error).toBeInstanceOf(ClusterError)
          return error
        },
      )
    const fails = async (promise: Promise<unknown>, failure: ClusterFailure, status?: number) => {
      const error = await failing(promise)
      expect({ failure: error.failure, status: error.status }, error.message).toEqual({ failure, status })
      return error
    }

    describe('resource', () => {
      test('resource returns the plural of a kind and whether it is namespaced', async () => {
        expect(await cluster.resource('v1', 'Namespace')).toEqual({ name: 'namespaces', namespaced: false })
        expect(await cluster.resource('networking.k8s.io/v1', 'NetworkPolicy')).toEqual({
          name: 'networkpolicies',
          namespaced: true,
        })
      })

      test.each([
        ['v1', 'Deployment'],
        ['apps/v1', 'deployment'],
        ['apps/v0', 'Deployment'],
        ['nobody.example.com/v1', 'Thing'],
      ])('resource returns undefined for the unknown kind %s %s', async (apiVersion, kind) => {
        expect(await cluster.resource(apiVersion, kind)).toBeUndefined()
      })
    })

    describe('get', () => {
      test('get returns the whole object', async () => {
        await cluster.apply(config('get', { a: '1' }, { labels: { l: 'x' }, annotations: { n: 'y' } }), { manager })
        const found = await cluster.get(ref('get'))
        expect(found).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
        expect(found?.metadata).toMatchObject({ name: 'get', namespace, labels: { l: 'x' }, annotations: { n: 'y' } })
        expect(found?.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
        expect(Date.parse(found!.metadata.creationTimestamp!)).toBeGreaterThan(0)
        expect(found?.metadata.resourceVersion).toMatch(/^\d+$/)
        expect(found?.metadata.managedFields).toMatchObject([
          { manager, operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } },
        ])
      })

      test('get returns undefined for a missing object, namespace or kind', async () => {
        expect(await cluster.get(ref('none'))).toBeUndefined()
        expect(await cluster.get({ ...ref('none'), namespace: 'contract-no-such-namespace' })).toBeUndefined()
        expect(await cluster.get(ref('none', 'Thing', 'nobody.example.com/v1'))).toBeUndefined()
      })

      test('get returns cluster-scoped objects', async () => {
        const found = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
        expect(found?.metadata.name).toBe(namespace)
      })

      test.each(['', '.', '..', 'a/b', '%2e%2e'])('get and delete refuse the name %j', async name => {
        await fails(cluster.get(ref(name)), 'invalid')
        await fails(cluster.delete(ref(name)), 'invalid')
      })

      test('get and apply refuse an object without its namespace', async () => {
        await fails(cluster.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'get' }), 'invalid')
        await fails(
          cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'get' } }, { manager }),
          'invalid',
        )
      })
    })

    describe('list', () => {
      beforeAll(async () => {
        const labelled = (name: string, labels: object, within: string) =>
          cluster.create(config(name, {}, { labels: { contract: namespace, ...labels }, namespace: within }))
        await labelled('list-1', { color: 'red', size: 'm' }, namespace)
        await labelled('list-2', { color: 'blue', size: 'm' }, namespace)
        await labelled('list-3', { color: 'red' }, other)
      })
      const names = async (labels: string | undefined, within?: string) =>
        (await cluster.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: within, labels })).map(
          ({ metadata }) => metadata.name,
        )

      test('list returns objects of all namespaces or of one', async () => {
        const mine = `contract=${namespace}`
        expect(await names(mine)).toEqual(expect.arrayContaining(['list-1', 'list-2', 'list-3']))
        expect(await names(mine, namespace)).toEqual(['list-1', 'list-2'])
        expect(await names(mine, other)).toEqual(['list-3'])
        expect(await names(mine, 'contract-no-such-namespace')).toEqual([])
      })

      test('pages returns all objects', async () => {
        const found: string[] = []
        const query = { apiVersion: 'v1', kind: 'ConfigMap', labels: `contract=${namespace}` }
        for await (const page of cluster.pages(query)) found.push(...page.map(({ metadata }) => metadata.name))
        expect(found.filter(name => name.startsWith('list-')).sort()).toEqual(['list-1', 'list-2', 'list-3'])
      })

      test('list selects objects by labels', async () => {
        expect(await names('color=red,size=m', namespace)).toEqual(['list-1'])
        expect(await names('color=blue', namespace)).toEqual(['list-2'])
        expect(await names('contract,!size', other)).toEqual(['list-3'])
        expect(await names('color!=red,contract', namespace)).toEqual(['list-2'])
        expect(await names('color in (red,green)', namespace)).toEqual(['list-1'])
        expect(await names('color notin (red),contract', namespace)).toEqual(['list-2'])
        expect(await names('color=green', namespace)).toEqual([])
      })

      test('list returns objects with their kind', async () => {
        const found = await cluster.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: other, labels: 'contract' })
        expect(found).toMatchObject([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'list-3' } }])
      })

      test('list returns nothing for an unknown kind', async () => {
        expect(await cluster.list({ apiVersion: 'nobody.example.com/v1', kind: 'Thing', namespace })).toEqual([])
      })

      test('list refuses an invalid selector', async () => {
        await fails(cluster.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: 'a==b==c' }), 'invalid', 400)
      })
    })

    describe('apply', () => {
      test('apply creates an object and returns its stored state', async () => {
        const made = await cluster.apply(config('apply'), { manager })
        expect(made.metadata.uid).toBeDefined()
        expect(await cluster.get(ref('apply'))).toEqual(made)
      })

      test('apply changes its fields, deletes omitted ones and keeps those of other managers', async () => {
        await cluster.apply(config('merge', { a: '1', b: '1' }), { manager })
        await cluster.apply(config('merge', { c: '1' }), { manager: 'contract-2' })
        const merged = await cluster.apply(config('merge', { a: '2' }), { manager })
        expect(dataOf(merged)).toEqual({ a: '2', c: '1' })
      })

      test('apply keeps a field until both of its managers omit it', async () => {
        await cluster.apply(config('shared', { a: '1', z: '1' }), { manager })
        await cluster.apply(config('shared', { a: '1' }), { manager: 'contract-2' })
        expect(dataOf(await cluster.apply(config('shared', { z: '1' }), { manager }))).toEqual({ a: '1', z: '1' })
        expect(dataOf(await cluster.apply(config('shared', {}), { manager: 'contract-2' }))).toEqual({ z: '1' })
      })

      test('apply does not write an unchanged object', async () => {
        const object = config('same', { a: '1' }, { labels: { l: 'x' } })
        const first = await cluster.apply(object, { manager })
        const second = await cluster.apply(object, { manager })
        expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
      })

      test('apply throws `conflict` for a field of another manager and names both', async () => {
        await cluster.apply(config('conflict', { a: '1' }), { manager: 'contract-2' })
        const error = await fails(cluster.apply(config('conflict', { a: '2' }), { manager }), 'conflict', 409)
        expect(error.reason).toBe('Conflict')
        expect(error.causes).toEqual([
          { reason: 'FieldManagerConflict', message: 'conflict with "contract-2"', field: '.data.a' },
        ])
        expect(error.message).toBe('Apply failed with 1 conflict: conflict with "contract-2": .data.a')
        expect(dataOf(await cluster.get(ref('conflict')))).toEqual({ a: '1' })
      })

      test('apply names a manager that has not applied with its API version', async () => {
        await cluster.create(config('updater', { a: '1' }))
        const error = await fails(cluster.apply(config('updater', { a: '2' }), { manager }), 'conflict', 409)
        expect(error.causes).toMatchObject([{ message: expect.stringMatching(/^conflict with "devctl" using v1/) }])
      })

      test('apply with `force` takes over fields permanently', async () => {
        await cluster.apply(config('force', { a: '1' }), { manager: 'contract-2' })
        expect(dataOf(await cluster.apply(config('force', { a: '2' }), { manager, force: true }))).toEqual({ a: '2' })
        await fails(cluster.apply(config('force', { a: '3' }), { manager: 'contract-2' }), 'conflict', 409)
      })

      test('apply has no conflict about an equal value', async () => {
        await cluster.apply(config('agree', { a: '1' }), { manager: 'contract-2' })
        const both = await cluster.apply(config('agree', { a: '1' }), { manager })
        expect(both.metadata.managedFields?.map(one => one.manager).sort()).toEqual(['contract', 'contract-2'])
      })

      test('apply with `dryRun` returns the result and writes nothing', async () => {
        const made = await cluster.apply(config('dry'), { manager, dryRun: true })
        expect(made.metadata.resourceVersion).toBeUndefined()
        expect(await cluster.get(ref('dry'))).toBeUndefined()
        const first = await cluster.apply(config('dry'), { manager })
        const changed = await cluster.apply(config('dry', { a: '2' }), { manager, dryRun: true })
        expect(dataOf(changed)).toEqual({ a: '2' })
        expect(changed.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
        expect(await cluster.get(ref('dry'))).toEqual(first)
      })

      test('apply with `dryRun` throws the same errors', async () => {
        await cluster.apply(config('dry-conflict'), { manager: 'contract-2' })
        const dryRun = cluster.apply(config('dry-conflict', { a: '2' }), { manager, dryRun: true })
        await fails(dryRun, 'conflict', 409)
        const forced = await cluster.apply(config('dry-conflict', { a: '2' }), { manager, dryRun: true, force: true })
        expect(dataOf(forced)).toEqual({ a: '2' })
        expect(dataOf(await cluster.get(ref('dry-conflict')))).toEqual({ a: '1' })
      })

      test('apply refuses fields that the kind does not have', async () => {
        const error = await failing(cluster.apply({ ...config('strict'), dota: {} }, { manager }))
        expect(error.failure).toBe('invalid')
        expect(error.message).toContain('dota')
      })

      test('apply refuses an invalid name', async () => {
        const error = await fails(cluster.apply(config('Not_A_Name'), { manager }), 'invalid', 422)
        expect(error.reason).toBe('Invalid')
        expect(error.causes).toMatchObject([{ field: 'metadata.name', reason: 'FieldValueInvalid' }])
      })

      test('apply refuses a change of an immutable field and names it', async () => {
        const secret = (type: string): KubeObject => ({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'fixed', namespace },
          type,
        })
        await cluster.apply(secret('example.com/a'), { manager })
        const error = await fails(cluster.apply(secret('example.com/b'), { manager, dryRun: true }), 'invalid', 422)
        expect(error.causes).toMatchObject([{ field: 'type' }])
      })

      test('apply throws `not-found` for a missing namespace or kind', async () => {
        const homeless = config('homeless', {}, { namespace: 'contract-no-such-namespace' })
        const error = await fails(cluster.apply(homeless, { manager }), 'not-found', 404)
        expect(error.message).toBe('namespaces "contract-no-such-namespace" not found')
        const thing = { ...config('thing'), apiVersion: 'nobody.example.com/v1', kind: 'Thing' }
        await fails(cluster.apply(thing, { manager }), 'not-found')
      })

      test('apply merges containers, their ports, variables and mounts by their keys', async () => {
        const container = (name: string, more: object) => ({ name, image: 'busybox:1', ...more })
        const deployment = (containers: object[], volumes: object[] = []): KubeObject => ({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'lists', namespace },
          spec: {
            replicas: 0,
            selector: { matchLabels: { app: 'lists' } },
            template: { metadata: { labels: { app: 'lists' } }, spec: { containers, volumes } },
          },
        })
        const volume = (name: string) => ({ name, emptyDir: {} })
        await cluster.apply(
          deployment(
            [
              container('a', {
                ports: [{ containerPort: 1 }, { containerPort: 2, protocol: 'UDP' }],
                env: [
                  { name: 'X', value: '1' },
                  { name: 'Y', value: '1' },
                ],
                volumeMounts: [{ name: 'v', mountPath: '/1' }],
                args: ['1', '2'],
              }),
              container('b', {}),
            ],
            [volume('v')],
          ),
          { manager },
        )
        const theirs = deployment([
          { name: 'a', env: [{ name: 'Z', value: '1' }], ports: [{ containerPort: 2, protocol: 'TCP' }] },
        ])
        const { replicas: _, selector: __, ...spec } = theirs['spec'] as Record<string, unknown> // made above
        await cluster.apply({ ...theirs, spec }, { manager: 'contract-2' })
        const merged = await cluster.apply(
          deployment(
            [
              container('a', {
                ports: [{ containerPort: 1, protocol: 'TCP' }],
                env: [{ name: 'X', value: '2' }],
                volumeMounts: [
                  { name: 'v', mountPath: '/1' },
                  { name: 'w', mountPath: '/2' },
                ],
                args: ['3'],
              }),
            ],
            [volume('v'), volume('w')],
          ),
          { manager },
        )
        const [only, ...more] = podSpec(merged).containers
        expect(more).toEqual([])
        expect(only!.env.map(({ name, value }) => `${name}=${value}`).sort()).toEqual(['X=2', 'Z=1'])
        expect(only!.ports.map(one => `${one.containerPort}/${one.protocol ?? 'TCP'}`).sort()).toEqual([
          '1/TCP',
          '2/TCP',
        ])
        expect(only!.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/1', '/2'])
        expect(only!.args).toEqual(['3'])
        expect(podSpec(merged).volumes.map(({ name }) => name)).toEqual(['v', 'w'])
      })

      test('apply counts only changes of a spec in `generation`', async () => {
        const deployment = (replicas: number, labels: object = {}): KubeObject => ({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'generation', namespace, labels: { ...labels } },
          spec: {
            replicas,
            paused: true,
            selector: { matchLabels: { app: 'generation' } },
            template: {
              metadata: { labels: { app: 'generation' } },
              spec: { containers: [{ name: 'a', image: 'busybox:1' }] },
            },
          },
        })
        expect((await cluster.apply(deployment(0), { manager })).metadata.generation).toBe(1)
        expect((await cluster.apply(deployment(0, { l: 'x' }), { manager })).metadata.generation).toBe(1)
        expect((await cluster.apply(deployment(1), { manager, dryRun: true })).metadata.generation).toBe(2)
        expect((await cluster.apply(deployment(1), { manager })).metadata.generation).toBe(2)
      })
    })

    describe('custom kinds', () => {
      test('custom kinds are known as soon as they are defined, and lose no field', async () => {
        const apiVersion = `${namespace}.example.com/v1`
        const kind = 'Gadget'
        expect(await cluster.resource(apiVersion, kind)).toBeUndefined()
        await world.define({ apiVersion, kind, plural: 'gadgets' })
        expect(await cluster.resource(apiVersion, kind)).toEqual({ name: 'gadgets', namespaced: true })
        const gadget = {
          apiVersion,
          kind,
          metadata: { name: 'one', namespace },
          spec: { any: { thing: [1, 'x', null] } },
        }
        await cluster.apply(gadget, { manager })
        expect((await cluster.get(ref('one', kind, apiVersion)))?.['spec']).toEqual(gadget.spec)
        expect(await cluster.list({ apiVersion, kind, namespace })).toHaveLength(1)
        expect(await cluster.delete(ref('one', kind, apiVersion))).toBe(true)
      })
    })

    describe('create and replace', () => {
      test('create makes an object, and throws `exists` for a second one', async () => {
        expect(await cluster.create(config('create'))).toMatchObject({ metadata: { name: 'create' }, data: { a: '1' } })
        const error = await fails(cluster.create(config('create', { a: '2' })), 'exists', 409)
        expect(error.reason).toBe('AlreadyExists')
        expect(dataOf(await cluster.get(ref('create')))).toEqual({ a: '1' })
      })

      test('replace replaces the whole object', async () => {
        const { metadata } = await cluster.create(config('replace', { a: '1', b: '1' }))
        const { resourceVersion } = metadata
        const replaced = await cluster.replace(config('replace', { c: '1' }, { resourceVersion }))
        expect(dataOf(replaced)).toEqual({ c: '1' })
        expect(replaced.metadata.uid).toBe(metadata.uid)
        expect(replaced.metadata.resourceVersion).not.toBe(resourceVersion)
      })

      test('replace throws `conflict` for an old version', async () => {
        const { resourceVersion } = (await cluster.create(config('stale'))).metadata
        await cluster.replace(config('stale', { a: '2' }, { resourceVersion }))
        const late = cluster.replace(config('stale', { a: '3' }, { resourceVersion }))
        expect((await fails(late, 'conflict', 409)).reason).toBe('Conflict')
        expect(dataOf(await cluster.get(ref('stale')))).toEqual({ a: '2' })
      })

      test('replace throws `not-found` for a missing object', async () => {
        await fails(cluster.replace(config('nothing')), 'not-found', 404)
      })
    })

    describe('patch', () => {
      const patch = (name: string, body: object, more: object = {}) =>
        cluster.patch(ref(name), { ...body }, { manager: 'contract-patch', ...more })

      test('patch changes given fields, deletes null fields and keeps the others', async () => {
        await cluster.apply(config('patch', { a: '1', b: '1', c: '1' }, { labels: { l: 'x' } }), { manager })
        const patched = await patch('patch', { data: { a: '2', b: null }, metadata: { labels: { l: null } } })
        expect(dataOf(patched)).toEqual({ a: '2', c: '1' })
        expect(patched.metadata.labels).toBeUndefined()
        expect(await cluster.get(ref('patch'))).toEqual(patched)
      })

      test('patch makes its manager the owner of changed fields', async () => {
        await cluster.apply(config('patch-owner', { a: '1', b: '1' }), { manager })
        const patched = await patch('patch-owner', { data: { a: '2' } })
        const owners = patched.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)
        expect(owners).toEqual(['contract Apply', 'contract-patch Update'])
        const error = await fails(cluster.apply(config('patch-owner', { a: '3' }), { manager }), 'conflict', 409)
        expect(error.causes).toMatchObject([{ field: '.data.a' }])
      })

      test('patch of managed fields alone restores their earlier owners', async () => {
        const { metadata } = await cluster.apply(config('patch-back', { a: '1' }), { manager })
        await patch('patch-back', { data: { a: '2' } })
        await patch('patch-back', { data: { a: '1' } })
        const given = await patch('patch-back', { metadata: { managedFields: metadata.managedFields } })
        expect(given.metadata.managedFields).toEqual(metadata.managedFields)
        const again = await cluster.apply(config('patch-back', { a: '1' }), { manager })
        expect(again.metadata.resourceVersion).toBe(given.metadata.resourceVersion)
      })

      test('patch does not write an unchanged object', async () => {
        const first = await cluster.apply(config('patch-same'), { manager })
        expect((await patch('patch-same', { data: { a: '1' } })).metadata.resourceVersion).toBe(
          first.metadata.resourceVersion,
        )
      })

      test('patch with `dryRun` writes nothing', async () => {
        const first = await cluster.apply(config('patch-dry'), { manager })
        expect(dataOf(await patch('patch-dry', { data: { a: '2' } }, { dryRun: true }))).toEqual({ a: '2' })
        expect(await cluster.get(ref('patch-dry'))).toEqual(first)
      })

      test('patch throws `conflict` for an old version, `not-found`, and `invalid` for an unknown field', async () => {
        const { metadata } = await cluster.apply(config('patch-old'), { manager })
        await patch('patch-old', { data: { a: '2' } })
        const { resourceVersion } = metadata
        await fails(patch('patch-old', { metadata: { resourceVersion }, data: { a: '3' } }), 'conflict', 409)
        await fails(patch('patch-none', { data: { a: '3' } }), 'not-found', 404)
        expect((await failing(patch('patch-old', { dota: {} }))).failure).toBe('invalid')
      })

      test('patch throws `invalid` for another uid', async () => {
        const { uid } = (await cluster.apply(config('patch-uid'), { manager })).metadata
        const stranger = '00000000-0000-0000-0000-000000000000'
        await fails(patch('patch-uid', { metadata: { uid: stranger }, data: { a: '2' } }), 'invalid', 422)
        expect(dataOf(await patch('patch-uid', { metadata: { uid }, data: { a: '2' } }))).toEqual({ a: '2' })
      })
    })

    describe('delete', () => {
      test('delete returns true, or false for a missing object', async () => {
        await cluster.create(config('delete'))
        expect(await cluster.delete(ref('delete'))).toBe(true)
        expect(await cluster.get(ref('delete'))).toBeUndefined()
        expect(await cluster.delete(ref('delete'))).toBe(false)
        expect(await cluster.delete(ref('delete', 'Thing', 'nobody.example.com/v1'))).toBe(false)
      })

      test('delete throws `conflict` for another uid or version', async () => {
        const { uid, resourceVersion } = (await cluster.create(config('uid'))).metadata
        const stranger = '00000000-0000-0000-0000-000000000000'
        await fails(cluster.delete(ref('uid'), { uid: stranger }), 'conflict', 409)
        await cluster.apply(config('uid', { b: '1' }), { manager })
        await fails(cluster.delete(ref('uid'), { uid, resourceVersion }), 'conflict', 409)
        expect(await cluster.delete(ref('uid'), { uid })).toBe(true)
      })

      test('delete waits for finalizers', async () => {
        const finalizers = ['example.com/wait']
        await cluster.create(config('finalizer', {}, { finalizers }))
        expect(await cluster.delete(ref('finalizer'))).toBe(true)
        const dying = await cluster.get(ref('finalizer'))
        expect(dying?.metadata.deletionTimestamp).toBeDefined()
        const { resourceVersion } = dying!.metadata
        await cluster.replace(config('finalizer', {}, { resourceVersion, finalizers: [] }))
        expect(await cluster.get(ref('finalizer'))).toBeUndefined()
      })

      const family = async (name: string) => {
        const { uid } = (await cluster.create(config(name))).metadata
        const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: uid!, blockOwnerDeletion: true }
        await cluster.create(config(`${name}-child`, {}, { ownerReferences: [owner] }))
      }
      const gone = async (name: string) => {
        for (let attempt = 0; attempt < 100; attempt++) {
          if ((await cluster.get(ref(name))) === undefined) return
          await new Promise(resolve => setTimeout(resolve, world.print ? 100 : 0))
        }
        expect.fail(`${name} is still there`)
      }

      test('delete in the background deletes an object at once and its dependents later', async () => {
        await family('background')
        await cluster.delete(ref('background'), { propagation: 'Background' })
        expect(await cluster.get(ref('background'))).toBeUndefined()
        await gone('background-child')
      })

      test('delete in the foreground deletes the dependents first', async () => {
        await family('foreground')
        await cluster.delete(ref('foreground'), { propagation: 'Foreground' })
        await gone('foreground')
        expect(await cluster.get(ref('foreground-child'))).toBeUndefined()
      })

      test('delete with orphans leaves the dependents without an owner', async () => {
        await family('orphan')
        await cluster.delete(ref('orphan'), { propagation: 'Orphan' })
        await gone('orphan')
        const child = await cluster.get(ref('orphan-child'))
        expect(child?.metadata.ownerReferences ?? []).toEqual([])
      })
    })

    describe('watch', () => {
      test('watch reports existing objects and then changes until it is aborted', async () => {
        const done = new AbortController()
        const labels = { watch: 'me' }
        await cluster.create(config('watch-1', {}, { labels }))
        const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: 'watch=me' }
        const changes = cluster.watch(query, { signal: done.signal })[Symbol.asyncIterator]()
        const next = async () => told((await changes.next()).value)
        expect(await next()).toBe('Restarted')
        expect(await next()).toBe('Changed watch-1 {}')
        expect(await next()).toBe('Listed')
        await cluster.apply(config('watch-2', { a: '1' }, { labels }), { manager })
        await cluster.apply(config('watch-other', { a: '1' }), { manager })
        expect(await next()).toBe('Changed watch-2 {"a":"1"}')
        await cluster.apply(config('watch-2', { a: '2' }, { labels }), { manager })
        expect(await next()).toBe('Changed watch-2 {"a":"2"}')
        await cluster.apply(config('watch-2', { a: '2' }), { manager })
        expect(await next()).toBe('Deleted watch-2 {"a":"2"}')
        await cluster.delete(ref('watch-1'))
        expect(await next()).toBe('Deleted watch-1 {}')
        const waiting = changes.next()
        done.abort(new Error('enough'))
        await expect(waiting).rejects.toThrow('enough')
      })

      test('list and watch use a field selector', async () => {
        await cluster.create(config('watch-5', { a: '1' }))
        await cluster.create(config('watch-6', { a: '1' }))
        const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, fields: 'metadata.name=watch-6' }
        expect((await cluster.list(query)).map(({ metadata }) => metadata.name)).toEqual(['watch-6'])
        const seen: string[] = []
        for await (const change of cluster.watch(query, {})) {
          seen.push(told(change))
          if (change.type === 'Listed') break
        }
        expect(seen).toEqual(['Restarted', 'Changed watch-6 {"a":"1"}', 'Listed'])
      })

      test('watch ends when its consumer stops', async () => {
        await cluster.create(config('watch-3', {}, { labels: { watch: 'three' } }))
        const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: 'watch=three' }
        for await (const change of cluster.watch(query, {})) if (change.type === 'Changed') break
      })

      test('watch throws `not-found` for an unknown kind', async () => {
        const query = { apiVersion: 'nobody.example.com/v1', kind: 'Thing', namespace }
        await fails(cluster.watch(query, {})[Symbol.asyncIterator]().next(), 'not-found')
      })
    })

    describe('logs', () => {
      test('logs returns all or the last lines, the previous run and timestamps, and follows', async context => {
        if (!world.print) return context.skip()
        await world.print('talker', namespace, ['one', 'two ü', '', 'four'])
        const pod = { name: 'talker', namespace }
        const read = (options: object) => collect(cluster.logs(pod, { container: 'main', ...options }))
        expect(await read({})).toEqual(['one', 'two ü', '', 'four'])
        expect(await read({ tailLines: 2 })).toEqual(['', 'four'])
        expect(await read({ tailLines: 0 })).toEqual([])
        expect(await read({ previous: true })).toEqual(['one', 'two ü', '', 'four'])
        expect(await read({ sinceSeconds: 3600 })).toHaveLength(4)
        for (const line of await read({ timestamps: true })) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+Z /)
        const bytes = await collect(cluster.logBytes(pod, { container: 'main' }))
        expect(Buffer.concat(bytes).toString('utf8').trimEnd()).toBe('one\ntwo ü\n\nfour')
        const done = new AbortController()
        const following = cluster.logs(pod, { container: 'main', follow: true, signal: done.signal })
        const seen: string[] = []
        const end = (async () => {
          for await (const line of following) if (seen.push(line) === 4) done.abort(new Error('enough'))
        })()
        await expect(end).rejects.toThrow('enough')
        expect(seen).toEqual(['one', 'two ü', '', 'four'])
      })

      test('logs throws `not-found` for a missing Pod', async () => {
        const none = collect(cluster.logs({ name: 'nobody', namespace }, { container: 'main' }))
        await fails(none, 'not-found', 404)
      })
    })

    describe('every method', () => {
      const calls = (of: Cluster, signal?: AbortSignal): Record<string, () => Promise<unknown>> => ({
        get: () => of.get(ref('x'), { signal }),
        list: () => of.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace }, { signal }),
        apply: () => of.apply(config('x'), { manager, signal }),
        create: () => of.create(config('x'), { signal }),
        replace: () => of.replace(config('x'), { signal }),
        patch: () => of.patch(ref('x'), {}, { manager, signal }),
        delete: () => of.delete(ref('x'), { signal }),
        watch: () => collect(of.watch({ apiVersion: 'v1', kind: 'ConfigMap', namespace }, { signal })),
        logs: () => collect(of.logs({ name: 'x', namespace }, { container: 'x', signal })),
      })

      test('every method throws `forbidden` without permission', async () => {
        for (const call of Object.values(calls(world.powerless))) {
          const error = await fails(call(), 'forbidden', 403)
          expect(error.reason).toBe('Forbidden')
        }
      })

      test('every method throws the reason of an aborted signal', async () => {
        const reason = new Error('no longer')
        const signal = AbortSignal.abort(reason)
        for (const call of Object.values(calls(cluster, signal))) await expect(call()).rejects.toBe(reason)
        await expect(cluster.resource('v1', 'ConfigMap', { signal })).rejects.toBe(reason)
        expect(await cluster.get(ref('x'))).toBeUndefined()
      })
    })
  })
}

interface PodSpec {
  readonly volumes: readonly { readonly name: string }[]
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value: string }[]
    readonly ports: readonly { readonly containerPort: number; readonly protocol?: string }[]
    readonly volumeMounts: readonly { readonly mountPath: string }[]
    readonly args: readonly string[]
  }[]
}

function podSpec(deployment: KubeObject): PodSpec {
  return (deployment['spec'] as { template: { spec: PodSpec } }).template.spec // a Deployment's spec
}

function told(change: Change): string {
  return !('object' in change)
    ? change.type
    : `${change.type} ${change.object.metadata.name} ${JSON.stringify(change.object['data'] ?? {})}`
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
