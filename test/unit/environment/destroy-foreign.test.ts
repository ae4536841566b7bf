import { expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { destroyEnvironment } from '../../../environment/apply/destroy.ts'
import type { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'
import {
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  wanted,
} from '../../support/objects/deploying.ts'
import { FakeClock } from '../../support/objects/fake-clock.ts'

const OURS = { 'dev.platform/environment': ENVIRONMENT, 'dev.platform/environment-namespace': NAMESPACE }
const BY_COMMAND = { 'dev.platform/origin': 'command' }

const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'tools', labels: OURS, annotations: BY_COMMAND },
}
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com', labels: OURS, annotations: BY_COMMAND },
  spec: {
    group: 'example.com',
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [
      { name: 'v1alpha1', served: false },
      { name: 'v1', served: true },
    ],
  },
}
const inside = (kind: string, name: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  ...object(kind, name),
  metadata: { name, namespace: 'tools', labels },
})
const gadget = (name: string, namespace: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name, namespace, labels },
})

/** Returns a cluster with an environment whose commands made a namespace and a definition. */
async function deployed(): Promise<MemoryCluster> {
  const cluster = newCluster()
  cluster.register({
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    name: 'gadgets',
    namespaced: true,
    hasStatus: false,
  })
  await deploy(cluster, wanted([object('ConfigMap', 'page', { data: {} })]))
  await cluster.create(namespace)
  await cluster.create(definition)
  return cluster
}

function destroy(
  cluster: MemoryCluster,
  {
    volumes = false,
    mayDelete,
  }: { volumes?: boolean; mayDelete?: (of: readonly KubeObject[]) => Promise<boolean> } = {},
) {
  const events = { planned() {}, deleted() {}, locked() {}, ...(mayDelete && { mayDelete }) }
  const input = { cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder(), volumes, wait: true }
  return destroyEnvironment(input, { clock: new FakeClock(), signal: never, events })
}

const isThere = async (cluster: MemoryCluster, { apiVersion, kind, metadata }: KubeObject) =>
  (await cluster.get({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace })) !== undefined

test('destroy deletes cluster-wide objects of commands that contain nothing else', async () => {
  const cluster = await deployed()
  await cluster.create(inside('ConfigMap', 'kube-root-ca.crt'))
  await cluster.create(inside('ServiceAccount', 'default'))
  await cluster.create(inside('Secret', 'mine', OURS))
  await cluster.create(gadget('mine', NAMESPACE, OURS))
  const { deleted, held } = await destroy(cluster)
  expect(held).toEqual([])
  expect(deleted).toEqual(
    expect.arrayContaining(['namespace/tools', 'customresourcedefinition/gadgets.example.com', 'configmap/page']),
  )
  expect(await isThere(cluster, namespace)).toBe(false)
  expect(await isThere(cluster, definition)).toBe(false)
})

test('a namespace or definition is kept, with its reason, while it has objects of others', async () => {
  const cluster = await deployed()
  const theirs = [inside('ConfigMap', 'theirs'), gadget('spare', 'default')]
  for (const one of theirs.slice(0, 1)) await cluster.create(one)
  await cluster.create(gadget('spare', NAMESPACE, { 'dev.platform/environment': 'other' }))
  expect((await destroy(cluster)).held).toEqual([
    { object: 'namespace/tools', why: 'it contains configmap/theirs in tools, which would be deleted with it' },
    {
      object: 'customresourcedefinition/gadgets.example.com',
      why: `it contains gadget/spare in ${NAMESPACE}, which would be deleted with it`,
    },
  ])
  expect(await isThere(cluster, namespace)).toBe(true)
  expect(await isThere(cluster, definition)).toBe(true)
  await cluster.delete({ ...theirs[0]!, name: 'theirs', namespace: 'tools' })
  await cluster.delete({ apiVersion: 'example.com/v1', kind: 'Gadget', name: 'spare', namespace: NAMESPACE })
  expect([...(await destroy(cluster)).deleted].sort()).toEqual([
    'customresourcedefinition/gadgets.example.com',
    'namespace/tools',
  ])
})

test('destroy keeps a namespace with claims unless it deletes claims, too', async () => {
  const cluster = await deployed()
  await cluster.create({ ...inside('PersistentVolumeClaim', 'data', OURS), spec: {} })
  expect((await destroy(cluster)).held).toHaveLength(1)
  expect((await destroy(cluster, { volumes: true })).held).toEqual([])
})

test('destroy detects an object that is created after its plan', async () => {
  const cluster = await deployed()
  let isFirst = true
  cluster.before = async ({ verb, kind }) => {
    if (verb !== 'create' || kind !== 'Lease' || !isFirst) return
    isFirst = false
    await cluster.create(inside('ConfigMap', 'late'))
  }
  expect((await destroy(cluster)).held).toMatchObject([{ object: 'namespace/tools' }])
  expect(await isThere(cluster, namespace)).toBe(true)
})

test('destroy keeps a namespace whose content cannot be listed', async () => {
  const cluster = await deployed()
  cluster.allows = ({ verb, kind }) => verb !== 'list' || kind !== 'Role'
  expect((await destroy(cluster)).held).toMatchObject([
    { object: 'namespace/tools', why: expect.stringContaining('its content cannot be listed') },
  ])
})

test('destroy keeps a namespace whose content is unknown because an API is down', async () => {
  const cluster = await deployed()
  const kinds = cluster.kinds.bind(cluster)
  cluster.kinds = async options => ({ ...(await kinds(options)), unavailable: ['metrics.k8s.io/v1beta1'] })
  expect((await destroy(cluster)).held).toMatchObject([
    {
      object: 'namespace/tools',
      why: 'its content cannot be listed: the API `metrics.k8s.io/v1beta1` is unavailable',
    },
  ])
})

test('destroy asks before it deletes cluster-wide objects, and deletes nothing without a yes', async () => {
  const cluster = await deployed()
  const asked: string[] = []
  const mayDelete = async (objects: readonly KubeObject[]) => {
    asked.push(...objects.map(({ metadata }) => metadata.name))
    return false
  }
  await expect(destroy(cluster, { mayDelete })).rejects.toMatchObject({ message: 'nothing was destroyed' })
  expect(asked).toEqual(['tools', 'gadgets.example.com'])
  expect(await isThere(cluster, object('ConfigMap', 'page'))).toBe(true)
  const plain = newCluster()
  await deploy(plain, wanted([object('ConfigMap', 'page', { data: {} })]))
  await destroy(plain, { mayDelete: () => Promise.reject(new ClusterError('invalid', 'nobody is to be asked')) })
})

test('a kind whose definition is already deleted does not keep a namespace', async () => {
  const cluster = await deployed()
  const { list } = cluster
  cluster.list = async (query, options) => {
    if (query.kind === 'Gadget') throw new ClusterError('not-found', 'the server answered 404', { status: 404 })
    return list.call(cluster, query, options)
  }
  const { held } = await destroy(cluster)
  expect(held).toEqual([])
  expect(await isThere(cluster, namespace)).toBe(false)
})

test('destroy names the webhook and the object of a refused deletion', async () => {
  const cluster = await deployed()
  cluster.delete = async () => {
    const said = 'admission webhook "w.example.com" denied the request: ask me first'
    throw new ClusterError('forbidden', said, { status: 403 })
  }
  await expect(destroy(cluster)).rejects.toThrow(
    'the admission webhook `w.example.com` denied the deletion of `configmap/page`',
  )
})
