import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { BindMount, Mount, Service, VolumeMount } from '../project/project.ts'
import { memoryQuantity } from '../values/quantity.ts'
import { serviceAnnotations } from './annotations.ts'
import type { VolumeDecision } from './claims.ts'
import type { PlanContext } from './context.ts'
import { planHostVolume } from './host-volumes.ts'
import { cutName, slug } from './object-names.ts'
import { defaultSize, planOwnClaim } from './own-claim.ts'
import type { ClaimSpec } from './plan.ts'
import type { StoredMount } from './stored-mount.ts'

const belowHost = diagnostic({
  code: 'volumes/below-host-volume',
  severity: 'info',
  explain: `An anonymous volume below a host volume keeps the files of the image from being hidden by those of the machine: \`./src:/app\` with \`/app/node_modules\`. The host volume is not mounted in the cluster, so nothing is hidden, and the volume is left out. \`devctl up\` keeps the folder out of the synchronization.`,
  text: (p: { target: string; host: string }) => ({
    message: `the anonymous volume \`${p.target}\` is not needed, because the host volume at \`${p.host}\` is not mounted`,
  }),
})

const tmpfsOption = diagnostic({
  code: 'tmpfs/option',
  severity: 'warning',
  loss: true,
  explain:
    'A `tmpfs` becomes an `emptyDir` in memory, which has a size limit and nothing else: everybody may write to it (mode 0777), programs in it may run. Other options are left out.',
  text: (p: { target: string; options: string }) => ({
    message: `\`${p.options}\` of the tmpfs at \`${p.target}\` has no equivalent and is left out`,
  }),
})

const unsupported = diagnostic({
  code: 'volumes/unsupported-type',
  severity: 'error',
  explain:
    'Mounts of type `npipe` belong to Windows, those of type `cluster` to Swarm. Neither can be had from a Kubernetes cluster. Use a named volume.',
  text: (p: { type: string }) => ({
    message: `mounts of type \`${p.type}\` cannot be had in Kubernetes`,
    hint: 'use a named volume',
  }),
})

const recursive = diagnostic({
  code: 'volumes/bind-option',
  severity: 'warning',
  loss: true,
  explain:
    'The option tells how mounts below the host folder are passed on. Only mounts of node folders have that in Kubernetes; here it is left out.',
  text: (p: { option: string; value: string }) => ({
    message: `\`${p.option}: ${p.value}\` has no effect here and is left out`,
  }),
})

/** What the mounts of all services have in common. */
export interface MountContext extends PlanContext {
  readonly volumes: ReadonlyMap<string, VolumeDecision>
  /** Services whose anonymous volumes others use through volumes_from: they need claims of their own. */
  readonly lent: ReadonlySet<string>
  /** Volumes that some service mounts writable. */
  readonly written: ReadonlySet<string>
}

/** The services that others take mounts from, and the volumes that somebody may write to. */
export function surveyMounts(context: PlanContext, volumes: ReadonlyMap<string, VolumeDecision>): MountContext {
  const lent = new Set<string>()
  const written = new Set<string>()
  for (const service of context.project.services.values()) {
    for (const { value } of service.volumesFrom) lent.add(lenderOf(value).service)
    for (const mount of service.mounts)
      if (mount.type === 'volume' && mount.source && !mount.readOnly) written.add(mount.source)
  }
  return { ...context, volumes, lent, written }
}

/**
 * Decides what holds the data of each mount of a service, in the order of Compose: volumes, volumes_from, tmpfs,
 * shm_size.
 */
export function planMounts(context: MountContext, service: Service): readonly StoredMount[] {
  const own = ownMounts(context, service)
  const taken = new Set(own.map(({ target }) => target))
  const borrowed = borrowedMounts(context, service, new Set([service.name])).filter(({ target }) => {
    if (taken.has(target)) return false
    taken.add(target)
    return true
  })
  return [...own, ...borrowed, ...tmpfsMounts(context, service)]
}

function ownMounts(context: MountContext, service: Service): readonly StoredMount[] {
  const found: StoredMount[] = []
  const unmounted: string[] = []
  // Host volumes first: whether one is mounted decides about the anonymous volumes below it.
  const planned = new Map<Mount, StoredMount | undefined>()
  for (const mount of service.mounts) {
    if (mount.type !== 'bind') continue
    const result = planBind(context, service, mount)
    planned.set(mount, result)
    if (!result) unmounted.push(mount.target.value)
  }
  for (const mount of service.mounts) {
    if (mount.type === 'volume' && !mount.source) {
      const host = unmounted.find(target => isBelow(mount.target.value, target))
      if (host !== undefined) {
        context.reporter.report(belowHost, mount.span, { target: mount.target.value, host })
        continue
      }
    }
    const result = mount.type === 'bind' ? planned.get(mount) : planMount(context, service, mount)
    if (result) found.push(result)
  }
  return found
}

