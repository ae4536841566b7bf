import { randomBytes } from 'node:crypto'
import { pause } from '../../../adapters/http/back-off.ts'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { isReady } from '../../../environment/status/problems.ts'
import { nodeAddresses } from '../../records/cluster-addresses.ts'
import { RUNS_NAMESPACE } from '../../records/names.ts'
import { containersOf } from '../../records/own-workload.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import { type InstallContext, LOOK, ownRef } from '../install-context.ts'

/** Result of testing whether a Pod, to which the network policy of runs applies, can reach nodes of the cluster. */
export type NetworkProof =
  /** `tried` is the number of addresses; `reached` has those that accepted a connection, such as `10.0.0.4:10250`. */
  | { readonly kind: 'tried'; readonly tried: number; readonly reached: readonly string[] }
  | { readonly kind: 'unknown'; readonly why: string }

/** Timeout for the Pod, in milliseconds. Most of it is for its start, because the node may have to pull the image. */
const LIMIT = 60_000
/** Maximum number of nodes whose addresses are tried. */
const MOST_NODES = 50
/** Port of a kubelet whose node does not report one. */
const KUBELET = 10_250
/** Label of the Pods that test the network policies. */
const PROOF = 'dev.platform/proof'
/** Waiting reasons of a container that is not going to start soon. */
const CANNOT_PULL: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName'])
/** Address at which clouds serve the credentials of a node. */
const METADATA = '169.254.169.254:80'

/**
 * Script that runs in the Pod. It tries to connect to the given addresses, and to the Pod's router, which is an address
 * of the node with most network plugins. After some seconds, it repeats the connections that were accepted, because a
 * policy applies to a new Pod with a short delay. It also connects to the API server, which runs may reach: if this
 * fails, the Pod has no network, and the other results mean nothing.
 */
const SCRIPT = `
const { connect } = require('node:net')
const { readFileSync, writeFileSync } = require('node:fs')
const tries = target => new Promise(resolve => {
  const at = target.lastIndexOf(':')
  const socket = connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), timeout: 2000 })
  const end = reached => { socket.destroy(); resolve(reached) }
  socket.on('connect', () => end(true)).on('timeout', () => end(false)).on('error', () => end(false))
})
const reachedOf = async targets => {
  const all = await Promise.all(targets.map(tries))
  return targets.filter((_, index) => all[index])
}
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))
const router = () => {
  try {
    const line = readFileSync('/proc/net/route', 'utf8').split('\\n').map(one => one.split('\\t')).find(one => one[1] === '00000000')
    const gateway = line ? line[2].match(/../g).reverse().map(one => parseInt(one, 16)).join('.') : '0.0.0.0'
    return gateway === '0.0.0.0' ? [] : [gateway + ':${KUBELET}']
  } catch { return [] }
}
const run = async () => {
  const targets = [...new Set([...JSON.parse(process.env.TARGETS), ...router()])]
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  await sleep(1000)
  const [first, hasNetwork] = await Promise.all([reachedOf(targets), tries(host + ':' + port)])
  if (first.length > 0) await sleep(3000)
  const reached = await reachedOf(first)
  writeFileSync(process.env.RESULT ?? '/dev/termination-log', JSON.stringify({ tried: targets.length, reached, hasNetwork }))
}
run()
`

/**
 * Starts a Pod that tries to connect to nodes, returns the result, and deletes the Pod. The network policy of runs
 * applies to the Pod; it allows the same addresses outside the cluster as the policies of namespaces and builds. The
 * Pod uses the image of the server, which nodes already have.
 */
export async function proveNetworks(
  { cluster, signal, on }: InstallContext,
  nodes: readonly KubeObject[],
): Promise<NetworkProof> {
  const image = containersOf(await cluster.get(ownRef('apps/v1', 'Deployment'), { signal }))[0]?.image
  if (image === undefined) return { kind: 'unknown', why: 'the server is not installed' }
  if (!nodes.some(isReady)) return { kind: 'unknown', why: 'no node is ready' }
  const targets = [...nodes.slice(0, MOST_NODES).flatMap(targetsOf), METADATA]
  on('tries from a Pod to reach the nodes')
  const pod = podOf(image, targets)
  const { name } = pod.metadata
  const ref = { apiVersion: 'v1', kind: 'Pod', name, namespace: RUNS_NAMESPACE }
  try {
    await cluster.create(pod, { signal })
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    return { kind: 'unknown', why: error.message }
  }
  try {
    return await resultOf(cluster, ref, signal)
  } finally {
    await removeProofs(cluster, name).catch(() => {})
  }
}

