import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fluxObjects } from '../../../gitops/agents/flux.ts'
import { untilAnswers } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import {
  ensureFlux,
  FLUX_LOGIN,
  FLUX_TARGET,
  type Flux,
  publishingToFlux,
  startFlux,
} from '../../support/cluster/flux.ts'
import { manifestFor, type Publishing } from '../../support/git/publishing.ts'
import { few, longTest } from '../../support/takes-all.ts'

const cluster = findCluster()
const isThere = await ensureFlux(cluster)
const folder = mkdtempSync(join(tmpdir(), 'flux-'))

afterAll(() => cluster?.close())

// The test test/long/gitops-flux.test.ts covers all that Flux does with an application.
describe.skipIf(!isThere)('objects for Flux', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  const repositories = ['git@git.example.com:team/deploy.git', 'https://git.example.com/team/deploy.git']
  test.each(few(repositories))('the API server accepts the objects for %s', async repository => {
    const target = { application: 'shop', environment: 'staging', namespace: 'shop-staging', branch: 'main' }
    const file = join(folder, 'objects.yaml')
    // The namespace of the controllers may not exist.
    const text = fluxObjects({ ...target, repository, path: 'environments/staging/shop' })
    writeFileSync(file, text.replaceAll('namespace: flux-system', 'namespace: default'))
    const said = await cluster!.kubectl('apply', '--dry-run=server', '--validate=strict', '-f', file)
    expect(said.trim().split('\n')).toEqual([
      'gitrepository.source.toolkit.fluxcd.io/shop-staging created (server dry run)',
      'kustomization.kustomize.toolkit.fluxcd.io/shop-staging created (server dry run)',
    ])
  })
})

describe.skipIf(!isThere)('Flux with a namespace that the environment requests', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-flux-')))
  const namespace = `flux-made-${process.pid}`
  const own = `flux-own-${process.pid}`
  let app: Publishing
  let flux: Flux

  beforeAll(async () => {
    await cluster!.createNamespace(own)
    const site = `name: shop
services:
  web:
    image: nginx:1.27-alpine
    ports: ["80:80"]
    stop_grace_period: 1s
    volumes: [pages:/pages]
jobs:
  archive: {image: busybox:1.37, command: date, triggers: {schedule: [{cron: 30 3 * * *}]}}
  report: {image: busybox:1.37, command: date, triggers: {manual: true}}
volumes:
  pages:
`
    app = await publishingToFlux(root, site, namespace, '    createNamespace: true\n    layout: kustomize\n')
  })

  afterAll(async () => {
    await flux?.remove()
    await cluster!.deleteNamespace(namespace)
    await cluster!.deleteNamespace(own)
    await app?.server.close()
    rmSync(root, { recursive: true, force: true })
  })

  const made = async () => JSON.parse(await cluster!.kubectl('get', 'namespace', namespace, '--output=json')).metadata

  test('Flux creates the namespace before its objects', async () => {
    const { status, stderr } = await app.publish()
    expect(status, stderr).toBe(0)
    const target = { ...FLUX_TARGET, namespace, createNamespace: true }
    flux = await startFlux(cluster!, { namespace: own, target, server: app.server, login: FLUX_LOGIN, folder: root })
    await flux.reconcile()
    expect((await made()).labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': expect.any(String) })
    await untilAnswers(cluster!, `web-${namespace}.${DOMAIN}`, '/', ({ status }) => status === 200)
    expect(await flux.inventory()).toEqual(
      expect.arrayContaining([
        'CronJob/archive',
        'CronJob/report',
        `Namespace/${namespace}`,
        'PersistentVolumeClaim/pages',
        'StatefulSet/web',
      ]),
    )
  })

  longTest('a second reconciliation writes nothing', async () => {
    const [before, told] = [await made(), await flux.changes()]
    await flux.reconcile()
    expect(await made()).toEqual(before)
    expect(await flux.changes()).toEqual(told)
  })

  test('the namespace and its claims stay when no one requests it, and when Flux is removed', async () => {
    const before = await made()
    const manifest = manifestFor(app.server.address, '    layout: kustomize\n')
    await app.change({
      'devctl.yml': manifest.replace('shop-staging', namespace).replace('staging.example.com', DOMAIN),
    })
    expect((await app.publish()).stdout).toBe(`deploy(shop/staging): remove namespace/${namespace}\n`)
    await flux.reconcile()
    expect(await flux.inventory()).not.toContain(`Namespace/${namespace}`)
    await flux.remove()
    expect(await made()).toMatchObject({ uid: before.uid })
    expect((await made()).deletionTimestamp).toBeUndefined()
    expect(await cluster!.kubectl('--namespace', namespace, 'get', 'pvc', 'pages', '--output=name')).toContain('pages')
  })
})
