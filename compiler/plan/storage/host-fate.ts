import { basename, extname } from 'node:path/posix'
import type { MountAs, Service } from '../../compose/project.ts'
import { mayRead } from '../../compose/read/storage/outside-files.ts'
import type { PlanContext } from '../context.ts'
import type { CopiedFiles, HostContent, HostReader } from './host-content.ts'
import type { HostMount } from './host-mount.ts'
import { inHome, isInside, isSpecial, isSystem } from './host-paths.ts'

/** The decision about how to mount a host volume. */
export type HostFate =
  /** `x-mount: skip` is set, so the volume is not mounted. */
  | { readonly kind: 'skip' }
  /** The Dockerfile already copies the content to the mount path. */
  | { readonly kind: 'in-image' }
  /** A socket, device or time file, for which a node has no substitute. */
  | { readonly kind: 'socket' }
  /** A folder of the operating system, mounted from the node. */
  | { readonly kind: 'system' }
  | { readonly kind: 'copy'; readonly content: CopiedFiles; readonly as?: MountAs | undefined }
  | { readonly kind: 'claim'; readonly why: 'missing' | 'empty' | 'untracked' | 'said' | 'too-large' }
  /** `x-mount` requests a claim, but the path is a file. */
  | { readonly kind: 'claim-of-file' }
  /** The path is empty or untracked, and no service writes to it. */
  | { readonly kind: 'nothing-to-read'; readonly state: 'empty' | 'untracked' }
  | { readonly kind: 'missing' }
  /**
   * The path is missing and outside the project. If it is a folder that no service writes to, an empty folder replaces
   * it.
   */
  | { readonly kind: 'missing-outside'; readonly isFolder: boolean }
  | Exclude<HostContent, { kind: 'files' | 'data' }>

/** Input for the decisions about all host volumes. */
export interface HostWorld {
  readonly reader: HostReader
  readonly isWritten: (path: string) => boolean
  /** Returns true if the image that is built for a service contains a host path at the mount path. */
  readonly inImage: (service: Service, mount: HostMount) => boolean
}

/** Decides how a host volume is mounted. Reports only paths that devctl may not read. */
export function fateOf(context: PlanContext, world: HostWorld, service: Service, mount: HostMount): HostFate {
  const said = mount.as?.value
  if (said === 'skip') return { kind: 'skip' }
  const allowed = (path: string) => mayRead(context.host, path, mount.sourceSpan, context.reporter)
  if (said) return saidFate(world, mount, said, allowed)
  if (world.inImage(service, mount)) return { kind: 'in-image' }
  const isOwn = isInProject(context, world, mount.source)
  if (!isOwn && (isSpecial(mount.source) || context.host.stat(mount.source)?.kind === 'other'))
    return { kind: 'socket' }
  if (!isOwn && isSystem(mount.source)) return { kind: 'system' }
  const content = world.reader.read(mount.source, allowed)
  if (content.kind === 'files') return { kind: 'copy', content }
  if (content.kind === 'too-large' && content.isFolder && isOwn && isLeftToUp(context, world, service, mount))
    return { kind: 'claim', why: 'too-large' }
  if (content.kind !== 'data') return content
  const isPersonal = inHome(mount.source, context.host.homeDirectory) !== undefined
  return dataFate(world, mount, content.state, isOwn ? 'project' : isPersonal ? 'home' : 'elsewhere')
}

/**
 * True if a deploy to a cluster does not have to copy the files of a host path, because services write to the path and
 * `up` synchronizes it. False for a service whose image is built or set by the user, because such an image is expected
 * to contain the files.
 */
const isLeftToUp = (
  { options }: PlanContext,
  { isWritten }: HostWorld,
  { name, build }: Service,
  { source }: HostMount,
): boolean => options.leavesFoldersToUp === true && !build && !options.images?.has(name) && isWritten(source)

/** Returns true if a path is in the project, or in the checkout that contains the project. */
export function isInProject({ host, project }: PlanContext, { reader }: HostWorld, path: string): boolean {
  const top = reader.checkout?.root
  if (top !== undefined && isInside(host.realPath(path), top)) return true
  return isInside(path, project.directory) && isInside(host.realPath(path), host.realPath(project.directory))
}

/**
 * Applies `x-mount`, which overrides every other rule. Also copies files that git does not track, because the user
 * requests them explicitly.
 */
function saidFate(
  { reader }: HostWorld,
  { source }: HostMount,
  said: Exclude<MountAs, 'skip'>,
  allowed: (path: string) => boolean,
): HostFate {
  const found = reader.read(source, allowed)
  const content = found.kind === 'data' && said !== 'claim' ? reader.readAll(source, allowed) : found
  if (said === 'claim') return isFile(content) ? { kind: 'claim-of-file' } : { kind: 'claim', why: 'said' }
  if (content.kind === 'files') return { kind: 'copy', content, as: said }
  return content.kind !== 'data' ? content : content.state === 'missing' ? { kind: 'missing' } : nothing(content.state)
}

const isFile = (content: HostContent): boolean =>
  (content.kind === 'files' || content.kind === 'too-large') && !content.isFolder

const nothing = (state: 'empty' | 'untracked'): HostFate => ({ kind: 'nothing-to-read', state })

function dataFate(
  { isWritten }: HostWorld,
  mount: HostMount,
  state: 'missing' | 'empty' | 'untracked',
  place: 'project' | 'home' | 'elsewhere',
): HostFate {
  if (state === 'missing') {
    // A claim would become a folder, and personal files do not exist on every machine.
    const isNoFolder = mount.mustExist || isNamedLikeFile(mount)
    if (place === 'home' && (isNoFolder || isNamedLikeSetting(mount)))
      return { kind: 'missing-outside', isFolder: false }
    if (place === 'home') return { kind: 'claim', why: 'missing' }
    if (place === 'elsewhere' && !isWritten(mount.source)) return { kind: 'missing-outside', isFolder: !isNoFolder }
    if (isNoFolder) return { kind: 'missing' }
  }
  if (isWritten(mount.source)) return { kind: 'claim', why: state }
  return state === 'missing' ? { kind: 'missing' } : nothing(state)
}

/**
 * Returns true if the names in a mount indicate that the service expects a file. A claim could only provide a folder.
 */
function isNamedLikeFile({ source, target }: HostMount): boolean {
  const suffix = suffixOf(target)
  if (/^[A-Z][a-z]*file$/.test(basename(target))) return basename(source) === basename(target)
  return suffix === suffixOf(source) && /^\.[a-z]\w*$/i.test(suffix) && suffix !== '.d'
}

/**
 * Returns the suffix of a file name, such as `.yml`. Leading dots do not begin a suffix, so the result is empty for
 * `..logs`.
 */
const suffixOf = (path: string): string => extname(basename(path).replace(/^\.+/, ''))

/**
 * Matches the names of settings files in a home folder, which have no suffix, such as `~/.npmrc` and
 * `~/.ssh/known_hosts`.
 */
const SETTINGS =
  /^(?:\..+(?:rc|config|ignore|attributes|profile|history|pass|credentials)|\.env|known_hosts|authorized_keys|config|credentials|id_[a-z0-9]+)$/i

const isNamedLikeSetting = ({ source, target }: HostMount): boolean =>
  SETTINGS.test(basename(source)) && basename(source) === basename(target)