/** Deletes the Pod of this command, and the finished Pods of earlier commands that were killed. */
async function removeProofs(cluster: Cluster, own: string): Promise<void> {
  const signal = AbortSignal.timeout(5000)
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE }
  for (const { metadata, status } of await cluster.list({ ...pod, labels: `${PROOF}=networks` }, { signal })) {
    const { phase = '' } = (status ?? {}) as PodStatus
    if (metadata.name === own || ['Succeeded', 'Failed'].includes(phase))
      await cluster.delete({ ...pod, name: metadata.name }, { signal })
  }
}

async function resultOf(
  cluster: Cluster,
  ref: Parameters<Cluster['get']>[0],
  signal: AbortSignal,
): Promise<NetworkProof> {
  const within = withTimeLimit(LIMIT, signal)
  let waits = 'its Pod was not started'
  try {
    for (;;) {
      const { phase, containerStatuses: [status] = [] } = ((await cluster.get(ref, { signal: within }))?.['status'] ??
        {}) as PodStatus
      waits = status?.state?.waiting?.reason ?? waits
      if (CANNOT_PULL.has(waits))
        return { kind: 'unknown', why: `its Pod does not get the image of the server: ${waits}` }
      const message = status?.state?.terminated?.message
      if (message !== undefined) return readResult(message)
      if (phase === 'Failed' || phase === 'Succeeded') return { kind: 'unknown', why: 'its Pod ended without a word' }
      await pause(LOOK, within)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (within.aborted) return { kind: 'unknown', why: `not done within ${LIMIT / 1000} s: ${waits}` }
    if (error instanceof ClusterError) return { kind: 'unknown', why: error.message }
    throw error
  }
}

/** Parses the termination message of the Pod. */
function readResult(message: string): NetworkProof {
  try {
    const { tried, reached, hasNetwork } = JSON.parse(message) as Readonly<Record<string, unknown>>
    if (hasNetwork !== true) return { kind: 'unknown', why: 'its Pod did not reach the API server either' }
    if (typeof tried === 'number' && Array.isArray(reached))
      return { kind: 'tried', tried, reached: reached.map(one => String(one).slice(0, 100)) }
  } catch {}
  return { kind: 'unknown', why: 'its Pod ended with an error' }
}

/** Returns the problem if the Pod reached nodes; otherwise undefined. */
export function networkProblem(proof: NetworkProof): PlatformProblem | undefined {
  if (proof.kind === 'unknown' || proof.reached.length === 0) return undefined
  return {
    message: `Pods reach nodes of the cluster: ${proof.reached.join(', ')}`,
    notes: [
      'tried from a Pod with the network policy of runs, which leads outside as those of namespaces and builds do',
    ],
    hint: 'does the network plugin of the cluster enforce NetworkPolicies? If it does, `devctl platform install` finds new nodes, and closes their addresses',
  }
}

interface PodStatus {
  readonly phase?: string
  readonly containerStatuses?: readonly {
    readonly state?: {
      readonly waiting?: { readonly reason?: string }
      readonly terminated?: { readonly message?: string }
    }
  }[]
}

interface NodeStatus {
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } }
}

function targetsOf(node: KubeObject): readonly string[] {
  const { daemonEndpoints } = (node['status'] ?? {}) as NodeStatus // as Kubernetes defines it
  const port = daemonEndpoints?.kubeletEndpoint?.Port ?? KUBELET
  return nodeAddresses(node).map(address => `${address}:${port}`)
}

function podOf(image: string, targets: readonly string[]): KubeObject {
  const container = {
    name: 'proof',
    image,
    command: ['node', '-e', SCRIPT],
    env: [{ name: 'TARGETS', value: JSON.stringify(targets) }],
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `network-proof-${randomBytes(4).toString('hex')}`,
      namespace: RUNS_NAMESPACE,
      labels: { 'app.kubernetes.io/part-of': 'devctl', [PROOF]: 'networks' },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: 2 * (LIMIT / 1000),
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_534, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container],
    },
  }
}
