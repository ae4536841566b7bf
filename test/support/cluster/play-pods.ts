import { afterAll, beforeAll } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import { type Cluster, findCluster } from './cluster.ts'

export interface PlayOptions {
  /** The namespaces whose Pods run; by default those of `withProject` in this process. */
  readonly isOurs?: (namespace: string) => boolean
  /** Returns false for a Pod that runs, and does not become ready. */
  readonly isReady?: (pod: PlayedPod) => boolean
  /** Returns false for a Pod that is being deleted, and does not end yet. */
  readonly mayEnd?: (pod: PlayedPod) => boolean
}

/** The fields of a Pod that decide how it runs. */
export interface PlayedPod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly PlayedContainer[]
    readonly initContainers?: readonly PlayedContainer[]
  }
}

interface PlayedContainer {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly restartPolicy?: string
}

interface Claim extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[]
    readonly resources: unknown
    readonly storageClassName?: string
    readonly volumeName?: string
  }
}

/** Runs nothing: does what the controllers of Kubernetes wait for. */
export interface PlayedKubelet {
  /** Checks all Pods again after the answer of `isReady` or `mayEnd` has changed. */
  recheck(): void
}

/**
 * Plays scheduler, kubelet and volume provisioner for an API server without nodes, for the tests of a file: there is a
 * node; Pods are bound to it, get ready at once, and end as soon as they are deleted; Pods of Jobs succeed, or fail
 * where their command has `exit 1`; claims are bound. The controllers of Deployments, StatefulSets, DaemonSets and Jobs
 * do the rest. Nothing can be executed in such Pods, and they have no logs.
 */
export function playPods(options: PlayOptions = {}): PlayedKubelet {
  let kubelet: Kubelet | undefined
  beforeAll(async () => {
    const cluster = findCluster()
    if (cluster === undefined) return
    kubelet = new Kubelet(cluster, options)
    await kubelet.start()
  })
  afterAll(() => kubelet?.close())
  return { recheck: () => kubelet?.recheck() }
}

const MERGE = 'application/merge-patch+json'

/** The node lifecycle controller takes a node for lost that does not renew its Lease for 50 s. */
const HEARTBEAT = 10_000

class Kubelet {
  readonly #cluster: Cluster
  readonly #isOurs: (namespace: string) => boolean
  readonly #isReady: (pod: PlayedPod) => boolean
  readonly #mayEnd: (pod: PlayedPod) => boolean
  readonly #node = `played-${process.pid}`
  readonly #pods = new Map<string, PlayedPod>()
  /** The Pods whose status is written, by UID, and whether it says that they are ready. */
  readonly #written = new Map<string, boolean>()
  readonly #volumes = new Set<string>()
  readonly #end = new AbortController()
  #watches: readonly Promise<void>[] = []
  #heartbeat: NodeJS.Timeout | undefined
  #addresses = 0

  constructor(
    cluster: Cluster,
    { isOurs = name => name.startsWith(`p${process.pid}-`), isReady = () => true, mayEnd = () => true }: PlayOptions,
  ) {
    this.#cluster = cluster
    this.#isOurs = isOurs
    this.#isReady = isReady
    this.#mayEnd = mayEnd
  }

