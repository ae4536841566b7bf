import type { Project, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { type PlanContext, sortBy } from '../context.ts'
import { hostModePorts } from '../network/internal-networks.ts'
import { cutName } from '../object-names.ts'
import type { WorkloadPlan } from '../plan.ts'
import type { Group } from '../workload/groups.ts'
import { checkNodeTerms, nodeTerms } from '../workload/scheduling.ts'
import type { HeldByClaim, StoredMount } from './stored-mount.ts'

const sharedByReplicas = diagnostic({
  code: 'volumes/shared-by-replicas',
  severity: 'warning',
  loss: true,
  explain: `All Pods of the service share a volume that can be mounted on one node only (\`ReadWriteOnce\`), so they all run on one node. If the storage class supports mounting on several nodes, set the access mode:

\`\`\`yaml
volumes:
  data:
    driver_opts:
      class: shared-storage
      access: ReadWriteMany
\`\`\``,
  text: (p: { service: string; description: string; count: number }) => ({
    message: `the ${p.count} Pods of \`${p.service}\` share ${p.description} and must run on one node`,
    hint: 'set `driver_opts.access: ReadWriteMany` if the storage class supports it',
  }),
})

const globalVolume = diagnostic({
  code: 'volumes/global-single-node',
  severity: 'error',
  explain:
    '`deploy.mode: global` runs a container on every node, but the volume can be mounted on one node at a time (`ReadWriteOnce`). Use an anonymous volume (one per node), `driver_opts.access: ReadWriteMany`, or another mode.',
  text: (p: { service: string; description: string }) => ({
    message: `\`${p.service}\` runs on every node, but ${p.description} can be mounted on one only`,
    hint: 'set `driver_opts.access: ReadWriteMany`, or remove `mode: global`',
  }),
})

const singlePod = diagnostic({
  code: 'volumes/single-pod',
  severity: 'error',
  explain:
    'With `ReadWriteOncePod` only one Pod can mount the volume. Here several Pods mount it, and all but one would wait forever.',
  text: (p: { description: string }) => ({
    message: `several Pods mount ${p.description}, whose access mode allows only one`,
    hint: 'use `ReadWriteOnce` or `ReadWriteMany`',
  }),
})

const apart = diagnostic({
  code: 'volumes/replicas-apart',
  severity: 'error',
  explain:
    'All Pods of the service share a volume that can be mounted on one node only (`ReadWriteOnce`), so they have to run on one node. `max_replicas_per_node: 1` and ports of the node (`mode: host`, or `network_mode: host` with ports) allow only one of them on a node, so the others would wait forever. Use `driver_opts.access: ReadWriteMany` if the storage class supports it, or one replica.',
  text: (p: { service: string; count: number; description: string; key: string }) => ({
    message: `the ${p.count} Pods of \`${p.service}\` share ${p.description} on one node, but \`${p.key}\` allows one Pod per node`,
    hint: 'remove it, use one replica, or set `driver_opts.access: ReadWriteMany` if the storage class supports it',
  }),
})

const badSwitch = diagnostic({
  code: 'volumes/bad-affinity-switch',
  severity: 'warning',
  explain:
    'The variable `DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED` is `true` or `false`. With `false`, services that share a volume can run on different nodes; otherwise they run on one node.',
  text: (p: { value: string }) => ({
    message: `\`DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED=${p.value}\` is neither \`true\` nor \`false\`; \`true\` is used`,
    hint: 'to let services that share a volume run on different nodes, write `false`',
  }),
})

/** A Pod with its mounts. */
export interface MountingPod {
  readonly group: Group
  readonly kind: WorkloadPlan['kind']
  readonly mounts: readonly { readonly service: Service; readonly mount: StoredMount }[]
}

interface Use {
  readonly pod: MountingPod
  readonly service: Service
  readonly span: Span
  readonly held: HeldByClaim
}

/**
 * Finds the claims that several Pods mount. Returns the labels that schedule these Pods to the same node, by group.
 * Reports Pods that cannot share a claim.
 */
export function planSharing(context: PlanContext, pods: readonly MountingPod[]): ReadonlyMap<Group, readonly string[]> {
  const { volumeAffinity = 'true' } = context.options
  if (!/^(true|false)$/i.test(volumeAffinity)) context.reporter.report(badSwitch, undefined, { value: volumeAffinity })
  const uses = new Map<string, Map<Group, Use>>()
  for (const pod of pods)
    for (const { service, mount } of pod.mounts) {
      if (mount.held.kind !== 'claim') continue
      const ofClaim = uses.get(mount.held.claim) ?? new Map<Group, Use>()
      uses.set(mount.held.claim, ofClaim)
      if (!ofClaim.has(pod.group)) ofClaim.set(pod.group, { pod, service, span: mount.span, held: mount.held })
    }
  const shared = sortBy(uses, ([claim]) => claim).flatMap(([claim, ofClaim]) => {
    const users = sortBy(ofClaim.values(), ({ pod }) => pod.group.lead.name)
    return mustColocate(context, users) ? [{ label: labelOf(claim), users }] : []
  })
  return new Map(
    uniteShared(shared).flatMap(({ labels, users }) => {
      checkNodes(context, users)
      for (const use of users) checkSpread(context, use)
      return users.map(({ pod }) => [pod.group, labels] as const)
    }),
  )
}

const labelOf = (claim: string): string => `dev.platform/${cutName(`volume-${claim.replaceAll('.', '-')}`, 63)}`

/** Pods that must run on one node, with the labels of all claims that these Pods share. */
interface Colocated {
  readonly labels: readonly string[]
  /** The uses of claims by the Pods, one use for each Pod. */
  readonly users: readonly Use[]
}

/**
 * Unites claims that are connected by Pods that mount several of them. For a new Pod with several terms of a required
 * affinity, the scheduler looks only for a node with a Pod that matches all of them. So each of the connected Pods gets
 * the labels of all claims.
 */
function uniteShared(
  shared: readonly { readonly label: string; readonly users: readonly Use[] }[],
): readonly Colocated[] {
  let united: readonly Colocated[] = []
  for (const { label, users } of shared) {
    const groups = new Set(users.map(({ pod }) => pod.group))
    const isConnected = (one: Colocated) => one.users.some(({ pod }) => groups.has(pod.group))
    const joined = [...united.filter(isConnected), { labels: [label], users }]
    const all = new Map(joined.flatMap(one => one.users.map(use => [use.pod.group, use] as const)))
    united = [
      ...united.filter(one => !isConnected(one)),
      {
        labels: joined.flatMap(({ labels }) => labels).sort(),
        users: sortBy(all.values(), ({ pod }) => pod.group.lead.name),
      },
    ]
  }
  return united
}

function mustColocate(context: PlanContext, users: readonly Use[]): boolean {
  const { reporter, options } = context
  const { access, description } = users[0]!.held
  const isSingle = access === 'ReadWriteOnce' || access === 'ReadWriteOncePod'
  if (isSingle)
    for (const { pod, service, span } of users)
      if (pod.kind === 'DaemonSet') reporter.report(globalVolume, span, { service: service.name, description })
  const isScaled = users.some(({ pod }) => (pod.group.lead.scale?.value ?? 1) > 1)
  const isShared = users.length > 1 || isScaled
  if (access === 'ReadWriteOncePod' && isShared) reporter.report(singlePod, users[0]!.span, { description })
  // If a global service mounts the volume, every node needs it, so the Pods cannot all run on one node.
  if (
    !isShared ||
    access === 'ReadWriteMany' ||
    access === 'ReadOnlyMany' ||
    options.volumeAffinity?.toLowerCase() === 'false'
  )
    return false
  if (users.some(({ pod }) => pod.kind === 'DaemonSet')) return false
  for (const { pod, span } of users) {
    const { lead } = pod.group
    const count = lead.scale?.value ?? 1
    if (count > 1)
      reporter.report(sharedByReplicas, lead.scale?.span ?? span, { service: lead.name, description, count }, [
        { span, message: `${description} is mounted here` },
      ])
  }
  return true
}

/** Reports Pods that must run on the same node but request different nodes. */
function checkNodes(context: PlanContext, users: readonly Use[]): void {
  const members = users.flatMap(({ pod }) => pod.group.members)
  checkNodeTerms(
    context,
    members.flatMap(member => nodeTerms(context, member)),
  )
}

/** Reports a Pod whose replicas must run on the same node but whose settings allow only one of them on a node. */
function checkSpread({ project, reporter }: PlanContext, { pod: { group }, span, held }: Use): void {
  const { lead, members } = group
  const count = lead.scale?.value ?? 1
  const kept = count > 1 && members.flatMap(member => keepsApart(project, member))[0]
  if (!kept) return
  reporter.report(apart, kept.span, { service: lead.name, count, description: held.description, key: kept.key }, [
    { span, message: `${held.description} is mounted here` },
  ])
}

/** Returns the settings of a service because of which a node has room for only one of its Pods. */
const keepsApart = (project: Project, service: Service): readonly { key: string; span: Span }[] => [
  ...(service.deploy.maxReplicasPerNode?.value === 1
    ? [{ key: 'max_replicas_per_node: 1', span: service.deploy.maxReplicasPerNode.span }]
    : []),
  ...hostModePorts(project, service).map(({ span }) => ({ key: 'mode: host', span })),
  // On the network of its node, every port of a container is a port of the node.
  ...(service.networkMode?.value === 'host' && service.ports.length + service.expose.length > 0
    ? [{ key: 'network_mode: host', span: service.networkMode.span }]
    : []),
]
