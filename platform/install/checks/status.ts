import type { PresentedCertificate } from '../../../adapters/http/presented-certificate.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { newestPods, replacedPods } from '../../../environment/rollout/revisions.ts'
import { statusOf } from '../../../environment/rollout/status.ts'
import { belongsTo } from '../../../environment/rollout/tracker.ts'
import { toWarning } from '../../../environment/status/events.ts'
import { explainFailure } from '../../../environment/status/explain.ts'
import { lastLine } from '../../../environment/status/last-line.ts'
import { podProblems, workloadProblems } from '../../../environment/status/problems.ts'
import { UNFOLLOWED } from '../../records/asleep.ts'
import { leaderLease, toLeader } from '../../records/leader.ts'
import {
  BUILD_NAMESPACE,
  MANAGED_LABEL,
  PLATFORM_NAMESPACE,
  RECORD_LABEL,
  REGISTRY_DISK,
  RUNS_NAMESPACE,
  USERS_NAMESPACE,
} from '../../records/names.ts'
import { type NamespaceStatus, toNamespace } from '../../records/namespace.ts'
import {
  containersOf,
  isOfWorkload,
  OWN_WORKLOADS,
  type OwnContainer,
  type OwnWorkload,
  toOwnWorkload,
} from '../../records/own-workload.ts'
import { LIVE_LABEL, toRun } from '../../records/run.ts'
import { toUser } from '../../records/user.ts'
import type { DependencyState } from '../../rules/dependencies.ts'
import {
  diskText,
  isFilling,
  isFresh,
  LONGEST_MEASUREMENT,
  type RegistryDisk,
  readRegistryDisk,
} from '../../rules/registry/registry-disk.ts'
import { failedDeletions, fillingDisk, NO_LEADER } from '../../rules/runs/health.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import { connectPlatform } from '../../session/connect-platform.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import { givenAuthority } from '../certificates/given-authority.ts'
import { ownFingerprint } from '../certificates/own-certificate.ts'
import type { InstallContext } from '../install-context.ts'
import { findPlatform, type Installed } from '../installed.ts'
import { builderIngressProblem } from './builder-ingress.ts'
import { askForCertificate, certificateProblems, REACH } from './certificate-status.ts'
import { clusterNetworks } from './cluster-networks.ts'
import { dependencyStatus, statusProblems } from './dependency-status.ts'
import { ingressNotes, ingressProblem, installedIngress } from './ingress-status.ts'
import { type NetworkProof, networkProblem, proveNetworks } from './network-proof.ts'
import { openAddresses, openProblem } from './open-addresses.ts'

/** Namespaces of the platform's own workloads. The workloads of users do not affect its health. */
const OWN = [PLATFORM_NAMESPACE, BUILD_NAMESPACE]

/** Status of a platform. */
export interface PlatformStatus {
  readonly url: string
  /** Version of the installed server; undefined if the server is not installed, or does not state its version. */
  readonly version: string | undefined
  /** Name of the Pod that is the leader; undefined if there is none. */
  readonly leader: string | undefined
  readonly workloads: readonly OwnWorkload[]
  /** True if the platform can be reached from this machine. */
  readonly isReachable: boolean
  /** Certificate that the platform presents. Absent if it could not be read. */
  readonly certificate?: PresentedCertificate
  /** Login providers. Logins by link are possible in addition. */
  readonly login: readonly string[]
  readonly users: { readonly all: number; readonly admins: number; readonly suspended: number }
  /**
   * Numbers of namespaces. `unfollowed` counts the sleeping namespaces that do not wake when their pages are visited,
   * and `failed` those that could not be deleted.
   */
  readonly namespaces: {
    readonly all: number
    readonly awake: number
    readonly asleep: number
    readonly unfollowed?: number
    readonly failed?: number
  }
  readonly runs: { readonly queued: number; readonly running: number }
  readonly builders: readonly string[]
  /** Other servers that the platform needs, each with the result of the last check by the platform's server. */
  readonly dependencies: readonly DependencyState[]
  readonly registry: string | undefined
  /** Size and free space of the disk of the bundled registry, in bytes. Absent if not measured. */
  readonly registryDisk?: { readonly size: number; readonly free: number }
  /** Result of testing which nodes a Pod can reach. */
  readonly networks: NetworkProof
  readonly problems: readonly PlatformProblem[]
}

