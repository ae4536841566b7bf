import { dirname, join, relative } from 'node:path/posix'
import type { Service } from '../../compose/project.ts'
import type { Span } from '../../text/source.ts'
import { shortHash } from '../../values/dns-name.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName, distinctNames, slug } from '../object-names.ts'
import { reportTaken } from './claim-taken.ts'
import type { HostMount } from './host-mount.ts'
import { inHome, isInside, shown } from './host-paths.ts'
import { defaultSize } from './own-claim.ts'
import type { StoredMount } from './stored-mount.ts'

/** A host path, as mounted by one service. */
export interface HostUse {
  readonly service: Service
  readonly mount: HostMount
}

/** The claim for a data folder. */
export interface FolderClaim {
  readonly claim: string
  /** Path of the folder within the claim, if the claim belongs to a parent folder. */
  readonly subPath?: string
}

/**
 * Returns a function that is true for a host path that a service writes to, for every path inside it, and for its
 * parent folders.
 */
export function writtenPaths(uses: readonly HostUse[]): (path: string) => boolean {
  const written = new Set(uses.filter(({ mount }) => !mount.readOnly).map(({ mount }) => mount.source))
  const around = new Set([...written].flatMap(path => upwards(path)))
  return path => around.has(path) || upwards(path).some(one => written.has(one))
}

/**
 * Assigns claims to the data folders, with names derived from their paths. All services that mount a folder share its
 * claim, including services that mount it as part of a `copied` folder. A folder inside another data folder is part of
 * the outer folder's claim, as it is on the host.
 */
export function folderClaims(
  context: PlanContext,
  { data, copied }: { readonly data: readonly HostUse[]; readonly copied: readonly HostUse[] },
  isOwn: (path: string) => boolean,
): (path: string) => FolderClaim {
  const { project, objects, host } = context
  const paths = new Set(data.map(({ mount }) => mount.source))
  const topOf = (path: string) => upwards(path).findLast(one => paths.has(one)) ?? path
  const users = new Map<string, Map<string, HostUse>>()
  for (const use of sortBy(data, ({ service }) => service.name)) {
    const top = topOf(use.mount.source)
    const known = users.get(top) ?? new Map<string, HostUse>()
    users.set(top, known)
    if (!known.has(use.service.name)) known.set(use.service.name, use)
  }
  // Services that mount a copied folder around the data folder come after those that mount the data folder itself.
  for (const use of sortBy(copied, ({ service }) => service.name))
    for (const [top, known] of users)
      if (isInside(top, use.mount.source) && !known.has(use.service.name)) known.set(use.service.name, use)
  // The absolute path of a folder in the project or in the home folder differs between machines.
  const written = (path: string) => {
    if (isOwn(path)) return relative(project.directory, path) || '.'
    const personal = inHome(path, host.homeDirectory)
    return personal === undefined ? path : join('home', personal)
  }
  const byWritten = distinctNames([...users.keys()].map(written).sort(), claimName, 63)
  const own = new Set<string>()
  const nameOf = (path: string) => {
    const name = byWritten.get(written(path)) ?? claimName(written(path))
    return objects.claims.has(name) && !own.has(name) ? `${cutName(name, 57)}-${shortHash(written(path), 5)}` : name
  }
  const checkName = (path: string, claim: string) => {
    const wanted = claimName(written(path))
    const span = placeOf(users.get(path))
    const rival = [...users].find(([one]) => one !== path && claimName(written(one)) === wanted)?.[1]
    const held = objects.claims.get(wanted)?.span ?? placeOf(rival)
    const other = claim === wanted ? objects.externalClaims.get(wanted) : held
    const what = `the folder \`${shown(path, project.directory)}\``
    if (span && other) reportTaken(context, { what, span, claim: wanted, longer: claim }, other)
  }
  return path => {
    const top = topOf(path)
    const claim = nameOf(top)
    checkName(top, claim)
    own.add(claim)
    if (!objects.claims.has(claim))
      objects.claims.set(claim, claimPlan(context, claim, [...(users.get(top)?.values() ?? [])]))
    return { claim, ...(top !== path && { subPath: relative(top, path) }) }
  }
}

const placeOf = (users: ReadonlyMap<string, HostUse> | undefined): Span | undefined =>
  users?.values().next().value?.mount.sourceSpan

const claimName = (path: string): string => cutName(slug(path) || 'project', 63)

function claimPlan(context: PlanContext, name: string, users: readonly HostUse[]) {
  const [first] = users
  const { service, mount } = first!
  // A folder that several services share belongs to none of them, like a named volume.
  const isShared = users.length > 1
  return {
    name,
    source: sourceOf(context, mount.span, ['services', service.name, 'volumes']),
    ...(!isShared && { service: context.names.of(service.name) }),
    span: mount.span,
    annotations: isShared ? undefined : toAnnotations(context, [], service.labels),
    spec: { name, size: defaultSize, accessMode: 'ReadWriteOnce' as const },
  }
}

/** Returns the storage for the mount of a data folder, which is the claim of the folder. */
export function heldByFolder(
  { project }: PlanContext,
  { claim, subPath }: FolderClaim,
  mount: HostMount,
  fill: boolean,
): StoredMount['held'] {
  return {
    kind: 'claim',
    claim,
    directory: claim,
    ...(subPath !== undefined && { subPath }),
    isFolder: true,
    description: `the folder \`${shown(mount.source, project.directory)}\``,
    access: 'ReadWriteOnce',
    fill,
  }
}

/** Returns a path and all of its parent folders, innermost first. */
function upwards(path: string): readonly string[] {
  const found = [path]
  for (let at = path; at !== dirname(at); ) {
    at = dirname(at)
    found.push(at)
  }
  return found
}

/**
 * A function that decides if a problem with a path is reported. Returns true for the first call with a code and a path,
 * and for later calls with the same code, path and span.
 */
export type Once = (code: string, path: string, span: Span) => boolean

/**
 * Returns a function that limits the reports for each code and path to the first position. Later calls with the span of
 * that position also return true.
 */
export function oncePerPath(): Once {
  const places = new Map<string, Span>()
  return (code, path, span) => {
    const key = `${code} ${path}`
    const known = places.get(key)
    if (known === undefined) places.set(key, span)
    return known === undefined || known === span
  }
}
