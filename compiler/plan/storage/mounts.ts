import type { BindMount, Mount, Pair, Service, VolumeMount } from '../../compose/project.ts'
import { mayRead } from '../../compose/read/storage/outside-files.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { isProtection } from '../../values/kubernetes/keep.ts'
import type { PlanContext } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName, slug } from '../object-names.ts'
import type { ClaimSpec } from '../plan.ts'
import { builtImageHolds } from '../pod/built-image.ts'
import { planImage } from '../pod/image.ts'
import { joiningKeys } from '../workload/groups.ts'
import type { VolumeDecision } from './claims.ts'
import { hostReader } from './host-content.ts'
import { fateOf, type HostWorld, isInProject } from './host-fate.ts'
import { folderClaims, type HostUse, oncePerPath, writtenPaths } from './host-folders.ts'
import type { HostMount } from './host-mount.ts'
import { isInside } from './host-paths.ts'
import { checkHostVolume, type HostVolumes, planDataWithin, planHostVolume } from './host-volumes.ts'
import { checkMemory, planMemoryMounts, planTmpfsMount } from './memory-volumes.ts'
import { defaultSize, planOwnClaim } from './own-claim.ts'
import { type Held, type StoredMount, withoutSharing } from './stored-mount.ts'
import { lenderOf, lendersOf } from './volume-lenders.ts'

const belowHost = diagnostic({
  code: 'volumes/below-host-volume',
  severity: 'info',
  explain: `An anonymous volume below a host volume keeps files of the image visible that the host volume would hide: \`./src:/app\` with \`/app/node_modules\`. The host volume is not mounted in the cluster and hides nothing, so the anonymous volume is left out. \`devctl up\` does not synchronize the folder.`,
  text: (p: { target: string; host: string }) => ({
    message: `the anonymous volume \`${p.target}\` is left out: the host volume at \`${p.host}\` is not mounted, so it hides nothing`,
  }),
})

const imageGate = diagnostic({
  code: 'volumes/image',
  severity: 'warning',
  explain: `Image volumes are a recent feature of Kubernetes: on by default since 1.35, behind the feature gate \`ImageVolume\` since 1.31. If the gate is off, the API server silently drops the mount, and the container starts without the files. To support older clusters, copy the files into the image of the service:

\`\`\`yaml
build:
  dockerfile_inline: |
    FROM nginx:1.27
    COPY --from=registry.example.com/assets:4 / /usr/share/nginx/html
\`\`\``,
  text: () => ({
    message: 'mounting an image needs Kubernetes 1.35, or its feature gate `ImageVolume`',
    hint: 'for older clusters, build an image that contains the files',
  }),
})

const unsupported = diagnostic({
  code: 'volumes/unsupported-type',
  severity: 'error',
  explain:
    'Mounts of type `npipe` are for Windows, mounts of type `cluster` for Swarm. devctl supports neither. Use a named volume.',
  text: (p: { type: string }) => ({
    message: `mounts of type \`${p.type}\` are not supported in Kubernetes`,
    hint: 'use a named volume',
  }),
})

const uselessAs = diagnostic({
  code: 'volumes/mount-without-host',
  severity: 'warning',
  explain:
    '`x-mount` decides if a host path becomes a ConfigMap, a Secret, a claim or nothing. This mount has no host path.',
  text: () => ({ message: '`x-mount` has no effect on a mount without a host path', hint: 'remove it' }),
})

const recursive = diagnostic({
  code: 'volumes/bind-option',
  severity: 'warning',
  loss: true,
  explain:
    'The option controls how mounts below the host folder propagate. Kubernetes supports it for folders of the node only; here it is left out.',
  text: (p: { option: string; value: string }) => ({
    message: `\`${p.option}: ${p.value}\` has no effect here and is left out`,
  }),
})

const onlyPrivileged = diagnostic({
  code: 'volumes/shared-propagation',
  severity: 'warning',
  loss: true,
  explain:
    'With the propagation `shared` or `rshared`, mounts that a container makes below the folder appear on the node. Kubernetes allows this for privileged containers only, so other containers get `rslave`: they see new mounts of the node, and keep their own to themselves.',
  text: (p: { target: string }) => ({
    message: `mounts that the container makes below \`${p.target}\` do not reach the node: it is not privileged`,
    hint: 'write `privileged: true`, or `rslave` if the container makes no mounts',
  }),
})

