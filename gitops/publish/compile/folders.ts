import { posix } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import type { Facts, Lock } from '../../../project/lock.ts'
import { layout } from '../../repository/layout/layout.ts'
import { toBase } from '../../repository/layout/overlay.ts'
import type { ReadmeData } from '../../repository/layout/readme.ts'
import type { PublishedFolder } from '../../repository/published-folder.ts'
import type { FolderOutput } from '../../repository/tree/change.ts'
import { lockPath, type RepositoryReader } from '../../repository/tree/repository-reader.ts'
import { type Destination, sharedFolder } from '../target/destination.ts'

/** Application with its manifests, and further input for its folders. */
export interface PrintedApplication {
  /** Name of the application; a DNS label. */
  readonly application: string
  readonly manifests: readonly Manifest[]
  /** Files of the manifests, if already printed; not used for overlays. */
  readonly files?: FolderOutput['files']
  /** Base that an overlay is computed against; only for the layout with overlays. */
  readonly base?: readonly Manifest[]
  readonly about: ReadmeData
  /** Facts about the source. Absent if nothing is known of the source (`render`). */
  readonly facts?: Facts
  readonly takeOver: boolean
  /** True if nothing will be written, so that files edited by hand are reported, not rejected. */
  readonly isOnlyLooked?: boolean
}

/**
 * Returns the folders of an application in a repository: its own folder, and with overlays the folder that the
 * application's environments share. The shared folder is also returned for an environment that was an overlay before
 * and no longer needs its base. Throws a UserError if both folders are the same.
 */
export function foldersOf(
  { path, layout: name }: Pick<Destination, 'path' | 'layout'>,
  written: PrintedApplication,
  there: RepositoryReader,
): readonly PublishedFolder[] {
  const { application, manifests, about, facts, takeOver, isOnlyLooked = false } = written
  const common = {
    application,
    sources: about.sources,
    index: false,
    takeOver,
    isOnlyLooked,
  }
  const own = (files: FolderOutput['files']): PublishedFolder => ({
    path,
    output: { ...common, files, keepOthers: false, ...(facts && { facts }) },
  })
  const shared = sharedFolder(application)
  const lock = there.lock(shared)
  refuseShared(path, name, shared, lock)
  const others = otherUses(lock, path, there)
  const bases = (files: FolderOutput['files'], uses: readonly (readonly [string, string])[]): PublishedFolder => {
    const used = new Set(uses.map(([, base]) => base))
    const keepOthers = (file: string) => used.has(file.split('/', 1)[0]!)
    return { path: shared, output: { ...common, files, keepOthers, uses: Object.fromEntries(uses) } }
  }
  if (name !== 'kustomize') {
    const plain = own(written.files ?? layout(manifests, { layout: name, about }))
    return lock?.uses?.[path] === undefined ? [plain] : [plain, bases(new Map(), others)]
  }
  const base = toBase(written.base ?? manifests)
  const basePath = posix.relative(path, `${shared}/${base.name}`)
  const files = new Map([...base.files].map(([file, text]) => [`${base.name}/${file}`, text]))
  return [
    own(layout(manifests, { layout: 'kustomize', about, base: written.base ?? manifests, basePath })),
    bases(files, [...others, [path, base.name]]),
  ]
}

/**
 * Returns the environments other than the one at `path` that use a shared folder, as pairs of the environment's folder
 * and the base that it uses. Omits environments whose folders no longer exist.
 */
function otherUses(
  lock: Lock | undefined,
  path: string,
  there: RepositoryReader,
): readonly (readonly [string, string])[] {
  return Object.entries(lock?.uses ?? {}).filter(([user]) => user !== path && there.read(lockPath(user)) !== undefined)
}

/**
 * Throws a UserError if one folder would contain both bases and manifests, because each needs a lock file and a folder
 * has only one.
 */
function refuseShared(path: string, name: Destination['layout'], shared: string, lock: Lock | undefined): void {
  const isOverlay = name === 'kustomize'
  if (path === shared && (isOverlay || lock?.uses))
    throw new UserError(`\`${shared}\` is the folder for the bases of overlays`, {
      hint: `choose another one with \`--path\`, such as \`${shared}/ENVIRONMENT\``,
    })
  if (isOverlay && lock && !lock.uses)
    throw new UserError(
      `\`${shared}\`, the folder for the bases of overlays, contains manifests of the application \`${lock.application}\``,
      {
        hint: 'publish those to another folder, and remove it, or keep the layout `plain`',
      },
    )
}