export interface StatusContext extends InstallContext {
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Checks a platform with the permissions of a cluster administrator. Throws a UserError if the cluster has no platform.
 */
export async function platformStatus(world: StatusContext): Promise<PlatformStatus> {
  const found = await findPlatform(world)
  if (!found) throw new UserError('the cluster has no platform', { hint: '`devctl platform install` installs it' })
  const seeing = clusterNetworks(world.cluster, world.signal)
  const [own, leader, reached, certificate, users, namespaces, runs, disk, dependencies, ingress, open, builds, proof] =
    await Promise.all([
      ownWorkloads(world),
      leaderOf(world),
      reach(world, found.url),
      askForCertificate(world, found.url),
      usersOf(world),
      namespacesOf(world),
      runsOf(world),
      registryDisk(world),
      dependencyStatus(world, found),
      installedIngress(world.cluster, new URL(found.url).hostname, world.signal),
      seeing.then(seen => openAddresses(world.cluster, seen, found.options, world.signal)),
      buildersProblem(world, found),
      seeing.then(({ nodes }) => proveNetworks(world, nodes)),
    ])
  const { builders, registry } = found.kept
  const addresses = addressesIn(builders)
  const unused = BUNDLED_BUILDERS.filter(
    one =>
      own.workloads.some(workload => isBuilders(workload, one)) &&
      !addresses.some(address => isOfBuilders(address, one)),
  )
  const authority = found.options.ownCa ? await ownFingerprint(world.cluster, world.signal) : undefined
  // This machine need not trust the platform's own authority, or one of `--ca`, which identifies the platform.
  const { ownCa, certManager } = found.options
  const source = ownCa ? 'own' : certManager === undefined ? 'other' : 'cert-manager'
  const isOwn =
    certificate !== undefined &&
    'names' in certificate &&
    (authority === undefined
      ? (await givenAuthority(world, found.url, found.trusted)) !== undefined
      : certificate.root?.fingerprint === authority)
  const noLeader = leader === undefined && own.workloads.some(({ ready }) => ready > 0)
  const isReachable = !('problem' in reached) || isOwn
  // If the address answers, an ingress controller serves the Ingress, whatever its class.
  const unserved = isReachable || !ingress ? undefined : await ingressProblem(world.cluster, ingress, world.signal)
  const problems = [
    ...own.problems,
    ...(disk && isFilling(disk) ? [{ notes: [], ...fillingDisk(disk) }] : []),
    ...own.workloads.filter(({ wanted }) => wanted === 0).map(stoppedProblem),
    ...(noLeader ? [{ ...NO_LEADER, notes: [] }] : []),
    ...unused.map(unusedBuilders),
    ...(unserved ? [unserved] : []),
    ...('problem' in reached && !isOwn ? [{ ...reached.problem, notes: ingressNotes(ingress) }] : []),
    ...certificateProblems(found.url, certificate, world.now(), { source, isTrusted: isOwn }),
    ...statusProblems(dependencies),
    ...[builds, openProblem(open, found.options), networkProblem(proof)].filter(one => one !== undefined),
    ...(namespaces.unfollowed === undefined ? [] : [unfollowedProblem(namespaces.unfollowed)]),
    ...(namespaces.failed === undefined ? [] : [{ ...failedDeletions(namespaces.failed), notes: [] }]),
  ]
  return {
    url: found.url,
    version: own.version,
    leader,
    workloads: own.workloads,
    isReachable,
    ...(certificate && 'names' in certificate && { certificate }),
    login: found.providers.map(({ name, id }) => (name === id ? name : `${name} (${id})`)),
    users,
    namespaces,
    runs,
    builders: addresses,
    dependencies,
    registry: typeof registry === 'string' ? registry : undefined,
    ...(disk && { registryDisk: { size: disk.size, free: disk.free } }),
    networks: proof,
    problems,
  }
}

/**
 * Returns the problem if builds cannot reach the ingress controller; undefined if they can, or if the platform has no
 * builders of its own.
 */
async function buildersProblem(
  { cluster, signal }: StatusContext,
  { url, kept: { bundledBuilders } }: Installed,
): Promise<PlatformProblem | undefined> {
  if (bundledBuilders === undefined) return undefined
  const { networks = [] } = bundledBuilders as { readonly networks?: readonly string[] } // as installing writes it
  return builderIngressProblem(cluster, { host: new URL(url).hostname, networks }, signal)
}

const stoppedProblem = ({ name, namespace }: OwnWorkload): PlatformProblem => ({
  message: `${name} has no replicas: somebody has scaled it to 0`,
  notes: [],
  hint: `\`kubectl --namespace ${namespace} scale ${name} --replicas 1\` starts it again`,
})

/**
 * Pools of builders that can be installed with a platform. `option` is the command-line option of a pool. `of` is
 * appended in messages about the pool, and tells which code its builders build.
 */
export const BUNDLED_BUILDERS = [
  { ...OWN_WORKLOADS.builders, option: '--builders', of: '' },
  { ...OWN_WORKLOADS.untrustedBuilders, option: '--untrusted-builders', of: ' for forks' },
] as const
type Bundled = (typeof BUNDLED_BUILDERS)[number]

/** True if a workload is the StatefulSet of a pool of builders. */
export const isBuilders = ({ name, namespace }: OwnWorkload, builders: Bundled): boolean =>
  namespace === builders.namespace && name === `statefulset/${builders.name}`

/** True if an address, as written in the settings, is the address of a builder in the given pool. */
export const isOfBuilders = (address: string, builders: Bundled): boolean => isOfWorkload(address, builders)

const unfollowedProblem = (count: number): PlatformProblem => ({
  message: `who opens a page of ${count === 1 ? 'a namespace' : `${count} namespaces`} that sleep${count === 1 ? 's' : ''} does not wake it`,
  notes: ['the ingress controller serves the routes whatever their `ingressClassName` is'],
  hint: 'configure it to respect classes; until then `devctl namespace wake` and the pages of the platform wake namespaces',
})

const unusedBuilders = ({ name, option }: Bundled): PlatformProblem => ({
  message: `\`statefulset/${name}\` is there, but the settings name none of its builders: nothing is built on them`,
  notes: [],
  hint: `\`devctl platform install ${option} 1\` uses them; \`${option} 0\` removes them`,
})

/** Returns the addresses in the setting `builders`, of all pools. */
function addressesIn(builders: unknown): readonly string[] {
  const all = typeof builders === 'object' && builders !== null ? Object.values(builders).flat() : []
  return all.filter(one => typeof one === 'string' && one.includes('://')) as string[] // by the filter
}

/** Returns the containers of the platform itself. */
export const ownContainers = async (world: InstallContext): Promise<readonly OwnContainer[]> =>
  (await ownObjects(world)).flatMap(containersOf)

async function ownObjects({ cluster, signal }: InstallContext): Promise<readonly KubeObject[]> {
  const kinds = ['Deployment', 'StatefulSet']
  const lists = OWN.flatMap(namespace =>
    kinds.map(kind => cluster.list({ apiVersion: 'apps/v1', kind, namespace }, { signal })),
  )
  return (await Promise.all(lists)).flat()
}

async function ownWorkloads(world: StatusContext) {
  const objects = await ownObjects(world)
  const workloads = objects.map(toOwnWorkload)
  const { kind, name } = OWN_WORKLOADS.server
  const server = objects.find(one => one.kind === kind && one.metadata.name === name)
  const { env = [] } = containersOf(server)[0] ?? {}
  const version = env.find(({ name }) => name === 'DEVCTL_VERSION')?.value
  const explained = await Promise.all(objects.map(one => problemsOf(world, one)))
  const gone: readonly PlatformProblem[] = server
    ? []
    : [
        {
          message: 'the server of the platform is not installed',
          notes: [],
          hint: '`devctl platform install` installs it again, with the existing settings',
        },
      ]
  return { workloads, version, problems: [...gone, ...explained.flat()] }
}

/** Returns the reasons why a workload is not ready, as `deploy` would report them. */
async function problemsOf(
  { cluster, signal, now }: StatusContext,
  object: KubeObject,
): Promise<readonly PlatformProblem[]> {
  const { name, namespace = '' } = object.metadata
  if (statusOf(object).state === 'ready') return []
  const [all, sets, events] = await Promise.all([
    cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace }, { signal }),
    cluster.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace }, { signal }),
    cluster.list({ apiVersion: 'v1', kind: 'Event', namespace, fields: 'type=Warning' }, { signal }),
  ])
  const own = all.filter(pod => belongsTo(pod, object))
  // Includes only those of the replaced Pods that a StatefulSet is waiting for.
  const newest = newestPods(object, sets, own)
  const status = statusOf(object, newest)
  const pods = [...newest, ...replacedPods(object, own)]
  const warnings = events
    .map(toWarning)
    .filter(({ about }) => [object, ...pods].some(({ metadata }) => metadata.uid === about.uid))
  const problems = [
    ...workloadProblems(object, warnings, sets),
    ...pods.flatMap(pod =>
      podProblems(
        pod,
        warnings.filter(({ about }) => about.uid === pod.metadata.uid),
        now(),
      ),
    ),
  ]
  const told = await explainFailure(
    cluster,
    { workload: { service: name, source: '', object }, tracked: { status, pods, problems, warnings } },
    undefined,
  )
  // `deploy` suggests a change of the Compose file; here, the operator has to fix the problem.
  const hint = problems.some(({ code }) => code === 'image-pull')
    ? 'push the image there, or name another registry: `devctl platform install --image-registry HOST/PATH`'
    : `\`kubectl --namespace ${namespace} describe ${object.kind.toLowerCase()}/${name}\` shows more`
  const text = `${object.kind.toLowerCase()}/${name} is not ready: ${status.text}`
  return told.map(({ code, message, notes = [] }) =>
    // The message of this code is about a timeout, but this command does not wait.
    code === 'deploy/not-ready' ? { message: text, notes, hint } : { message, notes: [text, ...notes], hint },
  )
}