const anonymousShared = diagnostic({
  code: 'volumes/anonymous-shared',
  severity: 'warning',
  explain: `Each Pod of a service has its own claim for an anonymous volume. If another service mounts the volume with \`volumes_from\`, it becomes one claim that both share, with another name. Data does not move between the two: when \`volumes_from\` is added or removed, the service starts with an empty volume, and the claim with the earlier data is kept. A named volume stays the same: \`volumes: [data:/data]\`.`,
  text: (p: { lender: string; target: string; claim: string; alone: string | undefined }) => ({
    message: `the anonymous volume \`${p.target}\` of \`${p.lender}\` becomes the claim \`${p.claim}\`, because it is shared`,
    notes:
      p.alone === undefined
        ? undefined
        : [`data that it had without \`volumes_from\` stays in claims such as \`${p.alone}\``],
    hint: `use a named volume; with \`name: ${p.claim}\`, it has the data of this claim`,
  }),
})

/** The context shared by the mounts of all services. */
export interface MountContext extends PlanContext {
  readonly volumes: ReadonlyMap<string, VolumeDecision>
  /**
   * Services whose anonymous volumes other services use through volumes_from, so that these volumes need their own
   * claims.
   */
  readonly lent: ReadonlySet<string>
  /** Volumes that at least one service mounts writable. */
  readonly written: ReadonlySet<string>
  readonly hosts: HostVolumes
}

/** Finds the services whose mounts other services use, and the volumes that services may write to. */
export function surveyMounts(context: PlanContext, volumes: ReadonlyMap<string, VolumeDecision>): MountContext {
  const lent = new Set<string>()
  const written = new Set<string>()
  for (const service of context.project.services.values()) {
    for (const { value } of service.volumesFrom) lent.add(lenderOf(value).service)
    for (const mount of service.mounts)
      if (mount.type === 'volume' && mount.source && !mount.readOnly) written.add(mount.source)
  }
  return { ...context, volumes, lent, written, hosts: surveyHosts(context, volumes) }
}

/**
 * Collects the uses of host paths by all services. How a service mounts a path depends on the other services that write
 * to the path, and on mounted paths inside or around it.
 */
function surveyHosts(context: PlanContext, volumes: ReadonlyMap<string, VolumeDecision>): HostVolumes {
  const { host, project } = context
  const uses = [...project.services.values(), ...project.incompleteServices].flatMap(service =>
    service.mounts.flatMap((mount): readonly HostUse[] => {
      const found = hostMount(mount, volumes)
      return found ? [{ service, mount: found }] : []
    }),
  )
  const reader = hostReader(host, project.directory)
  const world: HostWorld = {
    reader,
    isWritten: writtenPaths(uses),
    // An image that another machine builds does not contain untracked files.
    inImage: (service, { source, target, sourceSpan }) =>
      builtImageHolds(context, service, source, target) &&
      reader.read(source, path => mayRead(host, path, sourceSpan, context.reporter)).kind !== 'data',
  }
  const planned = uses.filter(({ service }) => project.services.has(service.name))
  const decided = planned.map(use => ({ use, fate: fateOf(context, world, use.service, use.mount) }))
  const data = decided.flatMap(({ use, fate }) => (fate.kind === 'claim' ? [use] : []))
  const copied = decided.flatMap(({ use, fate }) => (fate.kind === 'copy' && fate.content.isFolder ? [use] : []))
  return {
    world,
    claimOf: folderClaims(context, { data, copied }, path => isInProject(context, world, path)),
    dataFolders: outermost(data.map(({ mount }) => mount.source)),
    once: oncePerPath(),
    unversioned: new Map(),
  }
}

const outermost = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].filter(path => !paths.some(other => other !== path && isInside(path, other))).sort()

/**
 * Returns the host path of a mount: the path of a bind mount, or of a volume that is a bind mount of the local driver.
 */
function hostMount(mount: Mount, volumes: ReadonlyMap<string, VolumeDecision>): HostMount | undefined {
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span, as: mount.as }
  if (mount.type === 'bind') {
    const { source, createHostPath, mustExist, propagation, recursive: mode } = mount
    const bind = { createHostPath, mustExist, propagation, recursive: mode }
    return { ...base, ...bind, source: source.value, sourceSpan: source.span }
  }
  const decision = mount.type === 'volume' && mount.source ? volumes.get(mount.source) : undefined
  if (decision?.kind !== 'bind') return undefined
  return {
    ...base,
    readOnly: base.readOnly || decision.readOnly,
    source: decision.path,
    sourceSpan: mount.span,
    createHostPath: false,
    mustExist: false,
  }
}

/**
 * Decides where the data of each mount of a service is stored, in the order of Compose: volumes, volumes_from, tmpfs,
 * shm_size.
 */
export function planMounts(context: MountContext, service: Service): readonly StoredMount[] {
  const own = ownMounts(context, service)
  const taken = new Set([...own, ...service.tmpfs].map(({ target }) => target))
  const borrowed = borrowedMounts(context, service).filter(({ target }) => {
    if (taken.has(target)) return false
    taken.add(target)
    return true
  })
  const volumes = [...own, ...borrowed].map(mount => limitPropagation(context, service, mount))
  const all = [...volumes, ...planMemoryMounts(context, service, taken)]
  checkMemory(context, service, all)
  return all
}

