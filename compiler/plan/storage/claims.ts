import { resolve } from 'node:path/posix'
import type { Pair, Volume } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { distinctNames, toDnsSubdomain } from '../object-names.ts'
import type { ClaimSpec } from '../plan.ts'
import { parseVolumeSize } from '../workload/size.ts'
import { reportTaken } from './claim-taken.ts'
import { defaultSize } from './own-claim.ts'

const badSize = diagnostic({
  code: 'volumes/bad-size',
  severity: 'error',
  explain: `The size of a volume is a Kubernetes quantity, such as \`500Mi\` or \`10Gi\`; the default is \`1Gi\`.

\`\`\`yaml
volumes:
  data:
    driver_opts:
      size: 10Gi
\`\`\``,
  text: (p: { value: string }) => ({
    message: `\`${p.value}\` is not a valid volume size`,
    hint: 'write a quantity such as `10Gi`',
  }),
})

const badAccess = diagnostic({
  code: 'volumes/bad-access',
  severity: 'error',
  explain: `\`driver_opts.access\` is the access mode of the volume: \`ReadWriteOnce\` (the default: Pods on one node), \`ReadWriteMany\` (Pods on any node; the storage class must support it), \`ReadOnlyMany\`, \`ReadWriteOncePod\`.`,
  text: (p: { value: string; hint: string | undefined }) => ({
    message: `\`${p.value}\` is not a valid access mode`,
    hint: p.hint ?? `use ${accessModes.map(mode => `\`${mode}\``).join(', ')}`,
  }),
})

const unknownDriver = diagnostic({
  code: 'volumes/driver',
  severity: 'warning',
  loss: true,
  explain: `Volume drivers are part of the container engine. In a cluster a storage class provisions volumes; the volume becomes a claim with the default storage class.

\`\`\`yaml
volumes:
  data:
    driver_opts:
      class: fast-ssd
\`\`\``,
  text: (p: { driver: string; storageClass: string | undefined }) => ({
    message: `the volume driver \`${p.driver}\` has no equivalent; the volume becomes a claim of ${classWords(p.storageClass)}`,
    hint: p.storageClass === undefined ? 'name a storage class with `driver_opts.class`' : 'remove the driver',
  }),
})

const unknownOption = diagnostic({
  code: 'volumes/driver-option',
  severity: 'warning',
  loss: true,
  explain:
    'Volume driver options are for the container engine. devctl supports `size`, `class` and `access`, and for the local driver `type: nfs`, `type: tmpfs` and `o: bind` with their `o` and `device`. Others are left out.',
  text: (p: { name: string; value: string; hint: string | undefined }) => ({
    message: `the volume option \`${p.name}: ${p.value}\` has no equivalent and is left out`,
    hint: p.hint,
  }),
})

const unknownType = diagnostic({
  code: 'volumes/type',
  severity: 'warning',
  loss: true,
  explain: `The local driver of a container engine can mount every file system of its kernel. Pods can mount NFS and memory directly; other file systems (\`cifs\`, \`btrfs\`, …) need a CSI driver in the cluster, which a storage class selects. The volume becomes a claim.

\`\`\`yaml
volumes:
  files:
    driver_opts:
      class: smb
      access: ReadWriteMany
\`\`\``,
  text: (p: { type: string; storageClass: string | undefined }) => ({
    message: `a volume of type \`${p.type}\` has no equivalent; the volume becomes a claim of ${classWords(p.storageClass)}`,
    hint:
      p.storageClass === undefined
        ? 'name the storage class of a CSI driver with `driver_opts.class`'
        : 'remove the type',
  }),
})

const badClass = diagnostic({
  code: 'volumes/bad-class',
  severity: 'error',
  explain:
    '`driver_opts.class` names a StorageClass of the cluster. The name consists of lower-case letters, digits, `-` and `.`, and begins and ends with a letter or digit. `kubectl get storageclass` lists the available ones.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not a valid StorageClass name`,
    hint: 'use a name that `kubectl get storageclass` lists',
  }),
})

const nfsIncomplete = diagnostic({
  code: 'volumes/nfs-incomplete',
  severity: 'error',
  explain: `An NFS volume needs its server and its path:

\`\`\`yaml
driver_opts:
  type: nfs
  o: addr=10.0.0.5,rw
  device: ":/exports/data"
\`\`\``,
  text: (p: { missing: string }) => ({
    message: `the NFS volume has no ${p.missing}`,
    hint: 'write `o: addr=SERVER` and `device: ":/PATH"`',
  }),
})

const unused = diagnostic({
  code: 'volumes/unused',
  severity: 'info',
  explain: 'No service mounts this volume, so devctl does not create a claim for it. Mount it, or remove it.',
  text: (p: { volume: string }) => ({ message: `the volume \`${p.volume}\` is not used; no claim is created` }),
})

