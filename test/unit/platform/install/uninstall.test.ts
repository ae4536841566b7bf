import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { installPlatform, installSecrets } from '../../../../platform/install/install.ts'
import { findPlatform } from '../../../../platform/install/installed.ts'
import { EVERYTHING, type Installation, platformObjects } from '../../../../platform/install/manifests/server.ts'
import { uninstallPlatform } from '../../../../platform/install/uninstall.ts'
import { KINDS } from '../../../support/memory-cluster/kinds.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

// A deleted namespace exists until it is empty: nothing can be created in it, and its name is not free.

const OWN = ['devctl-platform', 'devctl-users', 'devctl-runs']
const installation: Installation = {
  version: '0.1.0',
  domain: 'dev.example.com',
  image: 'registry.example.com/devctl/platform:0.1.0',
  runnerImage: 'registry.example.com/devctl/runner:0.1.0',
  replicas: 1,
  kubernetes: { server: 'https://k.example.com' },
}

function open() {
  const cluster = new MemoryCluster({ namespaces: OWN })
  for (const { apiVersion, kind, metadata } of platformObjects({ ...installation, ...EVERYTHING }))
    if (!KINDS.some(one => one.apiVersion === apiVersion && one.kind === kind))
      cluster.register({
        apiVersion,
        kind,
        name: `${kind.toLowerCase()}s`,
        namespaced: metadata.namespace !== undefined,
        hasStatus: false,
      })
  const heard: string[] = []
  const world = {
    cluster,
    signal: AbortSignal.timeout(20_000),
    now: () => Date.now(),
    on: (text: string) => heard.push(text),
  }
  return { cluster, heard, world }
}
const namespaceOf = (cluster: MemoryCluster, name: string): Promise<KubeObject | undefined> =>
  cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })

test('uninstall ends when its namespaces no longer exist', async () => {
  const { cluster, heard, world } = open()
  await uninstallPlatform(world, false)
  expect(heard.at(-1)).toBe(
    'waits until namespace/devctl-runs, namespace/devctl-users, namespace/devctl-platform are gone',
  )
  for (const name of OWN) expect(await namespaceOf(cluster, name), name).toBeUndefined()
})

test('uninstall ends the server before it deletes namespaces, and policies after their programs', async () => {
  const { cluster, heard, world } = open()
  for (const object of platformObjects(installation)) if (object.kind !== 'Namespace') await cluster.create(object)
  const labels = { 'dev.platform/managed': 'true' }
  const create = (name: string) => cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  await create('ann')
  // A server that still runs creates another namespace.
  cluster.before = async ({ verb, kind, name }) => {
    if (verb === 'delete' && kind === 'Deployment' && name === 'platform') {
      cluster.before = () => {}
      await create('ben')
    }
  }
  await uninstallPlatform(world, false)
  for (const name of ['ann', 'ben']) expect(await namespaceOf(cluster, name), name).toBeUndefined()
  const at = (start: string) => heard.findIndex(text => text.startsWith(start))
  expect(at('deployment/platform deleted')).toBe(0)
  expect(at('namespace/ben deleted')).toBeGreaterThan(at('deployment/platform'))
  expect(at('validatingadmissionpolicy/')).toBeGreaterThan(at('waits until namespace/ann, namespace/ben are gone'))
})

test('install waits until the namespaces of an uninstall no longer exist', async () => {
  const { cluster, heard, world } = open()
  await cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'devctl-runs' })
  await installSecrets(world, installation, { providers: [], secrets: {}, changed: [] })
  expect(heard).toContain('waits until namespace/devctl-runs is gone')
  expect((await namespaceOf(cluster, 'devctl-runs'))?.metadata.deletionTimestamp).toBeUndefined()
})

test('install reports the last log lines of a server that crashes again and again', async () => {
  const { cluster, world } = open()
  const metadata = {
    name: 'platform-1-x',
    namespace: 'devctl-platform',
    labels: { 'app.kubernetes.io/name': 'platform' },
  }
  const spec = { containers: [{ name: 'platform', image: 'x' }] }
  const ended = { exitCode: 1, reason: 'Error' }
  const status = {
    phase: 'Running',
    containerStatuses: [
      {
        ...{ name: 'platform', ready: false, restartCount: 3 },
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: ended },
      },
    ],
  }
  await cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec })
  cluster.act({ apiVersion: 'v1', kind: 'Pod', ...metadata }, pod => ({ ...pod, status }))
  cluster.logBook.print('devctl-platform/platform-1-x/platform', 'does not start: keys: `k2` is not 32 bytes in base64')
  cluster.logBook.end('devctl-platform/platform-1-x/platform', { restart: true })
  const on = (text: string) => {
    if (text !== 'waits for the server') return
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: 'devctl-platform' }
    cluster.act(ref, one => ({ ...one, status: { observedGeneration: one.metadata.generation } }))
  }
  await expect(
    installPlatform({ ...world, on }, installation, { providers: [], secrets: {}, changed: [] }, { diffs: [] }),
  ).rejects.toMatchObject({
    message: 'the platform does not start: its server ends again and again',
    notes: [
      'pod/platform-1-x',
      'last lines of pod/platform-1-x:',
      '| does not start: keys: `k2` is not 32 bytes in base64',
    ],
  })
})

test('an uninstall that keeps data keeps the settings and the chosen certificate', async () => {
  const { cluster, world } = open()
  const login = { providers: [], secrets: {}, changed: [] }
  const own = { ...installation, ownCa: true, tlsSecret: 'platform-tls', kept: { namespacesPerUser: 7 } }
  await installSecrets(world, own, login)
  for (const object of platformObjects(own)) if (object.kind === 'ConfigMap') await cluster.create(object)
  await uninstallPlatform(world, true)
  expect(await findPlatform(world)).toMatchObject({
    domain: 'dev.example.com',
    kept: { namespacesPerUser: 7 },
    options: { ownCa: true, tlsSecret: 'platform-tls' },
  })
})
