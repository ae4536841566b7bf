import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { findCluster } from '../../support/cluster/cluster.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, manifestFor, publishing } from '../../support/git/publishing.ts'

const cluster = findCluster()

// The tests need only kubectl, and no cluster.
describe.skipIf(cluster === undefined)('overlays in a repository, built by kubectl', () => {
  afterAll(() => cluster!.close())

  test('each of two environments builds to its source, in any order of publishing', async () => {
    const own = await publishing()
    const address = own.server.address
    const more = `    layout: kustomize
  production:
    namespace: shop-production
    domain: example.com
    repository: ${address}
    branch: main
    layout: kustomize
`
    await own.change({ 'devctl.yml': manifestFor(address, more) })
    const publish = async (environment: string) => {
      const { status, stderr } = await own.devctl('publish', '--environment', environment)
      expect({ status, stderr }).toMatchObject({ status: 0 })
    }
    const clone = join(own.source, '../clone')
    const built = async (environment: string) => {
      const text = await cluster!.kubectl('kustomize', join(clone, `environments/${environment}/shop`))
      return parseAllDocuments(text).map(document => document.toJS())
    }
    /** Returns the objects of the layout without overlays. */
    const rendered = async (environment: string) => {
      const { stdout } = await own.devctl('render', '--environment', environment)
      return parseAllDocuments(stdout).map(document => document.toJS())
    }

    await publish('staging')
    await publish('production')
    await git(own.source, 'clone', '--quiet', address, clone)
    const production = await built('production')
    expect(production).toEqual(expect.arrayContaining(await rendered('production')))
    expect(await built('staging')).toEqual(expect.arrayContaining(await rendered('staging')))

    await own.change({
      'compose.yaml': `${COMPOSE.replace('nginx:1.27', 'nginx:1.28')}  new:\n    image: busybox:1.37\n`,
    })
    await publish('staging')
    await git(clone, 'pull', '--quiet')
    expect(await built('production')).toEqual(production)
    expect(await built('staging')).toEqual(expect.arrayContaining(await rendered('staging')))

    await publish('production')
    await git(clone, 'pull', '--quiet')
    const wanted = await rendered('production')
    expect(await built('production')).toEqual(expect.arrayContaining(wanted))
    expect(await built('production')).toHaveLength(wanted.length)
  })
})