const renamedExternal = diagnostic({
  code: 'volumes/external-name',
  severity: 'warning',
  loss: true,
  explain:
    'An external resource already exists in the cluster. Names in Kubernetes consist of lower-case letters, digits, `-` and `.`. devctl uses the nearest valid name; set the real one with `name`.',
  text: (p: { what: string; written: string; name: string }) => ({
    message: `the name \`${p.written}\` of the external ${p.what} is not valid in Kubernetes; \`${p.name}\` is used`,
    hint: 'set its name in the cluster with `name:`',
  }),
})

const classWords = (name: string | undefined): string =>
  name === undefined ? 'the default storage class' : `the storage class \`${name}\``

/** Decision about how a top-level volume is stored in the cluster. */
export type VolumeDecision =
  | {
      readonly kind: 'claim'
      readonly claim: string
      readonly directory?: string
      readonly access: ClaimSpec['accessMode'] | 'unknown'
    }
  | { readonly kind: 'nfs'; readonly server: string; readonly path: string; readonly readOnly: boolean }
  | { readonly kind: 'memory'; readonly sizeLimit?: string }
  | { readonly kind: 'bind'; readonly path: string; readonly readOnly: boolean }

const accessModes = ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod'] as const

/**
 * Decides how each mounted volume is stored, and plans the claims. Reports options that are lost, and volumes that no
 * service mounts.
 */
export function planVolumes(context: PlanContext): ReadonlyMap<string, VolumeDecision> {
  const { project, reporter } = context
  const used = new Set<string>()
  for (const service of project.services.values())
    for (const mount of service.mounts) if (mount.type === 'volume' && mount.source) used.add(mount.source)
  const mounted = sortBy(
    [...project.volumes.values()].filter(({ key }) => used.has(key)),
    ({ key }) => key,
  )
  // Two keys with the same `name` are the same volume.
  const names = distinctNames(new Set(mounted.map(realName)), name => toDnsSubdomain(name), 253)
  const decisions = new Map<string, VolumeDecision>()
  for (const volume of project.volumes.values()) {
    if (used.has(volume.key)) decisions.set(volume.key, planVolume(context, volume, names.get(realName(volume))!))
    else if (!volume.external) reporter.report(unused, volume.span, { volume: volume.key })
  }
  checkClaims(context, mounted, decisions)
  return decisions
}

/**
 * Reports volumes of the project whose claim belongs to another volume, and volumes whose claim gets a longer name
 * because of another volume.
 */
function checkClaims(
  context: PlanContext,
  volumes: readonly Volume[],
  decisions: ReadonlyMap<string, VolumeDecision>,
): void {
  const claimOf = ({ key }: Volume) => {
    const decision = decisions.get(key)
    return decision?.kind === 'claim' ? decision.claim : undefined
  }
  const wanted = (volume: Volume) => toDnsSubdomain(realName(volume))
  const byWanted = new Map<string, Volume[]>()
  for (const volume of volumes)
    if (claimOf(volume) !== undefined) byWanted.set(wanted(volume), [...(byWanted.get(wanted(volume)) ?? []), volume])
  for (const volume of volumes) {
    const longer = claimOf(volume)
    const claim = wanted(volume)
    if (volume.external || longer === undefined || (isNamed(volume) && longer === claim)) continue
    const other = byWanted.get(claim)?.find(other => other !== volume && !isSameVolume(other, volume))
    const isHeld = other !== undefined && (longer !== claim || claimOf(other) === claim)
    const what = `the volume \`${volume.key}\``
    if (isHeld) reportTaken(context, { what, span: volume.span, claim, longer }, other.span)
  }
}

const realName = (volume: Volume): string => volume.name?.value ?? volume.key

const isNamed = (volume: Volume): boolean => volume.name !== undefined || volume.external

/**
 * Returns true if two top-level keys define one volume, because both are external or set `name`, and their names are
 * equal. A key without `name` never does: Compose puts the project's name before such a key.
 */
const isSameVolume = (one: Volume, other: Volume): boolean =>
  isNamed(one) && isNamed(other) && realName(one) === realName(other)

function planVolume(context: PlanContext, volume: Volume, claim: string): VolumeDecision {
  const { reporter, objects } = context
  if (volume.external) {
    reportExternalName(context, 'volume', volume, claim)
    objects.externalClaims.set(claim, volume.name?.span ?? volume.span)
    return { kind: 'claim', claim, access: 'unknown' }
  }
  const options = new Map(volume.driverOpts.map(pair => [pair.name, pair]))
  const isLocal = volume.driver === undefined || volume.driver.value === 'local'
  const storageClass = options.get('class')?.value || undefined
  if (!isLocal) reporter.report(unknownDriver, volume.driver!.span, { driver: volume.driver!.value, storageClass })
  const local = isLocal ? planLocal(context, volume, options) : undefined
  if (local) {
    reportOptions(context, options, ['type', 'o', 'device'])
    return local
  }
  const spec = claimSpec(context, claim, options)
  const type = isLocal ? options.get('type') : undefined
  const isUnknown = type !== undefined && type.value !== 'none'
  if (isUnknown) reporter.report(unknownType, type.span, { type: type.value, storageClass })
  // The options of an unknown type were dropped together with the type.
  const dropped = isUnknown ? ['type', 'o', 'device'] : type ? ['type'] : []
  reportOptions(context, options, [...claimOptions, ...dropped])
  if (!objects.claims.has(claim))
    objects.claims.set(claim, {
      name: claim,
      source: sourceOf(context, volume.span, ['volumes', volume.key]),
      span: volume.span,
      annotations: toAnnotations(context, volume.labels),
      spec,
    })
  return { kind: 'claim', claim, directory: claim, access: spec.accessMode }
}