  async start(): Promise<void> {
    const status = {
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', ...sinceNow() }],
      capacity: { cpu: '64', memory: '256Gi', pods: '1000' },
      allocatable: { cpu: '64', memory: '256Gi', pods: '1000' },
    }
    await this.#send('POST', '/api/v1/nodes', { metadata: { name: this.#node }, status })
    await this.#send('POST', LEASES, { metadata: { name: this.#node }, spec: this.#lease() })
    this.#heartbeat = setInterval(() => {
      this.#send('PATCH', `${LEASES}/${this.#node}`, { spec: this.#lease() }, MERGE).catch(() => {})
    }, HEARTBEAT)
    this.#watches = [
      this.#watch('Pod', (pod, isGone) => this.#seePod(pod as PlayedPod, isGone)),
      this.#watch('PersistentVolumeClaim', (claim, isGone) => this.#seeClaim(claim as Claim, isGone)),
    ]
  }

  recheck(): void {
    for (const pod of this.#pods.values()) this.#play(pod)
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    this.#end.abort()
    await Promise.all(this.#watches)
    // The namespaces are being deleted, and no caller waits for that: their deletion must not wait for this kubelet.
    await Promise.all([...this.#pods.values()].map(pod => this.#remove(pod)))
    await this.#send('DELETE', `${LEASES}/${this.#node}`)
    await this.#send('DELETE', `/api/v1/nodes/${this.#node}`)
    this.#cluster.close()
  }

  async #watch(kind: string, see: (object: KubeObject, isGone: boolean) => void): Promise<void> {
    const api = await connect({ env: process.env })
    try {
      for await (const change of api.watch({ apiVersion: 'v1', kind }, { signal: this.#end.signal }))
        if ('object' in change && this.#isOurs(change.object.metadata.namespace ?? ''))
          see(change.object, change.type === 'Deleted')
    } catch (error) {
      if (!this.#end.signal.aborted) throw error
    }
  }

  #seePod(pod: PlayedPod, isGone: boolean): void {
    const uid = pod.metadata.uid ?? ''
    if (isGone) this.#pods.delete(uid)
    else {
      this.#pods.set(uid, pod)
      this.#play(pod)
    }
  }

  /** Does the next step of a Pod; its change brings the one after it. */
  #play(pod: PlayedPod): void {
    this.#untilEnd(this.#next(pod))
  }

  /** Fails the run if a step fails before this kubelet is closed. */
  #untilEnd(step: Promise<void>): void {
    step.catch(error => {
      if (!this.#end.signal.aborted) throw error
    })
  }

  async #next(pod: PlayedPod): Promise<void> {
    const { name, namespace, uid = '', deletionTimestamp } = pod.metadata
    const path = podPath(pod)
    if (pod.spec.nodeName === undefined) {
      if (deletionTimestamp === undefined)
        await this.#send('POST', `${path}/binding`, {
          metadata: { name, namespace },
          target: { apiVersion: 'v1', kind: 'Node', name: this.#node },
        })
      return
    }
    if (pod.spec.nodeName !== this.#node) return
    if (deletionTimestamp !== undefined) return this.#mayEnd(pod) ? this.#remove(pod) : undefined
    const isReady = this.#isReady(pod)
    if (this.#written.get(uid) === isReady) return
    this.#written.set(uid, isReady)
    const status = isOfJob(pod) ? ended(pod) : running(pod, isReady)
    const podIP = `10.244.${(++this.#addresses >> 8) & 255}.${this.#addresses & 255}`
    await this.#send('PATCH', `${path}/status`, { status: { ...status, podIP, podIPs: [{ ip: podIP }] } }, MERGE)
  }

  #remove(pod: PlayedPod): Promise<void> {
    const preconditions = { uid: pod.metadata.uid }
    return this.#send('DELETE', podPath(pod), { gracePeriodSeconds: 0, preconditions })
  }

  /** Makes a volume for a claim; the controller binds the two. */
  #seeClaim({ metadata, spec }: Claim, isGone: boolean): void {
    const { name, namespace, uid } = metadata
    const volume = `played-${uid}`
    const path = '/api/v1/persistentvolumes'
    if (isGone) {
      if (this.#volumes.delete(volume)) this.#untilEnd(this.#send('DELETE', `${path}/${volume}`))
    } else if (spec.volumeName === undefined && !this.#volumes.has(volume)) {
      this.#volumes.add(volume)
      const { accessModes, resources, storageClassName } = spec
      const capacity = (resources as { readonly requests: unknown }).requests
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid }
      const source = { hostPath: { path: `/played/${uid}` } }
      const created = this.#send('POST', path, {
        metadata: { name: volume },
        spec: { accessModes, capacity, storageClassName, claimRef, persistentVolumeReclaimPolicy: 'Retain', ...source },
      })
      this.#untilEnd(created)
    }
  }

  /**
   * Sends a request; an object that is missing, exists already or has changed is seen again by its watch, and nothing
   * is created in a namespace that is being deleted.
   */
  async #send(method: string, path: string, body?: unknown, type?: string): Promise<void> {
    const answer = await this.#cluster.send(method, path, body, type)
    const isEnding = answer.status === 403 && answer.body.includes('because it is being terminated')
    if (answer.status >= 400 && ![404, 409].includes(answer.status) && !isEnding)
      throw new Error(`the played kubelet: ${method} ${path}: ${answer.status} ${answer.body}`)
  }

  #lease() {
    return {
      holderIdentity: this.#node,
      leaseDurationSeconds: 40,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    }
  }
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

const podPath = ({ metadata }: KubeObject) => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`

const isOfJob = ({ metadata }: KubeObject) => metadata.ownerReferences?.some(({ kind }) => kind === 'Job') ?? false

const seconds = () => new Date().toISOString().replace(/\.\d+/, '')

const sinceNow = () => ({ lastTransitionTime: seconds() })

const conditions = (isReady: boolean, reason?: string) =>
  ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type, index) => ({
    type,
    status: index < 2 || isReady ? 'True' : 'False',
    ...(index >= 2 && reason && { reason }),
    ...sinceNow(),
  }))

function running(pod: PlayedPod, isReady: boolean) {
  const { containers, initContainers = [] } = pod.spec
  return {
    phase: 'Running',
    startTime: seconds(),
    conditions: conditions(isReady, 'ContainersNotReady'),
    initContainerStatuses: initContainers.map(one =>
      one.restartPolicy === 'Always'
        ? statusOf(pod, one, { running: { startedAt: seconds() } }, true)
        : statusOf(pod, one, exited(0), true),
    ),
    containerStatuses: containers.map(one => statusOf(pod, one, { running: { startedAt: seconds() } }, isReady)),
  }
}

/** The status of a Pod of a Job: all that it runs has ended. */
function ended(pod: PlayedPod) {
  const { containers, initContainers = [] } = pod.spec
  const codes = containers.map(exitCodeOf)
  return {
    phase: codes.every(code => code === 0) ? 'Succeeded' : 'Failed',
    startTime: seconds(),
    conditions: conditions(false, 'PodCompleted'),
    initContainerStatuses: initContainers.map(one => statusOf(pod, one, exited(0), true)),
    containerStatuses: containers.map((one, index) => statusOf(pod, one, exited(codes[index]!), false)),
  }
}

function exitCodeOf({ command = [], args = [] }: PlayedContainer): number {
  return Number(/\bexit (\d+)/.exec([...command, ...args].join(' '))?.[1] ?? 0)
}

const exited = (exitCode: number) => ({
  terminated: {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: seconds(),
    finishedAt: seconds(),
  },
})

const statusOf = ({ metadata }: PlayedPod, { name, image }: PlayedContainer, state: object, ready: boolean) => ({
  name,
  image,
  imageID: '',
  containerID: `played://${metadata.uid}-${name}`,
  restartCount: 0,
  ready,
  started: 'running' in state,
  state,
})
