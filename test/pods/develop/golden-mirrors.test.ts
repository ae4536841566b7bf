import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import { listed } from '../../../develop/session/try-out.ts'
import { UP_MANAGER } from '../../../environment/record/up-record.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { caseNames, mirrorOf } from '../../support/mirror/mirror-cases.ts'
import { few } from '../../support/takes-all.ts'

// An API server accepts the mirrors of test/support/mirror/cases: it knows every field, and keeps it as it was sent.

const found = findCluster()

describe.skipIf(found === undefined)('golden mirrors in a cluster', () => {
  const namespace = `golden-mirrors-${process.pid}`
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await connect({ env: process.env })
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  })
  afterAll(async () => {
    await cluster?.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  })

  test.each(caseNames())('an API server accepts and keeps the mirror of %s', async name => {
    const objects = listed(mirrorOf(name, { namespace }).made).map(known)
    for (const dryRun of few([false, true]))
      for (const object of objects) {
        const applied = await cluster.apply(object, { manager: UP_MANAGER, force: true, dryRun })
        const { spec, data } = object as { spec?: unknown; data?: unknown } // an object's
        if (spec) expect(applied['spec'], object.kind).toMatchObject(sent(spec))
        if (data) expect(applied['data']).toEqual(data)
      }
    for (const { apiVersion, kind, metadata } of objects)
      await cluster.delete({ apiVersion, kind, name: metadata.name, namespace })
  })
})

/**
 * Returns the object with zero replicas, so that no Pods start, and without the owner, which does not exist, or the
 * fields of a later Kubernetes.
 */
function known<T extends object>(object: T): KubeObject {
  const text = JSON.stringify(object, (key, value) =>
    /futureField$/i.test(key) || key === 'ownerReferences' ? undefined : key === 'replicas' ? 0 : value,
  )
  return JSON.parse(text) as KubeObject // a mirror's object
}

/** Returns the spec without the resource quantities, which the server writes in another form. */
const sent = (spec: unknown): object =>
  JSON.parse(JSON.stringify(spec, (key, value) => (key === 'requests' || key === 'limits' ? undefined : value)))