const claimOptions = ['size', 'class', 'access']

/** Reports options that have no effect. */
function reportOptions({ reporter }: PlanContext, options: ReadonlyMap<string, Pair>, known: readonly string[]): void {
  for (const [name, { value, span }] of options)
    if (!known.includes(name))
      reporter.report(unknownOption, span, {
        name,
        value,
        hint: claimOptions.includes(name) ? undefined : didYouMean(name, claimOptions),
      })
}

function claimSpec({ reporter }: PlanContext, name: string, options: ReadonlyMap<string, Pair>): ClaimSpec {
  const size = options.get('size')
  const parsed = size && parseVolumeSize(size.value)
  if (size && !parsed) reporter.report(badSize, size.span, { value: size.value })
  const access = options.get('access')
  const mode = accessModes.find(known => known.toLowerCase() === access?.value.toLowerCase())
  if (access && !mode)
    reporter.report(badAccess, access.span, { value: access.value, hint: didYouMean(access.value, accessModes) })
  const storageClass = options.get('class')
  if (storageClass?.value && !isDnsSubdomain(storageClass.value))
    reporter.report(badClass, storageClass.span, { name: storageClass.value })
  return {
    name,
    size: parsed ?? defaultSize,
    accessMode: mode ?? 'ReadWriteOnce',
    ...(storageClass?.value && { storageClass: storageClass.value }),
  }
}

/**
 * Plans a volume for which the engine's local driver mounts something other than a new folder, such as a host folder or
 * memory. Returns undefined for an ordinary volume.
 */
function planLocal(
  context: PlanContext,
  volume: Volume,
  options: ReadonlyMap<string, Pair>,
): VolumeDecision | undefined {
  const type = options.get('type')?.value.toLowerCase()
  const flags = options.get('o')
  const device = options.get('device')
  const words = (flags?.value ?? '').split(',').filter(Boolean)
  const report = (pair: Pair, value: string) =>
    context.reporter.report(unknownOption, pair.span, { name: pair.name, value, hint: undefined })
  if (type === 'nfs' || type === 'nfs4') {
    const server = words.find(word => word.startsWith('addr='))?.slice(5) ?? /^([^:/]+):/.exec(device?.value ?? '')?.[1]
    const path = /^[^/]*:(\/.*)$/.exec(device?.value ?? '')?.[1]
    if (!server) context.reporter.report(nfsIncomplete, flags?.span ?? volume.span, { missing: 'server' })
    if (!path) context.reporter.report(nfsIncomplete, device?.span ?? volume.span, { missing: 'path' })
    const lost = words.filter(word => !/^(addr=.*|rw|ro)$/.test(word))
    if (flags && lost.length > 0) report(flags, lost.join(','))
    return { kind: 'nfs', server: server ?? '', path: path ?? '/', readOnly: words.includes('ro') }
  }
  if (type === 'tmpfs') {
    const size = words.find(word => word.startsWith('size='))?.slice(5)
    const lost = words.filter(word => !word.startsWith('size='))
    if (flags && lost.length > 0) report(flags, lost.join(','))
    const sizeLimit = size && parseVolumeSize(size)
    if (flags && size && !sizeLimit) context.reporter.report(badSize, flags.span, { value: size })
    return { kind: 'memory', ...(sizeLimit && { sizeLimit }) }
  }
  if (words.some(word => word === 'bind' || word === 'rbind') && device) {
    const lost = words.filter(word => !/^(r?bind|rw|ro|defaults)$/.test(word))
    if (flags && lost.length > 0) report(flags, lost.join(','))
    // The loader, as Compose, resolves a relative path only beside `driver: local` and exactly `o: bind`.
    return { kind: 'bind', path: resolve(context.project.directory, device.value), readOnly: words.includes('ro') }
  }
  return undefined
}

/** Reports an external object whose name is not a valid object name in Kubernetes. */
export function reportExternalName(
  { reporter }: PlanContext,
  what: 'volume' | 'config' | 'secret',
  object: Pick<Volume, 'key' | 'name' | 'span'>,
  name: string,
): void {
  const written = object.name?.value ?? object.key
  if (written !== name) reporter.report(renamedExternal, object.name?.span ?? object.span, { what, written, name })
}
