import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { compile } from '../../../../compiler/index.ts'
import { toManifests } from '../../../../constructs/index.ts'
import { selectServices } from '../../../../operations/destroy/services.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = `
name: shop
services:
  cache: {image: redis:7}
  api: {image: nginx, depends_on: [cache]}
  worker: {image: nginx, depends_on: [cache]}
  proxy: {image: nginx, depends_on: [api]}
  agent: {image: nginx, network_mode: "service:proxy"}
  probe: {image: nginx, depends_on: [agent]}
  other: {image: nginx}
`

async function destroy(...words: readonly string[]) {
  const folder = makeFolder({ 'compose.yaml': COMPOSE })
  const options = { workingDirectory: folder, namespace: 'ns' }
  const { plan, project, diagnostics } = compile(options, createHost({ env: {} }))
  const objects = toManifests(plan!).map(({ object }) => object as KubeObject)
  const known = { name: 'shop', project, plan, services: undefined, diagnostics }
  const select = await selectServices(undefined, words, known, {})
  return select(objects, 'active')
}

test('a destroy names all services that depend on its services, also indirectly', async () => {
  const refusal = {
    message:
      '`api` depends on `cache`, `worker` depends on `cache`, `proxy` depends on `api`, `probe` depends on `proxy`',
    hint: 'name all of them: `devctl destroy cache api worker proxy probe`; or add `--yes`',
  }
  await expect(destroy('cache')).rejects.toMatchObject(refusal)
})

test('the command of the hint is accepted', async () => {
  const objects = await destroy('cache', 'api', 'worker', 'proxy', 'probe')
  expect(objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)).toEqual(
    expect.arrayContaining(['cache', 'api', 'worker', 'proxy', 'probe']),
  )
})
