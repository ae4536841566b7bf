import { expect, test } from 'vitest'
import { belongsTo } from '../../../../environment/rollout/tracker.ts'
import { object } from '../../../support/objects/deploying.ts'

test.each([
  ['api', 'api-5f6d8c7b9', true],
  ['api', 'api-worker-77dd5c4b8', false],
  ['api-worker', 'api-worker-77dd5c4b8', true],
  ['worker', 'api-worker-77dd5c4b8', false],
])('a Pod of the Deployment %s is owned by the ReplicaSet %s: %s', (name, set, expected) => {
  const pod = object('Pod', 'one')
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set, uid: 'u', controller: true }
  const owned = { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } }
  expect(belongsTo(owned, object('Deployment', name))).toBe(expected)
})
