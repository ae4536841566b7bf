import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { httpServer } from '../git/http-server.ts'
import { manifestFor, type Publishing, publishingFrom } from '../git/publishing.ts'
import { bareRepository } from '../git/repository.ts'
import { ensureArgocd, startArgocd } from './argocd.ts'
import { findCluster } from './cluster.ts'
import type { Controller } from './controller.ts'
import { DOMAIN } from './examples.ts'
import { ensureFlux, startFlux } from './flux.ts'

const cluster = findCluster()
const isThere = { argocd: await ensureArgocd(cluster), flux: await ensureFlux(cluster) }

const PATH = 'environments/staging/shop'

interface Parts {
  readonly greeting?: string
  /** Shell command that the Job runs. */
  readonly migration?: string
  /** True if web waits for the Job and the database. */
  readonly waits?: boolean
  readonly worker?: string
  /** The port of the worker. */
  readonly workerPort?: boolean
  readonly databasePort?: boolean
  readonly archive?: 'service' | 'volume' | 'none'
}

/**
 * Returns a Compose file of a web server that waits for a Job and a database, a worker that may have a port, and a
 * service with a volume.
 */
function compose(parts: Parts): string {
  const { greeting = 'hello', migration = 'true', waits = true, worker = 'worker' } = parts
  const { workerPort = false, databasePort = true, archive = 'service' } = parts
  const waitsText = `
    depends_on:
      migrate: {condition: service_completed_successfully}
      db: {condition: service_healthy}`
  const archiveText = `
  archive:
    image: busybox:1.37
    command: [sleep, "100000"]
    stop_grace_period: 1s${archive === 'volume' ? '' : '\n    volumes: [archive:/archive]'}`
  return `name: shop
services:
  web:
    image: busybox:1.37
    command: [sh, -c, "echo $\${GREETING} >/tmp/index.html; exec httpd -f -p 3000 -h /tmp"]
    environment: {GREETING: ${greeting}, EMPTY: ""}
    ports: ["80:3000"]
    stop_grace_period: 1s${waits ? waitsText : ''}
    healthcheck: {http: {path: /index.html, port: 3000}, interval: 1s, retries: 100}
  migrate:
    image: busybox:1.37
    command: [sh, -c, ${JSON.stringify(migration)}]
    restart: "no"
  db:
    image: busybox:1.37
    command: httpd -f -p 6379 -h /data
    ${databasePort ? 'expose: [6379]' : ''}
    stop_grace_period: 1s
    volumes: [data:/data]
    healthcheck: {test: "nc -z localhost 6379 || true", interval: 3s, retries: 60}
  ${worker}:
    image: busybox:1.37
    command: httpd -f -p 8080 -h /etc
    ${workerPort ? 'expose: [8080]' : ''}
    stop_grace_period: 1s
${archive === 'none' ? '' : archiveText}
volumes:
  data:${archive === 'service' ? '\n  archive:' : ''}
`
}

/** An application in a namespace of its own, which a controller follows. */
interface Followed {
  readonly name: string
  readonly namespace: string
  readonly app: Publishing
  readonly controller: Controller
  kubectl(...args: readonly string[]): Promise<string>
  close(): Promise<void>
}

interface Kind {
  readonly name: string
  readonly needs: 'argocd' | 'flux'
  readonly environment?: string
  start(namespace: string, app: Publishing, root: string): Promise<Controller>
}

const argocd = (
  name: string,
  options: Partial<Parameters<typeof startArgocd>[1]> = {},
  environment?: string,
): Kind => ({
  name,
  needs: 'argocd',
  ...(environment !== undefined && { environment }),
  start: (namespace, app) => startArgocd(cluster!, { namespace, path: PATH, server: app.server, ...options }),
})

/** The ways in which a controller may apply and compare. */
const KINDS: readonly Kind[] = [
  argocd('argo'),
  argocd('argo-client-diff', { compareOptions: 'ServerSideDiff=true' }),
  argocd('argo-server-side', { syncOptions: ['ServerSideApply=true'] }),
  argocd('argo-server-diff', { syncOptions: ['ServerSideApply=true'], compareOptions: 'ServerSideDiff=true' }),
  argocd('argo-waves', { syncOptions: ['ServerSideApply=true'] }, '    syncWaves: true\n'),
  {
    name: 'flux',
    needs: 'flux',
    start: (namespace, app, folder) =>
      startFlux(cluster!, {
        namespace,
        target: { application: 'shop', environment: 'staging', path: PATH, namespace },
        server: app.server,
        folder,
        substitute: { GREETING: 'substituted' },
      }),
  },
]

async function follow(kind: Kind): Promise<Followed> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `devctl-${kind.name}-`)))
  const namespace = `gitops-${kind.name}-${process.pid}`
  await cluster!.createNamespace(namespace)
  const bare = await bareRepository(root)
  const server = await httpServer(bare.repository)
  const manifest = manifestFor(server.address, kind.environment)
    .replace('shop-staging', namespace)
    .replace('staging.example.com', DOMAIN)
  const app = await publishingFrom(root, server, { compose: compose({}), manifest })
  const { status, stderr } = await app.publish()
  expect(status, stderr).toBe(0)
  const controller = await kind.start(namespace, app, root)
  return {
    name: kind.name,
    namespace,
    app,
    controller,
    kubectl: (...args) => cluster!.kubectl('--namespace', namespace, ...args),
    async close() {
      await controller.remove().finally(async () => {
        await cluster!.deleteNamespace(namespace)
        await server.close()
        rmSync(root, { recursive: true, force: true })
      })
    },
  }
}

