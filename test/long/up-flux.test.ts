import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printYaml } from '../../constructs/yaml.ts'
import {
  DEPLOYMENT,
  deployment,
  give,
  openPlace,
  type Place,
  readyPod,
  takeOne,
  withoutServerFields,
} from '../pods/develop/taking.ts'
import { findCluster } from '../support/cluster/cluster.ts'
import { ensureFlux, type Flux, startFlux } from '../support/cluster/flux.ts'
import { httpServer } from '../support/git/http-server.ts'
import { bareRepository, type GitServer } from '../support/git/repository.ts'

const cluster = findCluster()
const isThere = await ensureFlux(cluster)

describe.skipIf(!isThere)('an application that Flux applies', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-up-flux-')))
  let place: Place
  let server: GitServer
  let flux: Flux

  beforeAll(async () => {
    place = await openPlace('flux')
    const { metadata, ...rest } = deployment('web')
    const web = printYaml({ ...rest, metadata: { ...metadata, namespace: place.namespace } })
    const bare = await bareRepository(folder, { files: { 'environments/staging/shop/web.yaml': web } })
    server = await httpServer(bare.repository)
    const target = {
      application: 'shop',
      environment: 'staging',
      path: 'environments/staging/shop',
      namespace: place.namespace,
    }
    flux = await startFlux(cluster!, { namespace: place.namespace, target, server, folder })
    await flux.reconcile()
  })
  afterAll(async () => {
    await flux?.remove()
    await place?.close()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('Flux leaves a developed application alone, and finds no difference after its release', async () => {
    await readyPod(place, 'app=web')
    const before = withoutServerFields(await place.get(DEPLOYMENT('web')))
    const taken = await takeOne(place.session(), DEPLOYMENT('web'), { name: 'web' })
    await flux.reconcile()
    await flux.reconcile()
    expect(await place.get(DEPLOYMENT('web'))).toMatchObject({ spec: { replicas: 0 } })
    await readyPod(place, 'dev.platform/mirror=web')
    await taken.release()
    await give(place.session(), 'web', true)
    expect(withoutServerFields(await place.get(DEPLOYMENT('web')))).toEqual(before)
    await readyPod(place, 'app=web')
    const written = async () => (await flux.changes()).filter(one => !one.includes('Health check'))
    const changes = await written()
    await flux.reconcile()
    expect(await written()).toEqual(changes)
    expect(withoutServerFields(await place.get(DEPLOYMENT('web')))).toEqual(before)
  })
})
