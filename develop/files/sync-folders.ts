import { realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { realPath } from '../../adapters/files/real-path.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { AgentFolder } from '../../agent/config.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development, SyncFolder } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { type Boundary, outsideOf } from '../../project/boundary.ts'
import { userHome } from '../../project/contexts/home.ts'
import type { Workspace } from '../../project/workspace.ts'
import { IGNORE_FILE } from '../../sync/ignore/default-ignores.ts'
import { type IgnoreSource, ignoreSource } from '../../sync/scan/ignore-source.ts'
import { readIgnores } from '../../sync/scan/read-ignores.ts'
import type { LocalSyncFolder } from '../../sync/session/sync.ts'
import type { ComposeFolder } from '../select/compose-folders.ts'
import { folderRules } from '../select/folder-rules.ts'
import { checkProjectFolder, ownPathsIn, pathsIn } from './own-paths.ts'
import { inside } from './watch-patterns.ts'

/** Folder or file on this machine, and its path in the container. */
export interface LocalFolder {
  /** Name that the agent uses: `0`, `1`, … in the order of `sync.folders`. */
  readonly name: string
  /** Absolute path with links resolved. */
  readonly local: string
  /** Path as written in the manifest. */
  readonly written: string
  /** Absolute path in the container. */
  readonly remote: string
  /** Name of the only synchronized file in `local`, if `remote` is a file. */
  readonly file?: string
  /** Reads the rules for paths that are not synchronized. */
  readonly readIgnores: () => IgnoreSource
  /** Paths that belong to devctl: never synchronized, whatever an ignore file says. */
  readonly own: readonly string[]
  /** Paths in the folder that configure programs on this machine: only this machine may change them. */
  readonly onlyHere: readonly string[]
}

/** Input for resolving and checking the paths of `sync`. */
export interface FolderPlace {
  /** Folder against which relative paths are resolved. */
  readonly folder: string
  /** Boundary of the allowed paths; if undefined, all paths are allowed. */
  readonly boundary: Boundary | undefined
  /** Absolute paths of the files that determine which programs run on this machine. */
  readonly sources: readonly string[]
}

/**
 * Returns the folders of `sync`. Throws a UserError if one does not exist, is not a folder, is outside the project, or
 * is more than a project, such as the home folder.
 */
export function localFolders(
  { sync, volumes, externalVolumes }: Pick<Development, 'sync' | 'volumes' | 'externalVolumes'>,
  { folder, boundary, sources }: FolderPlace,
  workspace: Pick<Workspace, 'env' | 'cwd'>,
): readonly LocalFolder[] {
  const all = sync?.folders ?? []
  const mounts = [...all.map(({ remote }) => remote), ...volumes.map(({ value }) => value)]
  const places = withLinks(sources)
  const covering = [...mounts, ...externalVolumes.map(({ mount }) => mount)]
  return all.map((one, index) => {
    const local = existing(one, pathHere(one.local, folder, workspace.env))
    checkProjectFolder(local, one.local, [shownPlace(one.span)], workspace)
    checkInside(one, local, boundary)
    checkIgnores(local, one.local)
    const covered = covering.flatMap(other => inside(other, one.remote) ?? [])
    return {
      name: String(index),
      local,
      written: one.local,
      remote: one.remote,
      readIgnores: () => ignoreSource(local, covered),
      own: ownPathsIn(local, workspace),
      onlyHere: pathsIn(local, places),
    }
  })
}

/**
 * Throws a UserError if the ignore file has errors: a file that should be ignored may be secret, so nothing is
 * synchronized until the ignore file is correct.
 */
function checkIgnores(folder: string, written: string): void {
  const problems = readIgnores(folder, process.platform)?.problems ?? []
  if (problems.length === 0) return
  const place = (file: string | undefined, line: number) => `${join(written, file ?? IGNORE_FILE)}:${line}`
  throw new UserError(`the ignore file of \`${written}\` has errors`, {
    notes: problems.slice(0, PROBLEMS).map(({ file, line, message }) => `${place(file, line)}: ${message}`),
    hint: 'correct them; included files are in the folder',
  })
}

const PROBLEMS = 10

function checkInside({ local, span }: SyncFolder, real: string, boundary: Boundary | undefined): void {
  const outside = boundary && outsideOf(real, boundary)
  if (!outside || outside.is === 'allowed') return
  throw new UserError(`\`${local}\` of \`sync\` is outside the project: \`${real}\``, {
    notes: [shownPlace(span)],
    hint: 'name a folder of the project, or add `--allow-outside` if you trust the manifest',
  })
}

/**
 * Returns the absolute path for a path in the manifest, which is absolute, relative to the manifest's folder, or starts
 * with `~`.
 */
export const pathHere = (path: string, folder: string, env: Workspace['env']): string =>
  resolve(folder, path.replace(/^~(?=\/|$)/, userHome(env)))

function existing({ local, span }: SyncFolder, path: string): string {
  const found = statIfFound(path)
  if (found?.isDirectory()) return realpathSync(path)
  throw new UserError(`\`${local}\` of \`sync\` ${found ? 'is not a folder' : 'does not exist'}`, {
    notes: [shownPlace(span)],
    hint: found ? 'name the folder that it is in' : 'create it, or correct the path',
  })
}

/** Returns each path, followed by its real path with links resolved, or by the path again if it cannot be resolved. */
const withLinks = (paths: readonly string[]): readonly string[] => paths.flatMap(path => [path, realPath(path) ?? path])

/** Returns the folder as the agent sees it: its path in the volume, and the only file in it, if any. */
export const agentFolder = ({ name, file }: Pick<LocalFolder, 'name' | 'file'>): AgentFolder => ({
  name,
  path: join('src', name),
  ...(file !== undefined && { file }),
})

/** Returns the host volumes of a service as folders, without the paths where the container has its own content. */
export function ofHostVolumes(
  folders: readonly ComposeFolder[],
  sources: readonly string[],
  workspace: Pick<Workspace, 'env' | 'cwd'>,
): readonly LocalFolder[] {
  const places = withLinks(sources)
  return folders.map((one, index) => {
    const written = relative(workspace.cwd, join(one.local, one.file ?? '')) || '.'
    if (one.file === undefined) {
      checkProjectFolder(one.local, written, [shownPlace(one.span)], workspace)
      checkIgnores(one.local, written)
    }
    return {
      name: String(index),
      local: one.local,
      written,
      remote: one.remote,
      ...(one.file !== undefined && { file: one.file }),
      readIgnores: () => folderRules(one),
      own: ownPathsIn(one.local, workspace),
      onlyHere: pathsIn(one.local, places),
    }
  })
}

/** Returns the folder for the synchronization, with the rules for paths that are not synchronized. */
export const syncedFolder = ({ name, local, file, readIgnores, own, onlyHere }: LocalFolder): LocalSyncFolder => ({
  name,
  local,
  ...(file !== undefined && { file }),
  ignores: readIgnores(),
  readIgnores,
  own,
  onlyHere,
})

/** Returns the paths of a folder for messages, as the manifest writes them. */
export const toPair = ({ written, remote }: LocalFolder) => ({ local: written, remote })