/**
 * The scenarios of docs/gitops.md as tests, with several controllers at the same time, each in a namespace of its own.
 */
export function gitopsScenarios(names: readonly string[]): void {
  const kinds = KINDS.filter(({ needs, name }) => isThere[needs] && names.includes(name))
  describe.skipIf(kinds.length === 0)(`delivery of published manifests: ${names.join(', ')}`, () => {
    let all: readonly Followed[] = []

    beforeAll(async () => {
      all = await Promise.all(kinds.map(follow))
    })
    afterAll(async () => {
      await Promise.all(all.map(one => one.close()))
      cluster!.close()
    })

    /** Does the same with every controller, in parallel. */
    async function each(work: (one: Followed) => Promise<void>): Promise<void> {
      const ended = await Promise.allSettled(all.map(work))
      const failed = ended.flatMap((one, index) =>
        one.status === 'rejected' ? [`${all[index]!.name}: ${one.reason?.message ?? one.reason}`] : [],
      )
      expect(failed).toEqual([])
    }

    async function publish(one: Followed, parts: Parts): Promise<string> {
      await one.app.change({ 'compose.yaml': compose(parts) })
      const { status, stdout, stderr } = await one.app.publish()
      expect(status, stderr).toBe(0)
      return stdout
    }

    /** Publishes, and waits until the controller has applied it. */
    async function change(one: Followed, parts: Parts): Promise<void> {
      await publish(one, parts)
      await one.controller.reconcile()
    }

    /** Deletes what a controller cannot replace, as the warning of `publish` says: docs/gitops.md has the two cases. */
    async function byHand(
      { name, kubectl, controller }: Followed,
      services: Readonly<Record<string, readonly string[]>>,
    ): Promise<void> {
      const own = services[name] ?? []
      if (own.length > 0) await controller.mayDelete()
      for (const service of own) await kubectl('delete', 'service', service)
    }

    const service = async (one: Followed, name: string) =>
      JSON.parse(await one.kubectl('get', 'service', name, '--output=json')).spec

    test('the first sync succeeds and causes no other sync', () =>
      each(async one => {
        await one.controller.reconcile()
        const before = await one.controller.syncs()
        expect(await one.controller.syncs()).toBe(before)
        const args = await one.kubectl('get', 'deploy', 'web', '--output=jsonpath={..containers[0].args}')
        expect(args).toContain('${GREETING}')
      }))

    test('a changed service is rolled out', () =>
      each(async one => {
        await change(one, { greeting: 'good day' })
        const env = await one.kubectl('get', 'deploy', 'web', '--output=jsonpath={..containers[0].env[*].value}')
        expect(env).toContain('good day')
      }))

    test('a changed Job runs, a failed Job is reported, and a fixed Job runs', () =>
      each(async one => {
        await change(one, { migration: 'echo 2' })
        await publish(one, { migration: 'echo 3; exit 1' })
        await one.controller.fails()
        await change(one, { migration: 'echo 4' })
        const jobs = await one.kubectl('get', 'jobs', '--output=jsonpath={.items[*].status.succeeded}')
        expect(jobs).toBe('1')
      }))

    test('ports are opened and closed', () =>
      each(async one => {
        const both = ['worker', 'db']
        expect((await service(one, 'worker')).clusterIP).toBe('None')
        await publish(one, { workerPort: true, databasePort: false, waits: false })
        await byHand(one, { flux: ['worker'], 'argo-server-diff': both, 'argo-client-diff': both })
        await one.controller.reconcile()
        expect((await service(one, 'worker')).clusterIP).not.toBe('None')
        expect((await service(one, 'db')).clusterIP).toBe('None')
        await publish(one, {})
        await byHand(one, { flux: ['db'], 'argo-server-diff': both, 'argo-client-diff': both })
        await one.controller.reconcile()
        expect((await service(one, 'worker')).clusterIP).toBe('None')
        expect((await service(one, 'db')).clusterIP).not.toBe('None')
      }))

    test('a service without its last wait for a Job still creates Pods', () =>
      each(async one => {
        await change(one, { waits: false, greeting: 'alone' })
        await one.kubectl('rollout', 'restart', 'deployment/web')
        await one.kubectl('rollout', 'status', 'deployment/web', '--timeout=100s')
        await one.controller.reconcile()
      }))

    test('a renamed service replaces the old one, and a service without its volume stays', () =>
      each(async one => {
        await change(one, { worker: 'runner', archive: 'volume' })
        const deployments = await one.kubectl('get', 'deploy,sts', '--output=jsonpath={.items[*].metadata.name}')
        expect(deployments.split(' ').sort()).toEqual(['archive', 'db', 'runner', 'web'])
      }))

    test('the claim of a removed service stays, and no other sync happens', () =>
      each(async one => {
        await change(one, { archive: 'none' })
        const before = await one.controller.syncs()
        expect(await one.controller.syncs()).toBe(before)
        expect(await one.kubectl('get', 'pvc', '--output=jsonpath={.items[*].metadata.name}')).toBe('archive data')
        await change(one, { greeting: 'after' })
      }))

    test("the removal of the controller's application deletes the objects and keeps the claims", () =>
      each(async one => {
        await one.controller.remove()
        const left = await one.kubectl('get', 'deploy,sts,job,service,ingress,role,rolebinding', '--output=name')
        expect(left).toBe('')
        expect(await one.kubectl('get', 'pvc', '--output=jsonpath={.items[*].metadata.name}')).toBe('archive data')
      }))
  })
}
