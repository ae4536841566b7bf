import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { KubeObject, ObjectQuery } from '../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL, TOOLS_VOLUME, UP_ANNOTATION } from '../../../constructs/mirror/names.ts'
import { restartDevelopment } from '../../../develop/restart.ts'
import type { Session } from '../../../project/session.ts'

const LONG = 'a-name-that-is-longer-than-a-label-of-kubernetes-may-be-at-all-and-more'

function mirror(name: string, labelled: string, original?: string): KubeObject {
  const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: original ?? '', namespace: 'shop', uid: 'u' }
  const before = [{ path: ['spec', 'replicas'], value: 1 }]
  const record = {
    version: 1,
    development: 'my-api',
    mirror: name,
    by: 'ann',
    since: '2026-11-23T00:00:00Z',
    before: original === undefined ? [] : before,
    owners: [],
    ...(original !== undefined && { isBeside: true, original: ref }),
  }
  const container = { name: 'main', command: ['serve'], volumeMounts: [{ name: TOOLS_VOLUME }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'shop',
      labels: { [MIRROR_LABEL]: labelled, [DEVELOPMENT_LABEL]: 'my-api' },
      annotations: { [UP_ANNOTATION]: JSON.stringify(record) },
    },
    spec: { selector: { matchLabels: { mirror: name } }, template: { spec: { containers: [container] } } },
  }
}

const pod = (of: string, state: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${of}-1`, namespace: 'shop', uid: of, labels: { mirror: of } },
  spec: { containers: [{ name: 'main', command: ['serve'] }] },
  status: { phase: 'Running', containerStatuses: [{ name: 'main', state }] },
})

const RUNNING = { running: { startedAt: '2026-11-23T00:00:00Z' } }
const CRASHED = { waiting: { reason: 'CrashLoopBackOff' } }

const MAIN = mirror('my-api-dev', 'my-api')
const WORKER = mirror('worker-dev', 'worker', 'worker')
const NAMED_LONG = mirror('long-dev', 'a-name-that-is-1a2b3c4d', LONG)

/** Restarts a development container in a cluster with these objects; returns its outcome and the deleted Pods. */
async function restart(objects: readonly KubeObject[], dev = 'my-api') {
  const deleted: string[] = []
  const matches = ({ kind, metadata }: KubeObject, query: ObjectQuery) =>
    kind === query.kind &&
    (query.labels ?? '').split(',').every(one => {
      const [key, value] = one.split('=')
      const found = metadata.labels?.[key!]
      return value === undefined ? found !== undefined : found === value
    })
  const cluster = {
    list: async (query: ObjectQuery) => objects.filter(one => matches(one, query)),
    delete: async ({ name }: { name: string }) => void deleted.push(name),
  }
  const home = mkdtempSync(join(tmpdir(), 'devctl-restart-'))
  const session = {
    cluster,
    namespace: 'shop',
    signal: new AbortController().signal,
    access: { server: new URL('https://kubernetes') },
  } as unknown as Session
  const workspace = { cwd: home, env: { DEVCTL_HOME: home }, readStdin: async () => new Uint8Array() }
  const outcome = await restartDevelopment({ workspace, session }, dev).catch((error: unknown) => {
    if (error instanceof UserError) return [error.message, ...error.notes]
    throw error
  })
  return { outcome, deleted }
}

test('restartDevelopment names the restarted workloads of `services`', async () => {
  const objects = [MAIN, WORKER, NAMED_LONG, pod('worker-dev', RUNNING), pod('long-dev', RUNNING)]
  expect(await restart(objects)).toEqual({
    outcome: { services: ['worker', LONG] },
    deleted: ['worker-dev-1', 'long-dev-1'],
  })
})

test.each([
  ['has no Pod', []],
  ['does not run', [pod('worker-dev', CRASHED)]],
])('restartDevelopment reports a workload whose container %s as not restarted', async (_, pods) => {
  expect((await restart([MAIN, WORKER, ...pods])).outcome).toEqual([
    '`worker` was not restarted, because its program does not run',
  ])
  const both = [MAIN, WORKER, NAMED_LONG, ...pods, pod('long-dev', RUNNING)]
  expect(await restart(both)).toEqual({
    outcome: ['`worker` was not restarted, because its program does not run', `restarted: \`${LONG}\``],
    deleted: ['long-dev-1'],
  })
})

test('restartDevelopment reports an own program that does not run as not restarted', async () => {
  expect((await restart([MAIN])).outcome).toEqual(['`my-api` was not restarted, because its program does not run'])
  expect(await restart([MAIN, pod('my-api-dev', RUNNING)])).toEqual({
    outcome: { services: [] },
    deleted: ['my-api-dev-1'],
  })
})

test('restartDevelopment finds a development container by the name of its service in the Compose file', async () => {
  expect(await restart([MAIN, pod('my-api-dev', RUNNING)], 'my_api')).toEqual({
    outcome: { services: [] },
    deleted: ['my-api-dev-1'],
  })
  expect((await restart([MAIN], 'web')).outcome).toBeUndefined()
})
