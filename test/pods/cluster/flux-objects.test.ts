import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fluxObjects } from '../../../operations/gitops/flux.ts'
import { findCluster } from '../../support/cluster/cluster.ts'

const cluster = findCluster()
const folder = mkdtempSync(join(tmpdir(), 'flux-'))

// A dry run: the controllers need not run, only what they know as resources has to be there.
describe.skipIf(cluster === undefined)('the API server with the resources of Flux accepts', () => {
  afterAll(() => {
    rmSync(folder, { recursive: true })
    cluster!.close()
  })

  const repositories = ['git@git.example.com:team/deploy.git', 'https://git.example.com/team/deploy.git']
  test.for(repositories)('the objects for %s', async (repository, { skip }) => {
    const { status } = await cluster!.send('GET', '/apis/kustomize.toolkit.fluxcd.io/v1')
    if (status !== 200) skip('Flux is not there')
    const target = { application: 'shop', environment: 'staging', namespace: 'shop-staging', branch: 'main' }
    const file = join(folder, 'objects.yaml')
    // The namespace of the controllers may not be there.
    const text = fluxObjects({ ...target, repository, path: 'environments/staging/shop' })
    writeFileSync(file, text.replaceAll('namespace: flux-system', 'namespace: default'))
    const said = await cluster!.kubectl('apply', '--dry-run=server', '--validate=strict', '-f', file)
    expect(said.trim().split('\n')).toEqual([
      'gitrepository.source.toolkit.fluxcd.io/shop-staging created (server dry run)',
      'kustomization.kustomize.toolkit.fluxcd.io/shop-staging created (server dry run)',
    ])
  })
})