/** Limits the propagation of a mount of an unprivileged service, and reports the limit. */
function limitPropagation({ reporter }: MountContext, { privileged }: Service, mount: StoredMount): StoredMount {
  if (mount.propagation !== 'Bidirectional' || privileged?.value) return mount
  reporter.report(onlyPrivileged, mount.span, { target: mount.target })
  return withoutSharing(mount)
}

/** Reports unavailable host volumes of services that are not planned because other keys are in error. */
export function checkIncomplete(context: MountContext): void {
  for (const service of context.project.incompleteServices)
    for (const mount of service.mounts) {
      const host = hostMount(mount, context.volumes)
      if (host) checkHostVolume(context, context.hosts, service, host)
    }
}

function ownMounts(context: MountContext, service: Service): readonly StoredMount[] {
  const found: StoredMount[] = []
  const unmounted: string[] = []
  // Plan host volumes first, because anonymous volumes below one are mounted only if it is mounted.
  const planned = new Map<Mount, StoredMount | undefined>()
  for (const mount of service.mounts) {
    if (mount.type !== 'bind') continue
    const result = planBind(context, service, mount)
    planned.set(mount, result)
    if (!result) unmounted.push(mount.target.value)
  }
  for (const mount of service.mounts) {
    if (isAnonymous(mount)) {
      const host = unmounted.find(target => isBelow(mount.target.value, target))
      if (host !== undefined) {
        context.reporter.report(belowHost, mount.span, { target: mount.target.value, host })
        continue
      }
    }
    const result = mount.type === 'bind' ? planned.get(mount) : planMount(context, service, mount)
    if (result) found.push(result, ...dataWithin(context, service, mount, result))
  }
  return found
}

/**
 * Returns mounts for the data folders inside a copied folder, except folders at or below a mount of the service inside
 * the copied folder. Returns none for a DaemonSet, which cannot share a claim.
 */
function dataWithin(
  context: MountContext,
  service: Service,
  mount: Mount,
  copied: StoredMount,
): readonly StoredMount[] {
  const host = hostMount(mount, context.volumes)
  if (!host || service.deploy.mode?.value === 'global') return []
  const isTaken = (path: string) =>
    service.mounts.some(
      ({ target }) => target.value === path || (isBelow(path, target.value) && isBelow(target.value, host.target)),
    )
  return planDataWithin(context, context.hosts, host, copied, isTaken)
}

function planMount(context: MountContext, service: Service, mount: Exclude<Mount, BindMount>): StoredMount | undefined {
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span }
  const name = slug(mount.target.value) || 'root'
  if (mount.as && !hostMount(mount, context.volumes)) context.reporter.report(uselessAs, mount.as.span, undefined)
  switch (mount.type) {
    case 'volume':
      return mount.source ? planNamed(context, service, mount, mount.source) : planAnonymous(context, service, mount)
    case 'tmpfs':
      return planTmpfsMount(context, mount)
    case 'image':
      context.reporter.report(imageGate, mount.span, undefined)
      return {
        ...base,
        readOnly: true,
        held: {
          kind: 'image',
          name: `image-${name}`,
          ...imageOf(context, mount.source),
          ...(mount.subpath && { subPath: mount.subpath }),
        },
      }
    case 'cluster':
    case 'npipe':
      context.reporter.report(unsupported, mount.span, { type: mount.type })
      return undefined
  }
}

/**
 * Returns the image of an image mount. If the source is the name of a service in the project, returns the image of that
 * service.
 */
function imageOf(
  context: MountContext,
  source: string,
): Pick<Extract<Held, { kind: 'image' }>, 'reference' | 'pullPolicy'> {
  const service = context.project.services.get(source)
  if (!service) return { reference: source }
  const { image, imagePullPolicy } = planImage(context, service)
  return { reference: image, pullPolicy: imagePullPolicy }
}

function planNamed(
  context: MountContext,
  service: Service,
  mount: VolumeMount,
  source: string,
): StoredMount | undefined {
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span }
  const decision = context.volumes.get(source)
  const subPath = mount.subpath && { subPath: mount.subpath }
  const name = slug(source) || 'volume'
  switch (decision?.kind) {
    case undefined:
      // The loader has already reported a volume that no file declares.
      return undefined
    case 'claim': {
      const { claim, directory, access } = decision
      annotateClaim(context, claim, mount)
      // If services share a volume, a service that mounts it read-only does not fill it.
      const mayFill = !mount.readOnly || !context.written.has(source)
      const fill = directory !== undefined && !mount.nocopy && !mount.subpath && mayFill && access !== 'ReadOnlyMany'
      const description = `the volume \`${source}\``
      return {
        ...base,
        held: { kind: 'claim', claim, access, description, fill, ...(directory && { directory }), ...subPath },
      }
    }
    case 'nfs':
      return {
        ...base,
        readOnly: mount.readOnly || decision.readOnly,
        held: { kind: 'nfs', name, server: decision.server, path: decision.path, ...subPath },
      }
    case 'memory':
      return { ...base, held: { ...decision, name } }
    case 'bind':
      return planHostVolume(context, context.hosts, service, hostMount(mount, context.volumes)!)
  }
}

