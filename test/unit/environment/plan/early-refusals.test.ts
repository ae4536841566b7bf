import { expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import type { Plan } from '../../../../compiler/plan/plan.ts'
import { NO_CHOICES } from '../../../../environment/plan/choices.ts'
import { type EarlyDeployment, refuseEarly } from '../../../../environment/plan/early-refusals.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { ENVIRONMENT, NAMESPACE, never, newCluster, object, SOURCE } from '../../../support/objects/deploying.ts'

const PLAN = { environment: { name: ENVIRONMENT }, workloads: [], routes: [], secrets: [] } as unknown as Plan // only the fields that are read

const refused = (cluster: MemoryCluster, objects: readonly KubeObject[], more: Partial<EarlyDeployment> = {}) =>
  refuseEarly(
    {
      cluster,
      plan: PLAN,
      synth: () => objects.map(one => ({ object: one, source: `compose.yaml#${one.metadata.name}`, folder: '' })),
      namespace: NAMESPACE,
      source: SOURCE,
      choices: NO_CHOICES,
      hasMoreBefore: false,
      ...more,
    },
    { signal: never },
  )

const gadget: KubeObject = { ...object('Service', 'gadget'), apiVersion: 'example.com/v1', kind: 'Gadget' }
const belonging = (one: KubeObject, environment: string): KubeObject => ({
  ...one,
  metadata: { ...one.metadata, labels: { 'dev.platform/environment': environment } },
})

test('a kind that the cluster does not have is refused, unless commands may install it', async () => {
  await expect(refused(newCluster(), [gadget])).rejects.toMatchObject({
    message: 'the cluster does not know the kind `Gadget` of `example.com/v1`',
    notes: ['rendered from compose.yaml#gadget'],
  })
  await refused(newCluster(), [gadget], { hasMoreBefore: true })
})

test('an object of any kind that belongs to another environment is refused', async () => {
  const cluster = newCluster()
  for (const kind of ['ConfigMap', 'PersistentVolumeClaim', 'Ingress'])
    await cluster.create(belonging(object(kind, 'taken', kind === 'ConfigMap' ? {} : { spec: {} }), 'blog'))
  for (const kind of ['ConfigMap', 'PersistentVolumeClaim', 'Ingress'])
    await expect(refused(cluster, [object('Service', 'web'), object(kind, 'taken')]), kind).rejects.toMatchObject({
      message: `\`${kind.toLowerCase()}/taken\` already exists and belongs to the environment \`blog\``,
    })
})

test('own objects, adopted objects and objects that are being deleted are accepted', async () => {
  const cluster = newCluster()
  await cluster.create(object('ConfigMap', 'own'))
  await cluster.create({ ...object('ConfigMap', 'free'), metadata: { name: 'free', namespace: NAMESPACE } })
  const ending = belonging(object('ConfigMap', 'ending'), 'blog')
  await cluster.create({ ...ending, metadata: { ...ending.metadata, finalizers: ['example.com/hold'] } })
  await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'ending', namespace: NAMESPACE })
  const all = ['own', 'free', 'ending'].map(name => object('ConfigMap', name))
  await refused(cluster, all, { choices: { ...NO_CHOICES, adopt: true } })
  await expect(refused(cluster, all)).rejects.toThrow('`configmap/free` already exists and is not managed by devctl')
})

test('an object that the user may not read is left to the deploy', async () => {
  const cluster = newCluster()
  cluster.before = async ({ verb, kind }) => {
    if (verb === 'get' && kind === 'Role') throw new ClusterError('forbidden', 'roles is forbidden')
  }
  await refused(cluster, [{ ...object('Role', 'web'), apiVersion: 'rbac.authorization.k8s.io/v1' }])
})
