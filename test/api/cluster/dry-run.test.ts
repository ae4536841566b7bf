import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { goldenCases, root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { installHttpRoute } from '../../support/cluster/http-route.ts'
import { missingFrom } from '../../support/cluster/kept.ts'
import { documentsOf, expectedDocuments } from '../../support/documents.ts'

/** Cases whose fields Kubernetes 1.34 drops because the feature is off by default, with the reason. */
const newer: Readonly<Record<string, string>> = {
  'volumes/a-mount-of-type-image-becomes-an-image-volume': 'image volumes are on by default from 1.35',
  'volumes/an-image-volume-can-use-the-image-of-a-service': 'image volumes are on by default from 1.35',
  'updates/parallelism-of-a-stateful-set-needs-kubernetes-1-35':
    '`maxUnavailable` of StatefulSets is on by default from 1.35',
}

const cluster = findCluster()
const namespace = `dry-run-${process.pid}`
const restricted = `${namespace}-restricted`
let hasHttpRoute = false

/** Kinds of operators that the test cluster does not have. */
const NOT_INSTALLED: ReadonlySet<string> = new Set(['ExternalSecret', 'ServiceMonitor'])

// Sends every golden manifest to a real API server, as a dry run of server-side apply with strict validation of
// fields.
describe.skipIf(cluster === undefined)('dry run of the golden manifests', () => {
  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    await cluster!.createNamespace(restricted, { 'pod-security.kubernetes.io/warn': 'restricted' })
    hasHttpRoute = await installHttpRoute(cluster!)
  })

  afterAll(async () => {
    await cluster!.deleteNamespace(namespace)
    await cluster!.deleteNamespace(restricted)
    cluster!.close()
  })

  for (const { name, objects } of applications()) {
    test(name, async () => {
      const target = name.startsWith('security/the-restricted-policy') ? restricted : namespace
      const answers = await Promise.all(
        objects
          .filter(({ kind }) => (kind !== 'HTTPRoute' || hasHttpRoute) && !NOT_INSTALLED.has(kind))
          .map(async object => {
            const { status, body, warnings } = await cluster!.apply(object, target, { dryRun: true })
            const id = `${object.kind}/${object.metadata.name}`
            if (status > 201) return [`${id}: ${status} ${JSON.parse(body).message}`]
            if (name in newer) return warnings
            return [...warnings, ...missingFrom(JSON.parse(body), withoutNamespace(object))].map(
              text => `${id}: ${text}`,
            )
          }),
      )
      expect(answers.flat()).toEqual([])
    })
  }
})

function applications(): readonly { readonly name: string; readonly objects: readonly KubernetesObject[] }[] {
  const folder = join(root, 'golden/examples')
  const examples = readdirSync(folder).map(file => ({
    name: `golden/examples/${file}`,
    documents: documentsOf(readFileSync(join(folder, file), 'utf8')),
  }))
  const cases = goldenCases().map(one => ({ name: one.name, documents: expectedDocuments(one) }))
  return [...examples, ...cases]
    .filter(({ documents }) => documents.length > 0)
    .map(({ name, documents }) => ({ name, objects: documents.map(({ object }) => object) }))
}

const withoutNamespace = (object: KubernetesObject) => ({
  ...object,
  metadata: { ...object.metadata, namespace: undefined },
})
