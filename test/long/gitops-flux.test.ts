import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restarted, untilAnswers } from '../support/cluster/application.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { DOMAIN } from '../support/cluster/examples.ts'
import { ensureFlux, FLUX_LOGIN, FLUX_TARGET, type Flux, publishingToFlux, startFlux } from '../support/cluster/flux.ts'
import type { Publishing } from '../support/git/publishing.ts'

const cluster = findCluster()
const isThere = await ensureFlux(cluster)

/** HTTP server that returns how often the migration ran, which the migration counts in the database. */
const SERVER = `require('http').createServer((request, response) => {
  const socket = require('net').connect(6379, 'db', () => socket.write('GET migrations\\r\\n'))
  socket.on('data', data => { response.end('migrations: ' + data.toString().split('\\r\\n')[1] + '\\n'); socket.end() })
  socket.on('error', error => { response.statusCode = 500; response.end(String(error)) })
}).listen(3000)`

interface Parts {
  readonly migration?: string
  readonly greeting?: string
  readonly archive?: boolean
}

/**
 * An application with a web service that waits for a database and a migration, and a service with a volume that may
 * be left out.
 */
function compose({ migration = 'incr migrations', greeting = 'hello', archive = true }: Parts = {}): string {
  return `name: shop
services:
  web:
    image: node:22-alpine
    command: ["node", "-e", ${JSON.stringify(SERVER).replaceAll('$', '$$$$')}]
    environment: {GREETING: ${greeting}}
    configs: [settings]
    ports: ["80:3000"]
    stop_grace_period: 1s
    depends_on:
      migrate: {condition: service_completed_successfully}
      db: {condition: service_healthy}
    healthcheck:
      http: {path: /, port: 3000}
      interval: 1s
    deploy:
      resources: {limits: {cpus: "0.50", memory: 128m}}
  migrate:
    image: redis:7-alpine
    command: redis-cli -h db ${migration}
    restart: "no"
    depends_on:
      db: {condition: service_healthy}
  db:
    image: redis:7-alpine
    command: redis-server --appendonly yes --dir /data
    expose: [6379]
    stop_grace_period: 5s
    volumes: [data:/data]
    healthcheck:
      test: redis-cli ping
      interval: 3s
${
  archive
    ? `  archive:
    image: busybox:1.37
    command: ["sh", "-c", "date >>/archive/days; exec sleep 100000"]
    stop_grace_period: 1s
    volumes: [archive:/archive]
`
    : ''
}configs:
  settings:
    content: all of them
volumes:
  data:
${archive ? '  archive:\n' : ''}`
}

/** Fields of an object that show whether it was written. */
interface Version {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly generation?: number
    readonly resourceVersion: string
    readonly managedFields: readonly { readonly manager: string; readonly time: string }[]
  }
}

afterAll(() => cluster?.close())