/** Returns the disk usage of the registry, in words; empty if it was not measured. */
export const registryDiskText = ({ registryDisk: disk }: Pick<PlatformStatus, 'registryDisk'>): string =>
  disk ? `; disk ${diskText(disk)}` : ''

/**
 * Returns the disk usage of the bundled registry; undefined if there is none, or if the container that measures it has
 * logged nothing.
 */
async function registryDisk({ cluster, signal, now }: StatusContext): Promise<RegistryDisk | undefined> {
  const pod = { name: REGISTRY_DISK.pod, namespace: PLATFORM_NAMESPACE }
  const { container } = REGISTRY_DISK
  const line = await lastLine(cluster, pod, { container, longest: LONGEST_MEASUREMENT, signal }).catch(error => {
    signal.throwIfAborted()
    if (error instanceof ClusterError) return ''
    throw error
  })
  const disk = readRegistryDisk(line)
  return disk && isFresh(disk, now()) ? disk : undefined
}

const leaderOf = async ({ cluster, signal, now }: StatusContext): Promise<string | undefined> =>
  toLeader(await cluster.get(leaderLease, { signal }), now())

async function reach(
  { env, signal }: StatusContext,
  url: string,
): Promise<{ readonly isReached: true } | { readonly problem: PlatformProblem }> {
  try {
    await connectPlatform(url, undefined, env).call('GET /info', {}, withTimeLimit(REACH, signal))
    return { isReached: true }
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    const said = message.includes(new URL(url).host) ? message : `\`${url}\` does not answer: ${message}`
    const hint =
      'do the DNS record and the ingress controller lead there? `kubectl get ingress --all-namespaces` shows its address'
    return { problem: { message: said, notes: [], hint } }
  }
}

