import { expect, test } from 'vitest'
import { compileFiles } from '../../../project/compile-files.ts'
import type { LoadInput } from '../../../project/input.ts'
import { openProject, targetOf } from '../../../project/open-project.ts'
import { workspaceOf } from '../../../project/workspace.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const FILES = {
  'devctl.yml': `
namespace: shop-prod
context: prod
environments:
  staging: {}
  own: {namespace: shop-own, context: own}
`,
  'compose.yaml': 'services: {web: {image: nginx}}\n',
}

const PROD = { namespace: 'shop-prod', context: 'prod' }
const OWN = { namespace: 'shop-own', context: 'own' }
const NONE = { namespace: undefined, context: undefined }

test.each<[string, LoadInput, object]>([
  ['the manifest', {}, PROD],
  ['an environment', { environment: 'staging' }, PROD],
  ['an environment with a namespace', { environment: 'own' }, OWN],
  ['Compose files', { file: ['compose.yaml'] }, NONE],
  ['Compose files and an environment', { file: ['compose.yaml'], environment: 'staging' }, PROD],
  ['Compose files and an environment with a namespace', { file: ['compose.yaml'], environment: 'own' }, OWN],
])('render and deploy use the same namespace with %s', async (_, loading, expected) => {
  const workspace = workspaceOf({ cwd: makeFolder(FILES), env: {} })
  const project = await openProject(workspace, loading)
  const { context, namespace, manifest } = targetOf(project, {})
  const deployed = { namespace: namespace ?? manifest.namespace, context: context ?? manifest.context }
  expect(deployed).toEqual(expected)
  const { plan } = await compileFiles(workspace, [], loading, {}, { project })
  expect(plan?.environment.namespace).toBe(deployed.namespace)
})

test('the target of an environment names the environment by its key, and an option itself', async () => {
  const manifest = 'environments: {staging: {name: shop, context: kind, namespace: s}}\n'
  const workspace = workspaceOf({ cwd: makeFolder({ 'devctl.yml': manifest }), env: {} })
  const project = await openProject(workspace, { environment: 'staging' })
  const source = 'the environment `staging` of the manifest'
  expect(targetOf(project, {}).setBy).toEqual({ context: source, namespace: source })
  expect(targetOf(project, { context: 'other' })).toMatchObject({ context: 'other', setBy: { namespace: source } })
  expect(targetOf(project, { context: 'other' }).setBy).not.toHaveProperty('context')
})