/** Adds a mount's `volume.labels` to the annotations of the claim. Labels of the volume itself take precedence. */
function annotateClaim(context: MountContext, claim: string, { labels }: VolumeMount): void {
  const plan = context.objects.claims.get(claim)
  const own = labels.length > 0 && toAnnotations(context, labels)
  if (plan && own) context.objects.claims.set(claim, { ...plan, annotations: { ...own, ...plan.annotations } })
}

function planAnonymous(context: MountContext, service: Service, mount: VolumeMount): StoredMount {
  const path = slug(mount.target.value) || 'root'
  const spec: Omit<ClaimSpec, 'name'> = { size: defaultSize, accessMode: 'ReadWriteOnce' }
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span }
  const { labels } = mount
  if (!context.lent.has(service.name)) {
    // A StatefulSet appends its name and a number to the name of the template.
    const name = cutName(path, 63)
    const annotations = toAnnotations(context, labels, service.labels.filter(isProtecting))
    const claim = { ...spec, name, ...(annotations && { annotations }) }
    return { ...base, held: { kind: 'anonymous', name, spec: claim, fill: !mount.nocopy } }
  }
  const claim = planOwnClaim(context, service, { target: mount.target.value, span: mount.span, labels })
  const description = `the anonymous volume \`${mount.target.value}\``
  return {
    ...base,
    held: { kind: 'claim', claim, directory: claim, description, access: 'ReadWriteOnce', fill: !mount.nocopy },
  }
}

/**
 * Returns true for a label that protects an object from deletion. Such a label of a service also applies to the
 * service's claim templates. Other labels do not: they change more often, as a version does, and a claim template is
 * immutable.
 */
const isProtecting = ({ name, value }: Pair): boolean => isProtection(name, value)

function planBind(context: MountContext, service: Service, mount: BindMount): StoredMount | undefined {
  const result = planHostVolume(context, context.hosts, service, hostMount(mount, context.volumes)!)
  if (!result) return undefined
  const { propagation, recursive: mode } = mount
  if (propagation && !/private$/.test(propagation) && !result.propagation)
    context.reporter.report(recursive, mount.span, { option: 'bind.propagation', value: propagation })
  if (mode === 'disabled') context.reporter.report(recursive, mount.span, { option: 'bind.recursive', value: mode })
  return result
}

/** Returns the mounts of the services in `volumes_from`. The caller skips mount paths that the service uses itself. */
function borrowedMounts(context: MountContext, service: Service): readonly StoredMount[] {
  return lendersOf(context.project, service).flatMap(({ lender, readOnly, span }) => {
    const own = ownMounts(context, lender)
    context.reporter.budget.spend('values', own.length, span)
    reportShared(context, lender, own, span)
    return readOnly ? own.map(toReadOnly) : own
  })
}

/**
 * Reports anonymous volumes of `lender` that are stored in other claims than usual, because another service shares them
 * through `volumes_from`.
 */
function reportShared(context: MountContext, lender: Service, mounts: readonly StoredMount[], span: Span): void {
  const { names, reporter } = context
  const anonymous = new Set(lender.mounts.flatMap(mount => (isAnonymous(mount) ? [mount.span] : [])))
  for (const { held, target, span: place } of mounts) {
    if (held.kind !== 'claim' || !anonymous.has(place)) continue
    const template = cutName(slug(target) || 'root', 60)
    const alone = joiningKeys(lender).length > 0 ? undefined : `${template}-${names.of(lender.name)}-0`
    const related = [{ span: place, message: 'the volume is here' }]
    reporter.report(anonymousShared, span, { lender: lender.name, target, claim: held.claim, alone }, related)
  }
}

const isAnonymous = (mount: Mount): boolean => mount.type === 'volume' && !mount.source

/** Makes a borrowed mount read-only. Does not fill its volume, because the service that lends the volume fills it. */
function toReadOnly(mount: StoredMount): StoredMount {
  const held = 'fill' in mount.held ? { ...mount.held, fill: false } : mount.held
  return { ...mount, held, readOnly: true }
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? '/' : `${folder}/`)
