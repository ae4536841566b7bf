import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import {
  type NetworkProof,
  networkProblem,
  proveNetworks,
} from '../../../../../platform/install/checks/network-proof.ts'
import { PLATFORM_NAMESPACE, RUNS_NAMESPACE } from '../../../../../platform/records/names.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const PODS = { apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE }

const SERVER = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'platform', namespace: PLATFORM_NAMESPACE },
}

interface Spec {
  readonly containers: readonly {
    readonly command: readonly string[]
    readonly env: readonly { readonly name: string; readonly value: string }[]
  }[]
}

/** A cluster with a node, whose kubelet ends each Pod of a proof with a message. */
class WithKubelet extends MemoryCluster {
  readonly started: KubeObject[] = []
  message: string | undefined
  refusal: ClusterError | undefined
  waits = 'ContainerCreating'

  override async create(object: KubeObject): Promise<KubeObject> {
    if (object.kind !== 'Pod') return super.create(object)
    if (this.refusal) throw this.refusal
    const made = await super.create(object)
    this.started.push(made)
    const terminated = this.message === undefined ? {} : { terminated: { message: this.message } }
    const state = this.message === undefined ? { waiting: { reason: this.waits } } : terminated
    return this.act({ ...PODS, name: made.metadata.name }, one => ({
      ...one,
      status: { containerStatuses: [{ state }] },
    }))
  }
}

async function clusterWith(message: string | undefined, isReady = true): Promise<WithKubelet> {
  const cluster = new WithKubelet({ namespaces: [RUNS_NAMESPACE, PLATFORM_NAMESPACE] })
  cluster.register({ apiVersion: 'v1', kind: 'Node', name: 'nodes', namespaced: false, hasStatus: false })
  cluster.message = message
  const labels = { app: 'platform' }
  const containers = [{ name: 'platform', image: 'platform:1' }]
  const template = { metadata: { labels }, spec: { containers } }
  await cluster.create({ ...SERVER, spec: { selector: { matchLabels: labels }, template } })
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    status: {
      addresses: [
        { type: 'InternalIP', address: '10.0.0.4' },
        { type: 'ExternalIP', address: '93.184.216.4' },
        { type: 'Hostname', address: 'a' },
      ],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_251 } },
    },
  })
  return cluster
}

const prove = async (cluster: WithKubelet, signal = AbortSignal.timeout(20_000)) =>
  proveNetworks({ cluster, signal, now: () => 0, on: () => {} }, await cluster.list({ apiVersion: 'v1', kind: 'Node' }))

const said = (more: object) => JSON.stringify({ tried: 3, reached: [], hasNetwork: true, ...more })

describe('proveNetworks', () => {
  test('proveNetworks tries each address from a Pod without rights, and deletes the Pod', async () => {
    const cluster = await clusterWith(said({}))
    // This Pod is left from an earlier check that did not wait for its status.
    const left = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'left', namespace: RUNS_NAMESPACE } }
    await MemoryCluster.prototype.create.call(cluster, {
      ...left,
      metadata: { ...left.metadata, labels: { 'dev.platform/proof': 'networks' } },
      spec: { containers: [{ name: 'proof', image: 'x' }] },
    })
    cluster.act({ ...PODS, name: 'left' }, one => ({ ...one, status: { phase: 'Succeeded' } }))
    const proof = await prove(cluster)
    expect(proof).toEqual({ kind: 'tried', tried: 3, reached: [] })
    expect(networkProblem(proof)).toBeUndefined()
    const [pod] = cluster.started
    expect(pod).toMatchObject({
      metadata: { namespace: RUNS_NAMESPACE },
      spec: { automountServiceAccountToken: false, restartPolicy: 'Never', securityContext: { runAsNonRoot: true } },
    })
    const { env } = (pod!['spec'] as Spec).containers[0]!
    expect(JSON.parse(env[0]!.value)).toEqual(['10.0.0.4:10251', '93.184.216.4:10251', '169.254.169.254:80'])
    expect(await cluster.list(PODS)).toEqual([])
  })

  test('a node that Pods reach is a problem', async () => {
    const proof = await prove(await clusterWith(said({ reached: ['10.0.0.4:10251'] })))
    expect(networkProblem(proof)).toMatchObject({ message: 'Pods reach nodes of the cluster: 10.0.0.4:10251' })
  })

  test.each<readonly [string, string | undefined, boolean, string]>([
    ['its Pod has no network at all', said({ hasNetwork: false }), true, 'its Pod did not reach the API server either'],
    ['its Pod says something else', 'killed', true, 'its Pod ended with an error'],
    ['no node is ready', said({}), false, 'no node is ready'],
  ])('the result is unknown if %s', async (_, message, isReady, why) => {
    const proof = await prove(await clusterWith(message, isReady))
    expect(proof).toEqual({ kind: 'unknown', why })
    expect(networkProblem(proof)).toBeUndefined()
  })

  test('the result is unknown without a server, its image, or the right to create Pods', async () => {
    const cluster = await clusterWith(undefined)
    cluster.waits = 'ErrImagePull'
    expect(await prove(cluster)).toEqual({
      kind: 'unknown',
      why: 'its Pod does not get the image of the server: ErrImagePull',
    })
    cluster.refusal = new ClusterError('forbidden', 'pods are forbidden')
    expect(await prove(cluster)).toEqual({ kind: 'unknown', why: 'pods are forbidden' })
    await cluster.delete({ ...SERVER, ...SERVER.metadata })
    expect(await prove(cluster)).toEqual({ kind: 'unknown', why: 'the server is not installed' })
  })

  test('an interruption stops the proof, and its Pod is deleted', async () => {
    const cluster = await clusterWith(undefined)
    const controller = new AbortController()
    const proving = prove(cluster, controller.signal)
    setTimeout(() => controller.abort(new Error('interrupted')), 100)
    await expect(proving).rejects.toThrow('interrupted')
    expect(await cluster.list(PODS)).toEqual([])
  })
})

test('the program of the Pod distinguishes open addresses from closed ones', async () => {
  const cluster = await clusterWith(said({}))
  await prove(cluster)
  const [node, ...args] = (cluster.started[0]!['spec'] as Spec).containers[0]!.command
  expect(node).toBe('node')
  const server = createServer(socket => socket.end()).listen(0, '127.0.0.1')
  const folder = mkdtempSync(join(tmpdir(), 'devctl-proof-'))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: nobody } = closed.address() as AddressInfo
  closed.close()
  const run = async (kubernetes: number): Promise<NetworkProof & { readonly hasNetwork: boolean }> => {
    const env = {
      TARGETS: JSON.stringify([`127.0.0.1:${port}`, `127.0.0.1:${nobody}`]),
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(kubernetes),
      RESULT: join(folder, 'result'),
    }
    await promisify(execFile)(process.execPath, args, { env })
    return JSON.parse(readFileSync(env.RESULT, 'utf8'))
  }
  expect(await run(port)).toMatchObject({ reached: [`127.0.0.1:${port}`], hasNetwork: true })
  expect(await run(nobody)).toMatchObject({ hasNetwork: false })
})
