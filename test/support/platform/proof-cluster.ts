import type { ClusterError, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { proveNetworks } from '../../../platform/install/checks/network-proof.ts'
import { PLATFORM_NAMESPACE, RUNS_NAMESPACE } from '../../../platform/records/names.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

export const PODS = { apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE }

export const SERVER = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'platform', namespace: PLATFORM_NAMESPACE },
}

/** Part of the specification of the proof's Pod. */
export interface ProofSpec {
  readonly containers: readonly {
    readonly command: readonly string[]
    readonly env: readonly { readonly name: string; readonly value: string }[]
  }[]
}

/** A cluster with a node, whose kubelet ends each Pod of a proof with a message. */
export class WithKubelet extends MemoryCluster {
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

/**
 * Returns a cluster with the server of the platform and one node. `message` is what the Pod of the proof says at its
 * end; without one it never starts.
 */
export async function clusterWith(message: string | undefined, isReady = true): Promise<WithKubelet> {
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

/** Runs the proof with a limit of 20 seconds. */
export const prove = async (cluster: WithKubelet, signal = AbortSignal.timeout(20_000)) =>
  proveNetworks({ cluster, signal, now: () => 0, on: () => {} }, await cluster.list({ apiVersion: 'v1', kind: 'Node' }))

/** Returns the termination message of a Pod that tried three addresses and reached none, with changes. */
export const said = (more: object) => JSON.stringify({ tried: 3, reached: [], hasNetwork: true, ...more })
