import { describe, expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { isUpToDate } from '../../../environment/plan/changes.ts'
import { overlay } from '../../../environment/plan/overlay.ts'
import { refusal } from '../../../environment/plan/refusals.ts'
import { webhookRefusal } from '../../../environment/plan/webhook-refusal.ts'
import type { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'
import { actions, deploy, newCluster, object, plan, wanted, workload } from '../../support/objects/deploying.ts'

const container = (name: string, more: object = {}) => ({ name, image: `${name}:1`, ...more })
const spec = (containers: readonly object[]) => ({
  spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers } } },
})
const web = wanted(
  [object('ConfigMap', 'page', { data: { a: '1', b: '2' } })],
  [workload('Deployment', 'web', spec([container('web', { ports: [{ containerPort: 80 }, { containerPort: 81 }] })]))],
)

/** Adds a webhook that changes each applied object in another way each time, also in dry runs. */
function withWebhook(cluster: MemoryCluster, mutate: (object: KubeObject, count: number) => KubeObject): void {
  const apply = cluster.apply.bind(cluster)
  let count = 0
  cluster.apply = async (object, options) => {
    const applied = await apply(object, options)
    const mutated = mutate(applied, ++count)
    if (options.dryRun) return mutated
    const { apiVersion, kind, metadata } = applied
    return cluster.act({ apiVersion, kind, ...metadata }, () => mutated, 'webhook')
  }
}

describe('fields that an admission webhook sets', () => {
  test.each<[string, (object: KubeObject, count: number) => KubeObject]>([
    [
      'an annotation with the time',
      (object, count) => ({
        ...object,
        metadata: {
          ...object.metadata,
          annotations: { ...object.metadata.annotations, 'example.com/seen': `${count}` },
        },
      }),
    ],
    [
      'a label of one name after another',
      (object, count) => ({
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, [`example.com/${count}`]: 'x' } },
      }),
    ],
    [
      'a sidecar with a token',
      (object, count) =>
        object.kind === 'Deployment'
          ? { ...object, ...spec([...containersOf(object), container('proxy', { args: [`--id=${count}`] })]) }
          : object,
    ],
    [
      'variables in our container',
      (object, count) =>
        object.kind === 'Deployment'
          ? {
              ...object,
              ...spec(containersOf(object).map(one => ({ ...one, env: [{ name: 'NODE', value: `${count}` }] }))),
            }
          : object,
    ],
  ])('the plan is up to date after a webhook sets %s', async (_, mutate) => {
    const cluster = newCluster()
    withWebhook(cluster, mutate)
    await deploy(cluster, web)
    expect(isUpToDate(await plan(cluster, web))).toBe(true)
  })

  test('values that the files change or remove are differences', async () => {
    const cluster = newCluster()
    await deploy(cluster, web)
    const changed = wanted(
      [object('ConfigMap', 'page', { data: { a: '1' } })],
      [workload('Deployment', 'web', spec([container('web', { ports: [{ containerPort: 80 }] })]))],
    )
    expect(actions(await plan(cluster, changed))).toEqual(['update configmap/page', 'update deployment/web'])
  })

  test('overlay matches mounts of one volume by their paths', () => {
    const mounts = [
      { name: 'data', mountPath: '/a', subPath: 'a' },
      { name: 'data', mountPath: '/b', subPath: 'b' },
    ]
    const live = object('Deployment', 'web', {
      spec: {
        template: {
          spec: { containers: [{ name: 'web', volumeMounts: [...mounts, { name: 'token', mountPath: '/t' }] }] },
        },
      },
    })
    const ours = object('Deployment', 'web', {
      spec: { template: { spec: { containers: [{ name: 'web', volumeMounts: mounts }] } } },
    })
    expect(overlay(live, ours)).toEqual(live)
  })
})

interface Templated {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } } }
}

const containersOf = (object: KubeObject) =>
  (object as unknown as Templated).spec.template.spec.containers.filter(({ name }) => name === 'web') // a Deployment

describe('failures of admission webhooks', () => {
  const one = { object: object('Deployment', 'web'), source: 'compose.yaml#services.web' }
  const error = (status: number, message: string) =>
    new ClusterError(status === 500 ? 'unavailable' : 'forbidden', message, { status })

  test.each([
    [
      error(403, 'admission webhook "images.example.com" denied the request: only images of registry.example.com'),
      'the admission webhook `images.example.com` denied `deployment/web`',
      ['rendered from compose.yaml#services.web', 'only images of registry.example.com'],
    ],
    [
      error(400, 'admission webhook "a.example.com" denied the request without explanation'),
      'the admission webhook `a.example.com` denied `deployment/web`',
      ['rendered from compose.yaml#services.web'],
    ],
    [
      error(
        500,
        'Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: Post "https://10.0.0.1:443/?timeout=2s": context deadline exceeded',
      ),
      'the admission webhook `slow.example.com` does not answer, so the cluster refused `deployment/web`',
      [
        'rendered from compose.yaml#services.web',
        'failed to call webhook: Post "https://10.0.0.1:443/?timeout=2s": context deadline exceeded',
      ],
    ],
  ])('the refusal names the webhook of the failure: %s', (failure, message, notes) => {
    expect(refusal(failure, one)).toMatchObject({ message, notes })
  })

  test('webhookRefusal returns nothing for other failures', () => {
    expect(webhookRefusal(error(403, 'deployments.apps "web" is forbidden: exceeded quota'), 'x')).toBeUndefined()
  })
})
