import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, labelValue } from '../../constructs/mirror/names.ts'
import { printYaml } from '../../constructs/yaml.ts'
import type { Session } from '../../project/session.ts'
import { maskedObject } from './masked.ts'

/** Maximum number of log lines for each container. */
const LOG_LINES = 1000

/** Objects of a development container in the cluster. */
export interface InCluster {
  readonly mirrors: readonly KubeObject[]
  readonly originals: readonly KubeObject[]
  readonly pods: readonly KubeObject[]
  readonly claims: readonly KubeObject[]
}

/**
 * Returns all objects with the labels of the development container, and the applications that the mirrors belong to.
 */
export async function findObjects(
  { cluster, namespace }: Session,
  dev: string,
  signal: AbortSignal,
): Promise<InCluster> {
  const list = (apiVersion: string, kind: string, labels: string) =>
    cluster.list({ apiVersion, kind, namespace, labels }, { signal })
  const own = `${DEVELOPMENT_LABEL}=${labelValue(dev)}`
  const [mirrors, claims, labelled] = await Promise.all([
    list('apps/v1', 'Deployment', own),
    list('v1', 'PersistentVolumeClaim', own),
    list('v1', 'Pod', own),
  ])
  const selected = await Promise.all(mirrors.map(mirror => list('v1', 'Pod', selectorOf(mirror))))
  const pods = new Map([...labelled, ...selected.flat()].map(pod => [pod.metadata.name, pod]))
  const owners = mirrors.flatMap(({ metadata }) => metadata.ownerReferences ?? [])
  const originals = await Promise.all(
    owners.map(({ apiVersion, kind, name }) => cluster.get({ apiVersion, kind, name, namespace }, { signal })),
  )
  return { mirrors, originals: originals.filter(one => one !== undefined), pods: [...pods.values()], claims }
}

function selectorOf({ spec }: KubeObject): string {
  const { selector } = spec as { selector: { matchLabels?: Readonly<Record<string, string>> } } // of a Deployment
  return Object.entries(selector.matchLabels ?? {})
    .map(pair => pair.join('='))
    .join()
}

/** Returns masked objects as YAML documents. */
export const documentsOf = (objects: readonly KubeObject[]): string =>
  objects.map(object => printYaml(maskedObject(object))).join('---\n')

/** Returns the events about the given objects, newest last. */
export async function eventsOf(
  { cluster, namespace }: Session,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<string> {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid))
  const all = await cluster.list({ apiVersion: 'v1', kind: 'Event', namespace }, { signal })
  const lines = all
    .map(event => event as unknown as KubeEvent)
    .filter(({ involvedObject }) => uids.has(involvedObject?.uid))
    .map(event => ({ ...event, at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '' }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ at, type, reason, message, involvedObject, count = 1 }) =>
      [at, type, reason, `${involvedObject?.kind}/${involvedObject?.name}`, `(${count})`, message].join(' '),
    )
  return lines.map(line => `${line}\n`).join('')
}

