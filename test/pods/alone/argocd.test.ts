import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Argocd, ensureArgocd, startArgocd } from '../../support/cluster/argocd.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import { installHttpRoute } from '../../support/cluster/http-route.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { manifestFor, type Publishing, publishingFrom } from '../../support/git/publishing.ts'
import { bareRepository } from '../../support/git/repository.ts'
import { longTest } from '../../support/takes-all.ts'

const cluster = findCluster()
const isThere = await ensureArgocd(cluster)

const compose = (greeting: string) => `name: shop
services:
  web:
    image: busybox:1.37
    command: httpd -f -p 3000 -h /etc
    environment: {GREETING: ${greeting}}
    ports: ["80:3000"]
    stop_grace_period: 1s
    volumes: [data:/data]
jobs:
  archive: {image: busybox:1.37, command: date, triggers: {schedule: [{cron: 30 3 * * *}]}}
  report: {image: busybox:1.37, command: date, triggers: {manual: true}}
volumes:
  data:
`

describe.skipIf(!isThere)('Argo CD with a namespace and routes from the repository', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-argocd-')))
  const namespace = `argocd-made-${process.pid}`
  let app: Publishing
  let controller: Argocd | undefined

  const manifest = (more: string) =>
    manifestFor(app.server.address, more).replace('shop-staging', namespace).replace('staging.example.com', DOMAIN)

  beforeAll(async () => {
    const bare = await bareRepository(root)
    const server = await httpServer(bare.repository)
    app = await publishingFrom(root, server, { compose: compose('hello'), manifest: '' })
    await app.change({ 'devctl.yml': manifest('    createNamespace: true\n') })
  })

  afterAll(async () => {
    await controller?.remove()
    await cluster!.deleteNamespace(namespace)
    await app?.server.close()
    cluster!.close()
    rmSync(root, { recursive: true, force: true })
  })

  async function publish(...words: readonly string[]): Promise<void> {
    const { status, stderr } = await app.publish(...words)
    expect(status, stderr).toBe(0)
  }

  const made = async () => JSON.parse(await cluster!.kubectl('get', 'namespace', namespace, '--output=json')).metadata

  test('Argo CD creates the namespace with its objects', async () => {
    await publish()
    controller = await startArgocd(cluster!, {
      namespace,
      path: 'environments/staging/shop',
      server: app.server,
      createNamespace: true,
      syncOptions: ['ServerSideApply=true'],
    })
    await controller.reconcile()
    expect((await made()).labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': expect.any(String) })
  })

  longTest('the namespace is not deleted with its file', async () => {
    const before = await made()
    await app.change({ 'devctl.yml': manifest('') })
    await publish()
    await controller!.reconcile()
    // The namespace does not delay later changes.
    await app.change({ 'compose.yaml': compose('good day') })
    await publish()
    await controller!.reconcile()
    const syncs = await controller!.syncs()
    expect(await controller!.syncs()).toBe(syncs)
    expect(await made()).toMatchObject({ uid: before.uid })
  })

  longTest('an HTTPRoute is in sync', async () => {
    if (!(await installHttpRoute(cluster!))) return
    await publish('--gateway', 'infra/public')
    await controller!.isSynced('HTTPRoute/web')
  })

  longTest('the namespace and the claim stay when the Application is deleted', async () => {
    await controller!.remove()
    controller = undefined
    expect((await made()).deletionTimestamp).toBeUndefined()
    const left = await cluster!.kubectl('--namespace', namespace, 'get', 'deploy,sts,service,pvc', '--output=name')
    expect(left.trim()).toBe('persistentvolumeclaim/data')
  })
})