function planMount(context: MountContext, service: Service, mount: Exclude<Mount, BindMount>): StoredMount | undefined {
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span }
  const name = slug(mount.target.value) || 'root'
  switch (mount.type) {
    case 'volume':
      return mount.source ? planNamed(context, service, mount, mount.source) : planAnonymous(context, service, mount)
    case 'tmpfs': {
      // Modes that let everybody write are what an emptyDir has anyway.
      if (mount.mode !== undefined && (mount.mode & 0o777) !== 0o777)
        context.reporter.report(tmpfsOption, mount.span, {
          target: base.target,
          options: `mode=${mount.mode.toString(8)}`,
        })
      return { ...base, held: { kind: 'memory', name, ...(mount.size && { sizeLimit: memoryQuantity(mount.size) }) } }
    }
    case 'image':
      return {
        ...base,
        readOnly: true,
        held: {
          kind: 'image',
          name: `image-${name}`,
          reference: mount.source,
          ...(mount.subpath && { subPath: mount.subpath }),
        },
      }
    case 'cluster':
    case 'npipe':
      context.reporter.report(unsupported, mount.span, { type: mount.type })
      return undefined
  }
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
      // The loader has reported a volume that no file declares.
      return undefined
    case 'claim': {
      const { claim, directory, access } = decision
      // Among services that share a volume, one that may not write to it does not fill it either.
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
      return planHostVolume(context, service, {
        ...base,
        source: decision.path,
        createHostPath: false,
        sourceSpan: mount.span,
      })
  }
}

function planAnonymous(context: MountContext, service: Service, mount: VolumeMount): StoredMount {
  const path = slug(mount.target.value) || 'root'
  const spec: Omit<ClaimSpec, 'name'> = { size: defaultSize, accessMode: 'ReadWriteOnce' }
  const base = { target: mount.target.value, readOnly: mount.readOnly, span: mount.span }
  const annotations = serviceAnnotations(context, service)
  if (!context.lent.has(service.name)) {
    // A StatefulSet adds its name and a number to the name of the template.
    const name = cutName(path, 63)
    const claim = { ...spec, name, ...(annotations && { annotations }) }
    return { ...base, held: { kind: 'anonymous', name, spec: claim, fill: !mount.nocopy } }
  }
  const claim = planOwnClaim(context, service, { target: mount.target.value, span: mount.span })
  const description = `the anonymous volume \`${mount.target.value}\``
  return {
    ...base,
    held: { kind: 'claim', claim, directory: claim, description, access: 'ReadWriteOnce', fill: !mount.nocopy },
  }
}

function planBind(context: MountContext, service: Service, mount: BindMount): StoredMount | undefined {
  const result = planHostVolume(context, service, {
    source: mount.source.value,
    sourceSpan: mount.source.span,
    target: mount.target.value,
    readOnly: mount.readOnly,
    createHostPath: mount.createHostPath,
    propagation: mount.propagation,
    recursive: mount.recursive,
    span: mount.span,
  })
  if (!result) return undefined
  const { propagation, recursive: mode } = mount
  if (propagation && !/private$/.test(propagation) && !result.propagation)
    context.reporter.report(recursive, mount.span, { option: 'bind.propagation', value: propagation })
  if (mode === 'disabled') context.reporter.report(recursive, mount.span, { option: 'bind.recursive', value: mode })
  return result
}

/**
 * The mounts of the services that `volumes_from` names, and of those that these name. Targets of the service itself are
 * skipped by the caller.
 */
function borrowedMounts(context: MountContext, service: Service, seen: Set<string>): readonly StoredMount[] {
  return service.volumesFrom.flatMap(({ value }) => {
    const { service: name, readOnly } = lenderOf(value)
    const lender = context.project.services.get(name)
    if (!lender || seen.has(name)) return []
    seen.add(name)
    const mounts = [...ownMounts(context, lender), ...borrowedMounts(context, lender, seen)]
    return readOnly ? mounts.map(toReadOnly) : mounts
  })
}

/** The lender fills its volumes itself. */
function toReadOnly(mount: StoredMount): StoredMount {
  const held = 'fill' in mount.held ? { ...mount.held, fill: false } : mount.held
  return { ...mount, held, readOnly: true }
}

function lenderOf(value: string): { readonly service: string; readonly readOnly: boolean } {
  const colon = value.lastIndexOf(':')
  const mode = value.slice(colon + 1)
  if (colon < 0 || (mode !== 'ro' && mode !== 'rw')) return { service: value, readOnly: false }
  return { service: value.slice(0, colon), readOnly: mode === 'ro' }
}

function tmpfsMounts({ reporter }: MountContext, service: Service): readonly StoredMount[] {
  const found: StoredMount[] = service.tmpfs.map(({ target, span, size, options }) => {
    const lost = options.filter(option => !/^(rw|mode=0?1?777|exec|suid|dev|defaults)$/.test(option))
    if (lost.length > 0) reporter.report(tmpfsOption, span, { target, options: lost.join(',') })
    const name = slug(target) || 'root'
    return {
      target,
      readOnly: options.includes('ro'),
      span,
      held: { kind: 'memory', name, ...(size && { sizeLimit: memoryQuantity(size) }) },
    }
  })
  const { shmSize } = service
  if (shmSize && shmSize.value > 0n && !found.some(({ target }) => target === '/dev/shm'))
    found.push({
      target: '/dev/shm',
      readOnly: false,
      span: shmSize.span,
      held: { kind: 'memory', name: 'shm', sizeLimit: memoryQuantity(shmSize.value) },
    })
  return found
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? '/' : `${folder}/`)
