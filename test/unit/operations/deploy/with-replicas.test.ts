import { describe, expect, test } from 'vitest'
import { withReplicas } from '../../../../operations/deploy/with-replicas.ts'
import { compileFiles } from '../../../../project/compile-files.ts'
import { partOf } from '../../../../project/names/named-services.ts'
import { openProject } from '../../../../project/open-project.ts'
import { workspaceOf } from '../../../../project/workspace.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = `name: shop
services:
  web: {image: x, depends_on: [db]}
  db: {image: x}
  migrate: {image: x, restart: "no"}
  agent: {image: x, deploy: {mode: global}}
  side: {image: x, network_mode: "service:web"}
`

async function compiled() {
  const workspace = workspaceOf({ cwd: makeFolder({ 'compose.yaml': COMPOSE }), env: {} })
  return compileFiles(workspace, [], {}, {}, { project: await openProject(workspace, {}) })
}

describe('deploy --scale', () => {
  test('the numbers replace those of the plan', async () => {
    const found = await compiled()
    const { workloads } = await withReplicas(found.plan!, { web: 3, db: 0 }, found, undefined)
    const counts = workloads.map(one => [one.service, 'replicas' in one ? one.replicas : undefined])
    expect(Object.fromEntries(counts)).toMatchObject({ web: 3, db: 0 })
  })

  test.each([
    ['migrate', '`migrate` is a Job, which cannot be scaled'],
    ['agent', '`agent` is a DaemonSet, which cannot be scaled'],
    ['side', '`side` runs in the Pods of `web`'],
    ['other', 'service `other` does not exist to scale'],
  ])('the service %s is refused', async (service, message) => {
    const found = await compiled()
    await expect(withReplicas(found.plan!, { [service]: 2 }, found, undefined)).rejects.toThrow(message)
  })
})

test('`--no-deps` deploys the named services and those in the same Pods', async () => {
  const found = await compiled()
  const services = async (isAlone: boolean) =>
    [...(await partOf(['web'], found.plan!, found, isAlone))!.services].sort()
  expect(await services(false)).toEqual(['db', 'side', 'web'])
  expect(await services(true)).toEqual(['side', 'web'])
})
