import type { Service } from '../../compose/project.ts'
import { type PlanContext, shellImage } from '../context.ts'
import { templateAnnotations } from '../labels/annotations.ts'
import type { Exposure } from '../network/exposure.ts'
import type { GroupWaits } from '../order/start-order.ts'
import type { ClaimSpec, ContainerMount, ContainerPlan, FillOwner, FillPlan, PodPlan, WorkloadPlan } from '../plan.ts'
import { isWritableFolder } from '../storage/folder-users.ts'
import { collectVolumes, type VolumeOwner } from '../storage/pod-volumes.ts'
import type { StoredMount } from '../storage/stored-mount.ts'
import type { Group } from '../workload/groups.ts'
import { planScheduling } from '../workload/scheduling.ts'
import { configuredImage } from './configured-image.ts'
import { planContainer, planPreStart, type StoredVariables, toLastingSidecar, toSidecar } from './container.ts'
import { imageUser, userOf } from './image-user.ts'
import { checkPreStart, planGracePeriod } from './lifecycle.ts'
import { planOnce } from './one-shot.ts'
import { planPodSettings } from './pod-settings.ts'
import { planGroups } from './security.ts'

/** Decisions about a Pod that are made before it is assembled. */
export interface PodFacts {
  readonly kind: WorkloadPlan['kind']
  readonly waiting: GroupWaits
  /** Labels that mark shared volumes. */
  readonly colocate: readonly string[]
  /** Labels of aliases and networks. */
  readonly labels: Readonly<Record<string, string>>
  readonly mountsOf: (service: Service) => readonly StoredMount[]
  /** Returns the variables whose values are configs and secrets. */
  readonly variablesOf: (service: Service) => StoredVariables
  readonly exposureOf: (service: string) => Exposure
  /** Returns true if services with different users write to a host folder. */
  readonly isSharedFolder: (mount: StoredMount) => boolean
  /** Host name by which the Pod reaches itself. */
  readonly hostname: string | undefined
  /** Second label of the dotted name by which other Pods reach the Pod; the first label is the host name. */
  readonly subdomain: string | undefined
}

export interface PlannedPod {
  readonly pod: PodPlan
  readonly claimTemplates: readonly ClaimSpec[]
}

/** Assembles the Pod of a group. */
export function planPod(context: PlanContext, group: Group, facts: PodFacts): PlannedPod {
  const { members, lead } = group
  const { waiting, colocate } = facts
  const volumes = collectVolumes(context, facts.kind)
  const containers: ContainerPlan[] = []
  const sidecars = new Map<string, PodPlan['init']>()
  const preStart: ContainerPlan[] = []
  const fills = new Map<string, FillPlan>()
  for (const member of members) {
    const owner: VolumeOwner = {
      service: member.name,
      ...(member !== lead && { prefix: context.names.of(member.name) }),
    }
    const stored = facts.mountsOf(member)
    const mounts = stored.map(mount => volumes.mount(mount, owner))
    const exposure = facts.exposureOf(member.name)
    const variables = facts.variablesOf(member)
    const container = planContainer(context, member, { exposure, mounts, variables, members })
    for (const [index, mount] of stored.entries()) {
      const owner = folderOwner(context, member, mount, facts.isSharedFolder)
      const fill = planFill(context, member, container, { stored: mount, mount: mounts[index]!, owner })
      const key = `${fill?.volume} ${fill?.directory}`
      if (fill && !fills.has(key)) fills.set(key, fill)
    }
    const hooks = planPreStart(context, member, container, variables)
    checkPreStart(context, member, lead.scale?.value ?? 1)
    if (waiting.sidecars.includes(member.name))
      sidecars.set(member.name, [
        ...hooks,
        waiting.lasting.includes(member.name)
          ? toLastingSidecar(container)
          : toSidecar(context, container, member, exposure),
      ])
    else {
      preStart.push(...hooks)
      const once = member !== lead && facts.kind !== 'Job' ? planOnce(context, member, container) : undefined
      containers.push(once ? { ...container, once } : container)
    }
  }
  const labels = { ...facts.labels, ...Object.fromEntries(colocate.map(label => [label, 'true'])) }
  const annotations = templateAnnotations(context, members)
  const pod: PodPlan = {
    services: members.map(member => context.names.of(member.name)),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(annotations && { annotations }),
    containers,
    waits: waiting.waits,
    ...(waiting.restartsWith.length > 0 && { restartsWith: waiting.restartsWith }),
    fills: [...fills.values()],
    init: [...waiting.sidecars.flatMap(name => sidecars.get(name) ?? []), ...preStart],
    volumes: volumes.volumes,
    terminationGracePeriodSeconds: planGracePeriod(context, members),
    ...planPodSettings(context, members, facts.kind),
    ...(facts.hostname !== undefined && { hostname: facts.hostname }),
    ...(facts.subdomain !== undefined && { subdomain: facts.subdomain }),
    ...planPodSecurity(context, members, fills.size > 0 || hasClaims(volumes)),
    ...planScheduling(context, members),
    ...(colocate.length > 0 && { colocate }),
  }
  return { pod, claimTemplates: volumes.claimTemplates }
}

