import { request } from 'node:https'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { type Cluster, eventually, pathOf } from './cluster.ts'

/** Applies objects one after the other; throws at the first that is refused. */
export async function applyAll(
  cluster: Cluster,
  namespace: string,
  objects: readonly KubernetesObject[],
): Promise<void> {
  for (const object of objects) {
    const { status, body } = await cluster.apply(object, namespace)
    if (status > 201) throw new Error(`${object.kind} ${object.metadata.name}: ${body}`)
  }
}

/** Waits until every workload among the objects is ready, every Job complete; fails at once when a Job has failed. */
export async function untilReady(
  cluster: Cluster,
  namespace: string,
  objects: readonly KubernetesObject[],
  seconds: number,
): Promise<void> {
  const workloads = objects.filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'].includes(kind))
  let waiting: readonly string[] = []
  await eventually(
    `everything in ${namespace} is ready`,
    async () => {
      const states = await Promise.all(
        workloads.map(async workload => {
          const live = await cluster.get<Live>(pathOf(workload, namespace))
          return { id: `${workload.kind}/${workload.metadata.name}`, state: stateOf(workload.kind, live) }
        }),
      )
      const failed = states.filter(({ state }) => state === 'failed').map(({ id }) => id)
      if (failed.length > 0) throw new Error(`${failed.join(', ')} failed\n${await describeAll(cluster, namespace)}`)
      waiting = states.filter(({ state }) => state === 'waiting').map(({ id }) => id)
      return waiting.length === 0 || undefined
    },
    { explain: async () => `not ready: ${waiting.join(', ')}\n${await describeAll(cluster, namespace)}`, seconds },
  )
}

/** The parts of a live workload that show whether it is ready. */
interface Live {
  readonly metadata: { readonly generation?: number }
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly readyReplicas?: number
    readonly updatedReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly numberReady?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

function stateOf(kind: string, { metadata, spec, status = {} }: Live): 'ready' | 'waiting' | 'failed' {
  const holds = (type: string) => status.conditions?.some(one => one.type === type && one.status === 'True') ?? false
  if (kind === 'Job') return holds('Complete') ? 'ready' : holds('Failed') ? 'failed' : 'waiting'
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 'waiting'
  if (kind === 'DaemonSet') {
    const wanted = status.desiredNumberScheduled ?? 0
    return wanted > 0 && status.numberReady === wanted ? 'ready' : 'waiting'
  }
  const wanted = spec.replicas ?? 1
  return (status.readyReplicas ?? 0) >= wanted && (status.updatedReplicas ?? 0) >= wanted ? 'ready' : 'waiting'
}

/** Describes the state of a namespace for the message of a failed test: Pods, events, last lines of logs. */
export async function describeAll(cluster: Cluster, namespace: string): Promise<string> {
  const ask = (...args: readonly string[]) =>
    cluster.kubectl('--namespace', namespace, ...args).catch(error => `${error}`)
  const pods = await ask('get', 'pods', '--output', 'wide')
  const events = await ask('get', 'events', '--field-selector', 'type=Warning', '--sort-by', 'lastTimestamp')
  const names = (await ask('get', 'pods', '--output', 'name')).split('\n').filter(name => name.startsWith('pod/'))
  const logs = await Promise.all(
    names.map(name => ask('logs', name, '--all-containers', '--prefix', '--ignore-errors', '--tail', '8')),
  )
  return [pods, events, ...logs].join('\n')
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: Readonly<Record<'containerStatuses' | 'initContainerStatuses', readonly Container[] | undefined>>
  }[]
}

interface Container {
  readonly name: string
  readonly restartCount: number
}

/**
 * The containers in a namespace that have ended and were started again, as `web-0/web`: what starts too early does so.
 */
export async function restarted(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const { items } = await cluster.get<PodList>(`/api/v1/namespaces/${namespace}/pods`)
  return items.flatMap(({ metadata, status }) =>
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
      .filter(({ restartCount }) => restartCount > 0)
      .map(({ name }) => `${metadata.name}/${name}`),
  )
}

export interface Page {
  readonly status: number
  readonly body: string
}

/**
 * Asks a public route of the test cluster over https, whose host leads to this machine; a connection that is refused
 * gives status 0.
 */
export function ask(
  cluster: Cluster,
  host: string,
  path: string,
  form?: Readonly<Record<string, string>>,
): Promise<Page> {
  return new Promise(resolve => {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString()
    const sent = request(
      {
        host: '127.0.0.1',
        port: Number(process.env.TESTCLUSTER_HTTPS_PORT ?? 443),
        servername: host,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { host, ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) },
        ca: cluster.routeAuthority(),
        timeout: 10_000,
      },
      response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', part => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
        response.on('error', error => resolve({ status: 0, body: String(error) }))
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer in 10 s')))
    sent.on('error', error => resolve({ status: 0, body: String(error) }))
    sent.end(body)
  })
}

/** Asks until the answer is right, for half a minute: an ingress controller takes a moment to hear of a route. */
export function untilAnswers(
  cluster: Cluster,
  host: string,
  path: string,
  right: (page: Page) => boolean,
): Promise<Page> {
  let last: Page = { status: 0, body: '' }
  return eventually(
    `https://${host}${path} answers`,
    async () => {
      last = await ask(cluster, host, path)
      return right(last) ? last : undefined
    },
    { explain: async () => `the last answer: ${last.status} ${last.body.slice(0, 500)}` },
  )
}