describe.skipIf(!isThere)('Flux with the output of `publish`', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-flux-')))
  const namespace = `flux-${process.pid}`
  const host = `web-${namespace}.${DOMAIN}`
  let app: Publishing
  let flux: Flux

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    app = await publishingToFlux(root, compose(), namespace)
  })

  afterAll(async () => {
    await flux?.remove()
    await cluster!.deleteNamespace(namespace)
    await app?.server.close()
    rmSync(root, { recursive: true, force: true })
  })

  const kubectl = (...args: readonly string[]) => cluster!.kubectl('--namespace', namespace, ...args)

  /** Publishes, and triggers a reconciliation of Flux. */
  async function publish(...words: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await app.publish(...words)
    expect(status, stderr).toBe(0)
    await flux.reconcile()
    return stdout
  }

  async function change(parts: Parts): Promise<void> {
    await app.change({ 'compose.yaml': compose(parts) })
    await publish()
  }

  const answers = (count: number) => untilAnswers(cluster!, host, '/', ({ body }) => body === `migrations: ${count}\n`)

  /** Returns the metadata of all objects that Flux manages, by name. */
  async function objects(): Promise<Readonly<Record<string, Version['metadata']>>> {
    const names = (await flux.inventory()).filter(name => !name.startsWith('Namespace/'))
    const { items } = JSON.parse(await kubectl('get', ...names, '--show-managed-fields', '--output=json'))
    // kubectl prints the objects that it was asked for.
    return Object.fromEntries(
      (items as readonly Version[]).map(one => [`${one.kind}/${one.metadata.name}`, one.metadata]),
    )
  }

  /** Returns the UIDs of all objects that Flux manages. */
  const uids = async () =>
    Object.fromEntries(Object.entries(await objects()).map(([name, { uid }]) => [name, uid] as const))

  const jobIn = (all: object) => Object.keys(all).filter(name => name.startsWith('Job/'))

  test('all services become ready in their order, and respond', async () => {
    const { status, stderr } = await app.publish()
    expect(status, stderr).toBe(0)
    const target = { ...FLUX_TARGET, namespace }
    flux = await startFlux(cluster!, { namespace, target, server: app.server, login: FLUX_LOGIN, folder: root })
    await flux.reconcile()
    await answers(1)
    // Containers that start too early fail, and the Job fails for good.
    expect(await restarted(cluster!, namespace)).toEqual([])
    expect(await flux.inventory()).toEqual([
      expect.stringMatching(/^ConfigMap\/shop-settings-/),
      'Deployment/web',
      'Ingress/web',
      expect.stringMatching(/^Job\/migrate-/),
      'PersistentVolumeClaim/archive',
      'PersistentVolumeClaim/data',
      'Role/shop-waits-for-migrate',
      'RoleBinding/shop-waits-for-migrate',
      'Service/archive',
      'Service/db',
      'Service/web',
      'ServiceAccount/shop-waits-for-migrate',
      'StatefulSet/archive',
      'StatefulSet/db',
    ])
  })

  test('a second reconciliation writes nothing', async () => {
    const settled = await eventually('nothing moves', async () => {
      const before = await objects()
      await new Promise(resolve => setTimeout(resolve, 2000))
      return JSON.stringify(before) === JSON.stringify(await objects()) ? before : undefined
    })
    const told = await flux.changes()
    expect(told.length).toBeGreaterThan(0)
    await flux.reconcile()
    await flux.reconcile()
    expect(await objects()).toEqual(settled)
    expect(await flux.changes()).toEqual(told)
    expect(await app.publish()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
  })

  test('objects that were changed or deleted by hand are restored', async () => {
    const before = await uids()
    await kubectl('set', 'image', 'deployment/web', '*=busybox:1.37')
    await kubectl(
      'patch',
      'service',
      'web',
      '--type=json',
      '--patch',
      '[{"op":"replace","path":"/spec/ports/0/targetPort","value":81}]',
    )
    await kubectl('label', 'ingress', 'web', 'dev.platform/service=else', '--overwrite')
    await kubectl('delete', 'service', 'db')
    await flux.reconcile()
    const web = JSON.parse(await kubectl('get', 'deployment', 'web', '--output=json'))
    expect(web.spec.template.spec.containers.map((one: { image: string }) => one.image)).toEqual(['node:22-alpine'])
    const service = JSON.parse(await kubectl('get', 'service', 'web', '--output=json'))
    expect(service.spec.ports.map((one: { targetPort: number }) => one.targetPort)).not.toContain(81)
    const ingress = JSON.parse(await kubectl('get', 'ingress', 'web', '--output=json'))
    expect(ingress.metadata.labels['dev.platform/service']).toBe('web')
    const { 'Service/db': db, ...others } = await uids()
    const { 'Service/db': gone, ...rest } = before
    expect(db).not.toBe(gone)
    expect(others).toEqual(rest)
    await answers(1)
  })

  test('a change of one service runs no Job again', async () => {
    const before = await uids()
    await change({ greeting: 'good day' })
    expect(await uids()).toEqual(before)
    await answers(1)
  })

  test('a Job with new content runs once more, and the old one is deleted', async () => {
    const before = await uids()
    await change({ greeting: 'good day', migration: 'incrby migrations 10' })
    await answers(11)
    const after = await uids()
    expect(jobIn(after)).toHaveLength(1)
    expect(jobIn(after)).not.toEqual(jobIn(before))
    const jobs = JSON.parse(await kubectl('get', 'jobs', '--output=json'))
    expect(jobs.items.map((one: Version) => `Job/${one.metadata.name}`)).toEqual(jobIn(after))
    await flux.reconcile()
    expect(await uids()).toEqual(after)
    await answers(11)
  })

  test('a service that was removed from the file is deleted, and its claim stays', async () => {
    const before = await uids()
    const claim = JSON.parse(await kubectl('get', 'pvc', 'archive', '--output=json'))
    await change({ greeting: 'good day', migration: 'incrby migrations 10', archive: false })
    const { 'StatefulSet/archive': _, 'Service/archive': __, 'PersistentVolumeClaim/archive': ___, ...rest } = before
    expect(await uids()).toEqual(rest)
    const left = await kubectl('get', 'deploy,sts,service', '--selector=dev.platform/service=archive', '--output=name')
    expect(left).toBe('')
    const kept = JSON.parse(await kubectl('get', 'pvc', 'archive', '--output=json'))
    expect(kept.metadata).toMatchObject({ uid: claim.metadata.uid })
    expect(kept.metadata.deletionTimestamp).toBeUndefined()
    // The service gets its data back.
    await change({ greeting: 'good day', migration: 'incrby migrations 10' })
    const days = await kubectl('exec', 'statefulset/archive', '--', 'cat', '/archive/days')
    expect(days.trim().split('\n')).toHaveLength(2)
  })

  test('another layout has the same objects', async () => {
    const before = await uids()
    const generations = async () =>
      Object.entries(await objects()).map(([name, { generation }]) => `${name} ${generation}`)
    const written = await generations()
    const files = { 'single-file': 'manifests.yaml', kustomize: 'kustomization.yaml', plain: 'web/deployment-web.yaml' }
    for (const [layout, file] of Object.entries(files)) {
      expect(await publish('--layout', layout), layout).not.toContain('unchanged')
      const paths = Object.keys(await app.tree()).map(path => path.replace(`${FLUX_TARGET.path}/`, ''))
      expect(paths, layout).toContain(file)
      expect(paths.includes('web/deployment-web.yaml'), layout).toBe(layout === 'plain')
      expect(await uids(), layout).toEqual(before)
      expect(await generations(), layout).toEqual(written)
    }
    await answers(11)
  })

  test('claims stay when the Kustomization is deleted', async () => {
    await flux.remove()
    await eventually('the workloads are gone', async () => {
      const left = await kubectl('get', 'deploy,sts,job,service,ingress', '--output=name')
      return left === '' || undefined
    })
    const claims = await kubectl('get', 'pvc', '--output=jsonpath={.items[*].metadata.name}')
    expect(claims.split(' ').sort()).toEqual(['archive', 'data'])
  })
})
