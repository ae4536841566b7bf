import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { MirrorPod } from '../../../../develop/mirror/mirror-pod.ts'
import { Credentials } from '../../../../develop/session/credentials.ts'
import { Supervisor } from '../../../../develop/session/supervisor.ts'
import type { SyncEngine } from '../../../../sync/session/sync.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

// The kubelet decides when an end is reported in a cluster; the test reports it here.

const EVICTED = { phase: 'Failed', reason: 'Evicted', message: 'Pod ephemeral local storage usage exceeds 100Mi. ' }

const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'api-dev' } },
  spec: { containers: [{ name: 'api', image: 'api' }] },
})

/** Starts a session in a cluster whose Pods run at once; `cut` ends its connection. */
async function session() {
  const cluster = new MemoryCluster()
  const stop = new AbortController()
  onTestFinished(() => stop.abort(new Error('over')))
  const setStatus = (name: string, status: object) =>
    void cluster.act({ ...pod(name), name, namespace: 'default' }, one => ({ ...one, status }))
  const start = async (name: string) => {
    await cluster.create(pod(name))
    setStatus(name, { phase: 'Running', containerStatuses: [{ name: 'api', state: { running: {} } }] })
  }
  const pods = new MirrorPod(
    cluster,
    { namespace: 'default', labels: 'app=api-dev', dev: 'api' },
    { now: Date.now, every: () => () => {} },
  )
  const credentials = new Credentials(() => {})
  pods.watch(stop.signal, credentials)
  let cut = (_: Error) => {}
  const said: string[] = []
  const supervisor = new Supervisor({
    pod: pods,
    container: 'api',
    agent: 'api',
    // A supervisor uses only these methods.
    sync: {
      attach: () => ({
        synced: Promise.resolve(),
        ended: new Promise<Error>(resolve => {
          cut = resolve
        }),
        settled: async () => {},
        close: () => {},
      }),
    } as unknown as SyncEngine,
    key: new Uint8Array(),
    timeout: 5000,
    credentials,
    connect: async () => {
      const stream = new PassThrough()
      stream.write('hello')
      return stream
    },
    isRunning: async () => true,
    connected: () => {},
    on: (state, text) => void said.push(`${state}: ${text}`),
  })
  await start('a')
  supervisor.run(stop.signal).catch(() => {})
  await expect.poll(() => said.at(-1)).toBe('ready: a')
  return { said, start, setStatus, cut: () => cut(new Error('the connection was lost')) }
}

test('the reason of the end of a Pod is reported also after the connection was lost', async () => {
  const { said, start, setStatus, cut } = await session()
  said.splice(0)
  cut()
  await expect.poll(() => said).toEqual(['reconnecting: the connection was lost'])
  setStatus('a', EVICTED)
  await start('b')
  await expect.poll(() => said.at(-1)).toBe('ready: b')
  expect(said.filter(one => one.startsWith('reconnecting'))).toEqual([
    'reconnecting: the connection was lost',
    'reconnecting: its Pod was evicted: Pod ephemeral local storage usage exceeds 100Mi',
  ])
})

test('the reason of the end of a Pod is reported once', async () => {
  const { said, start, setStatus, cut } = await session()
  said.splice(0)
  setStatus('a', EVICTED)
  await start('b')
  cut()
  await expect.poll(() => said.at(-1)).toBe('ready: b')
  expect(said.filter(one => one.startsWith('reconnecting'))).toEqual([
    'reconnecting: its Pod was evicted: Pod ephemeral local storage usage exceeds 100Mi',
  ])
})

test('a lost connection to a Pod that still runs is reported without another reason', async () => {
  const { said, cut } = await session()
  said.splice(0)
  cut()
  await expect.poll(() => said.at(-1)).toBe('ready: a')
  expect(said.filter(one => one.startsWith('reconnecting'))).toEqual(['reconnecting: the connection was lost'])
})
