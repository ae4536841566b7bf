import { expect, test } from 'vitest'
import { deploy } from '../../../operations/deploy/deploy.ts'
import type { DeployInput } from '../../../operations/deploy/input.ts'
import { withDependency } from '../../support/git/dependency.ts'
import { NAMESPACE, newCluster } from '../../support/objects/deploying.ts'
import { operationOn } from '../../support/objects/environment.ts'

test.each<[string, DeployInput]>([
  ['--scale', { replicas: { web: 2 } }],
  ['--env-file', { envFile: ['prod.env'] }],
])('%s of a project does not apply to its dependencies', async (_, input) => {
  const cluster = newCluster()
  const files = await withDependency({ 'compose.yaml': 'services: {api: {image: nginx}}\n' })
  const { world, project } = await operationOn(cluster, { files: { ...files, 'prod.env': 'A=1\n' }, input })
  expect(await deploy(world, input, project)).toMatchObject({ kind: 'deployed' })
  const found = await cluster.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: NAMESPACE })
  const counts = found.map(({ metadata, spec }) => [metadata.name, (spec as { replicas?: number }).replicas ?? 1])
  expect(Object.fromEntries(counts)).toEqual({ api: 1, web: input.replicas?.['web'] ?? 1 })
})
