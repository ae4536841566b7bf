import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL } from '../../../../constructs/mirror/names.ts'
import { knownDevelopments } from '../../../../develop/mirror/known-developments.ts'
import { openProject } from '../../../../project/open-project.ts'
import type { OperationContext } from '../../../../project/session.ts'
import { workspaceOf } from '../../../../project/workspace.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { never } from '../../../support/objects/deploying.ts'

const COMPOSE = 'services: {my_api: {image: nginx}, my-api: {image: nginx}, my_db: {image: redis}}\n'

const mirror = (name: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: `${name}-dev`, labels: { [MIRROR_LABEL]: name, [DEVELOPMENT_LABEL]: name } },
})

/** Returns the development containers that `dev` names, while those of all services are active. */
async function known(dev: string) {
  const workspace = workspaceOf({ cwd: makeFolder({ 'compose.yaml': COMPOSE }), env: { DEVCTL_HOME: makeFolder({}) } })
  const session = {
    cluster: { list: async () => ['my-api', 'my-api-703a7', 'my-db', 'gone-api'].map(mirror) },
    access: { server: new URL('https://cluster.example.com') },
    namespace: 'shop',
    signal: never,
  }
  const world = { workspace, session } as unknown as OperationContext
  return knownDevelopments(world, { devs: [dev] }, await openProject(workspace, {}), { one: false })
}

test.each([
  ['my_api', 'my-api-703a7'],
  ['my-api', 'my-api'],
  ['my-api-703a7', 'my-api-703a7'],
  ['my_db', 'my-db'],
  ['gone_api', 'gone-api'],
])('%s names the development container %s', async (dev, expected) => {
  expect(await known(dev)).toEqual([expected])
})
