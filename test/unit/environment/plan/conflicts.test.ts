import { expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { refuseConflict } from '../../../../environment/plan/conflicts.ts'

const deployment = (image: string, team: string | undefined): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web', ...(team !== undefined && { 'example.com/team': team }) } },
  spec: { template: { spec: { containers: [{ name: 'side' }, { name: 'web', image }] } } },
})

function refused(object: KubeObject, live: KubeObject, field: string): UserError {
  const causes = [{ field, message: 'conflict with "team" using apps/v1' }]
  const error = new ClusterError('conflict', 'conflict', { causes })
  try {
    return refuseConflict(error, { object, source: 'compose.yaml#services.web' }, live)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UserError)
    return thrown as UserError // it was just checked
  }
}

test.each([
  ['.spec.template.spec.containers[name="web"].image', '"nginx:2" in the cluster, "nginx:1" in the file'],
  ['.metadata.labels.example.com/team', '"theirs" in the cluster, nothing in the file'],
  ['.metadata.labels.app', '"web" in the cluster, "web" in the file'],
  ['.spec.template.spec.containers[name="gone"].image', 'nothing in the cluster, nothing in the file'],
])('a conflict about %s names both values', (field, values) => {
  const { message, notes } = refused(deployment('nginx:1', undefined), deployment('nginx:2', 'theirs'), field)
  expect(message).toBe('`team` applies fields of `deployment/web`')
  expect(notes).toEqual(['rendered from compose.yaml#services.web', `${field}: ${values}`])
})