async function usersOf({ cluster, signal }: StatusContext): Promise<PlatformStatus['users']> {
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE, labels: `${RECORD_LABEL}=user` }
  const all = (await cluster.list(query, { signal })).flatMap(one => toUser(one) ?? [])
  return {
    all: all.length,
    admins: all.filter(({ role }) => role === 'admin').length,
    suspended: all.filter(({ isSuspended }) => isSuspended).length,
  }
}

async function namespacesOf({ cluster, signal }: StatusContext): Promise<PlatformStatus['namespaces']> {
  const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
  const live = await cluster.list(query, { signal })
  const all = live.flatMap(one => toNamespace(one) ?? [])
  const count = (...statuses: readonly NamespaceStatus[]) =>
    all.filter(({ status }) => statuses.includes(status)).length
  const failed = count('DeleteFailed')
  const unfollowed = live.filter(({ metadata }) => metadata.annotations?.[UNFOLLOWED] !== undefined).length
  return {
    all: all.length,
    awake: count('Active', 'Waking'),
    asleep: count('Sleeping'),
    ...(unfollowed > 0 && { unfollowed }),
    ...(failed > 0 && { failed }),
  }
}

async function runsOf({ cluster, signal }: StatusContext): Promise<PlatformStatus['runs']> {
  const query = { apiVersion: 'batch/v1', kind: 'Job', namespace: RUNS_NAMESPACE, labels: `${LIVE_LABEL}=true` }
  const live = (await cluster.list(query, { signal })).flatMap(one => toRun(one) ?? [])
  const queued = live.filter(({ state }) => state === 'queued').length
  const ended = live.filter(({ state }) => hasEnded(state)).length
  return { queued, running: live.length - queued - ended }
}