const hasClaims = ({ volumes, claimTemplates }: ReturnType<typeof collectVolumes>): boolean =>
  claimTemplates.length > 0 || volumes.some(({ kind }) => kind === 'claim' || kind === 'ephemeral')

/**
 * Plans the supplemental groups of the Pod. Under `--policy restricted`, also plans that programs must not run as root,
 * and the group with which they can write to volumes.
 */
function planPodSecurity(
  context: PlanContext,
  members: readonly Service[],
  hasVolumes: boolean,
): Pick<PodPlan, 'supplementalGroups' | 'fsGroup' | 'runAsNonRoot'> {
  const groups = planGroups(context, members)
  const supplemental = groups.length > 0 && { supplementalGroups: groups }
  if (context.options.policy !== 'restricted') return { ...supplemental }
  const [lead] = members
  const ofImage = lead && configuredImage(context, lead)?.user
  const [uid, gid] = (lead?.user?.value ?? ofImage ?? '').split(':')
  const fsGroup = [gid, uid].map(Number).find(id => id > 0) ?? 1000
  return { ...supplemental, runAsNonRoot: true, ...(hasVolumes && { fsGroup }) }
}

/**
 * Returns the user who becomes the owner of a host folder. Under `--policy restricted` there is no owner: the Pod's
 * fsGroup lets the user write to the folder.
 */
function folderOwner(
  context: PlanContext,
  service: Service,
  mount: StoredMount,
  isShared: PodFacts['isSharedFolder'],
): FillOwner | undefined {
  if (context.options.policy === 'restricted' || !isWritableFolder(mount)) return undefined
  const user = userOf(context, service)
  return user && { ...user, isShared: isShared(mount) }
}

/**
 * Plans the step that fills an empty volume from the image's directory at the mount path, and makes `owner` the owner
 * of the volume's files. Returns undefined if the volume needs neither.
 */
function planFill(
  context: PlanContext,
  service: Service,
  { image, imagePullPolicy, security }: ContainerPlan,
  {
    stored: { held, target },
    mount: { volume, subPath },
    owner,
  }: {
    readonly stored: StoredMount
    readonly mount: ContainerMount
    readonly owner: FillOwner | undefined
  },
): FillPlan | undefined {
  if ((held.kind !== 'claim' && held.kind !== 'anonymous') || subPath === undefined) return undefined
  if (!held.fill && !owner) return undefined
  const rootless = context.options.policy === 'restricted'
  const { runAsUser, runAsGroup } = security?.runAsUser === undefined ? imageUser(context, service) : security
  return {
    volume,
    directory: subPath,
    path: target,
    image,
    imagePullPolicy,
    toolsImage: shellImage(context),
    rootless,
    ...(owner && { owner }),
    ...(!held.fill && { isEmpty: true as const }),
    // The copy runs as the service's user, so that this user owns the copied files.
    ...(rootless &&
      runAsUser !== undefined && {
        security: {
          runAsUser,
          ...(runAsGroup !== undefined && { runAsGroup }),
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        },
      }),
  }
}
