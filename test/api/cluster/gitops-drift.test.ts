import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { forControllers } from '../../../gitops/agents/marks.ts'
import { goldenCases } from '../../support/cases.ts'
import { eventually, findCluster, pathOf } from '../../support/cluster/cluster.ts'
import { missingFrom } from '../../support/cluster/kept.ts'
import { expectedDocuments } from '../../support/documents.ts'
import { partOf } from '../../support/part-of-cases.ts'

const cluster = findCluster()
const namespace = `drift-${process.pid}`

/**
 * Cases whose fields Kubernetes 1.34 drops because the feature is off by default; `dry-run.test.ts` has the reasons.
 */
const NEWER = [
  'volumes/a-mount-of-type-image-becomes-an-image-volume',
  'volumes/an-image-volume-can-use-the-image-of-a-service',
  'updates/parallelism-of-a-stateful-set-needs-kubernetes-1-35',
]

// Applies every golden manifest for real, and checks that a controller which applies it again finds no difference. A
// quota prevents all Pods.
describe.skipIf(cluster === undefined)('objects that are applied again', () => {
  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    const quota = { metadata: { name: 'no-pods' }, spec: { hard: { pods: '0' } } }
    const { status, body } = await cluster!.send('POST', `/api/v1/namespaces/${namespace}/resourcequotas`, quota)
    expect(status, body).toBe(201)
    // The quota refuses nothing before the server has computed it.
    await eventually('the quota holds', async () => {
      const { status = {} } = await cluster!.get<{ status?: { hard?: object } }>(
        `/api/v1/namespaces/${namespace}/resourcequotas/no-pods`,
      )
      return status.hard !== undefined || undefined
    })
  })

  afterAll(async () => {
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
  })

  for (const { name, objects } of partOf(applications(), 8).cases) {
    test.concurrent(name, async ({ expect }) => {
      const found = await Promise.all(objects.map(object => driftOf(object)))
      expect(found.flat()).toEqual([])
    })
  }
})

let count = 0

/** Returns a description of what changes when an object is applied a second time. Deletes the object immediately. */
async function driftOf(wanted: KubernetesObject): Promise<readonly string[]> {
  // A unique name keeps the cases apart; no Pod has to use an account of that name.
  const object = { ...wanted, metadata: { ...wanted.metadata, namespace, name: `o${++count}` } }
  const path = pathOf(object, namespace)
  const id = `${wanted.kind}/${wanted.metadata.name}`
  const first = await cluster!.apply(object, namespace)
  if (first.status !== 201) return [`${id}: ${first.status} ${first.body}`]
  try {
    const live = JSON.parse((await cluster!.send('GET', path)).body)
    const again = await cluster!.apply(object, namespace, { dryRun: true })
    if (again.status !== 200) return [`${id}: ${again.status} ${again.body}`]
    // Compares in both directions, so that no field is lost and none is added.
    const [before, after] = [lasting(live), lasting(JSON.parse(again.body))]
    const differences = [...missingFrom(before, after), ...missingFrom(after, before), ...missingFrom(live, object)]
    return differences.map(text => `${id}: ${text}`)
  } finally {
    await cluster!.send('DELETE', `${path}?propagationPolicy=Background`)
  }
}

/** Returns an object without the fields that the server changes by itself. */
function lasting({ metadata, status: _, ...rest }: { metadata: Record<string, unknown>; status?: unknown }): unknown {
  const { managedFields: __, resourceVersion: ___, annotations, generation, labels } = metadata
  const own = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('deployment.kubernetes.io/'))
  return { ...rest, generation, labels, annotations: Object.fromEntries(own) }
}

function applications(): readonly { readonly name: string; readonly objects: readonly KubernetesObject[] }[] {
  return goldenCases().flatMap(one => {
    const { name } = one
    if (NEWER.includes(name)) return []
    const manifests = expectedDocuments(one).map(({ object }) => ({
      source: 'compose.yaml',
      folder: '_shared',
      object,
    }))
    const objects = forControllers(manifests).map(({ object }) => object)
    // Kinds that other controllers have to install are left out.
    const known = objects.filter(({ kind }) => !['HTTPRoute', 'ExternalSecret', 'ServiceMonitor'].includes(kind))
    return known.length > 0 ? [{ name, objects: known }] : []
  })
}