/** Fields of an event that the report shows. */
interface KubeEvent {
  readonly metadata: KubeObject['metadata']
  readonly involvedObject?: { readonly uid?: string; readonly kind?: string; readonly name?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

/**
 * Returns the end of the log of each container of a Pod. If a container was restarted, also returns the end of the log
 * of its previous instance.
 */
export async function logsOf(
  session: Session,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<readonly (readonly [path: string, text: string])[]> {
  const found = await Promise.all(
    containersOf(pod).flatMap(({ name, restarts }) => [
      logOf(session, pod, name, false, signal),
      ...(restarts > 0 ? [logOf(session, pod, name, true, signal)] : []),
    ]),
  )
  return found.filter(([, text]) => text !== '')
}

async function logOf(
  { cluster, namespace }: Session,
  { metadata: { name } }: KubeObject,
  container: string,
  previous: boolean,
  signal: AbortSignal,
): Promise<readonly [path: string, text: string]> {
  const path = `cluster/logs/${name}/${container}${previous ? '.previous' : ''}.log`
  const lines: string[] = []
  try {
    const options = { container, previous, tailLines: LOG_LINES, timestamps: true, signal }
    for await (const line of cluster.logs({ name, namespace }, options)) lines.push(line)
  } catch (error) {
    signal.throwIfAborted()
    // A container that has not started has no log; the Pod contains its state.
    lines.push(`(${error instanceof Error ? error.message : String(error)})`)
  }
  return [path, lines.map(line => `${line}\n`).join('')]
}

function containersOf(pod: KubeObject): readonly { readonly name: string; readonly restarts: number }[] {
  type Status = { readonly name: string; readonly restartCount?: number }
  const status = (pod['status'] ?? {}) as Readonly<Record<string, readonly Status[] | undefined>> // of a Pod
  const spec = (pod['spec'] ?? {}) as Readonly<Record<string, readonly { readonly name: string }[] | undefined>>
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => ({
    name,
    restarts: statuses.find(one => one.name === name)?.restartCount ?? 0,
  }))
}

/** Permissions that `up`, `down` and `restart` need in the namespace. */
const NEEDED: readonly (readonly [group: string, resource: string, verbs: readonly string[]])[] = [
  ['apps', 'deployments', ['get', 'list', 'watch', 'create', 'patch', 'delete']],
  ['apps', 'statefulsets', ['get', 'list', 'watch', 'patch']],
  ['apps', 'daemonsets', ['get', 'list']],
  ['batch', 'jobs', ['get', 'list', 'watch', 'patch']],
  ['batch', 'cronjobs', ['get', 'list', 'watch', 'patch']],
  ['', 'pods', ['get', 'list', 'watch', 'delete']],
  ['', 'pods/exec', ['get', 'create']],
  ['', 'pods/portforward', ['get', 'create']],
  ['', 'pods/log', ['get']],
  ['', 'services', ['get', 'list', 'create', 'patch', 'delete']],
  ['', 'secrets', ['get', 'list', 'create', 'patch', 'delete']],
  ['', 'persistentvolumeclaims', ['get', 'list', 'create', 'patch', 'delete']],
  ['', 'events', ['list']],
  ['coordination.k8s.io', 'leases', ['get', 'list', 'create', 'update', 'delete']],
]

/**
 * Returns, as JSON, the required permissions that the user lacks, and the rules that the API server reports for the
 * namespace.
 */
export async function accessOf({ cluster, namespace }: Session, signal: AbortSignal): Promise<string> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    metadata: { name: '' },
    spec: { namespace },
  }
  const { status } = (await cluster.create(review, { signal })) as { status?: RulesStatus }
  const { resourceRules = [], incomplete = false } = status ?? {}
  const needed = NEEDED.flatMap(([group, resource, verbs]) => verbs.map(verb => ({ group, resource, verb })))
  const missing = needed.filter(one => !resourceRules.some(rule => allows(rule, one)))
  return `${JSON.stringify({ missing, isComplete: !incomplete, rules: resourceRules }, null, 2)}\n`
}

interface RulesStatus {
  readonly resourceRules?: readonly ResourceRule[]
  /** True if the authorizer cannot list all its rules. The user may then have more permissions than the listed ones. */
  readonly incomplete?: boolean
}

interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

function allows(
  { verbs, apiGroups = [], resources = [], resourceNames = [] }: ResourceRule,
  { group, resource, verb }: { readonly group: string; readonly resource: string; readonly verb: string },
): boolean {
  const has = (list: readonly string[], ...wanted: readonly string[]) =>
    [...wanted, '*'].some(one => list.includes(one))
  const subresource = resource.replace(/^[^/]*/, '*')
  return (
    resourceNames.length === 0 && has(verbs, verb) && has(apiGroups, group) && has(resources, resource, subresource)
  )
}
