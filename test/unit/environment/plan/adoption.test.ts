import { expect, test } from 'vitest'
import type { KubeObject, ManagedFields } from '../../../../adapters/kubernetes/cluster.ts'
import { isDeclaredElsewhere, migrated } from '../../../../environment/plan/adoption.ts'
import { object } from '../../../support/objects/deploying.ts'

const entry = (manager: string, fieldsV1: object, more: Partial<ManagedFields> = {}): ManagedFields => ({
  manager,
  operation: 'Update',
  fieldsV1,
  ...more,
})
const managed = (managedFields: readonly ManagedFields[], annotations = {}): KubeObject => {
  const made = object('Service', 'web')
  return { ...made, metadata: { ...made.metadata, annotations, managedFields } }
}

test('migrated merges the fields of client-side tools into one entry of devctl', () => {
  const status = entry('kubectl-client-side-apply', { 'f:status': {} }, { subresource: 'status' })
  const controller = entry('kube-controller-manager', { 'f:spec': { 'f:replicas': {} } })
  const live = managed(
    [
      entry('kubectl-client-side-apply', { 'f:spec': { 'f:a': {}, 'f:b': {} } }),
      controller,
      status,
      entry('okteto', { 'f:spec': { 'f:b': {}, 'f:c': {} }, 'f:data': {} }),
    ],
    { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'yes' },
  )
  expect(isDeclaredElsewhere(live)).toBe(true)
  const { managedFields, annotations } = migrated(live).metadata
  expect(annotations).toEqual({ mine: 'yes' })
  expect(managedFields).toEqual([
    controller,
    status,
    {
      manager: 'devctl',
      operation: 'Apply',
      fieldsV1: { 'f:spec': { 'f:a': {}, 'f:b': {}, 'f:c': {} }, 'f:data': {} },
    },
  ])
})

test('migrated does not change an object that was only edited by hand', () => {
  const live = managed([entry('kubectl-edit', { 'f:spec': {} }), entry('argocd', {}, { operation: 'Apply' })])
  expect(isDeclaredElsewhere(live)).toBe(false)
  expect(migrated(live)).toBe(live)
})
