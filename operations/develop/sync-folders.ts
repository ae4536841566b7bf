import { realpathSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { AgentFolder } from '../../agent/config.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development, SyncFolder } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { type IgnoreSource, ignoreSource } from '../../sync/ignore-source.ts'
import type { LocalSyncFolder } from '../../sync/sync.ts'
import { userHome } from '../contexts/home.ts'
import type { Workspace } from '../workspace.ts'
import type { ComposeFolder } from './compose-folders.ts'
import { folderRules } from './folder-rules.ts'

/** A folder or file of this machine, and its place in the container. */
export interface LocalFolder {
  /** As the agent calls it: `0`, `1`, … in the order of `sync.folders`. */
  readonly name: string
  /** Absolute, links followed. */
  readonly local: string
  /** As the manifest writes it. */
  readonly written: string
  /** Absolute, in the container. */
  readonly remote: string
  /** The name in `local` of the only file that is synchronized, where `remote` is a file. */
  readonly file?: string
  /** What is not synchronized; absent: what its ignore file says. */
  readonly ignores?: IgnoreSource
}

/**
 * The folders of `sync`. `folder` is what relative paths are of. Throws a UserError for one that is
 * not there, or is no folder.
 */
export function localFolders(
  { sync }: Pick<Development, 'sync'>,
  folder: string,
  { env }: Pick<Workspace, 'env'>,
): readonly LocalFolder[] {
  return (sync?.folders ?? []).map((one, index) => ({
    name: String(index),
    local: existing(one, pathHere(one.local, folder, env)),
    written: one.local,
    remote: one.remote,
  }))
}

/** The absolute path of one that the manifest writes: relative to its folder, absolute, or from `~`. */
export const pathHere = (path: string, folder: string, env: Workspace['env']): string =>
  resolve(folder, path.replace(/^~(?=\/|$)/, userHome(env)))

function existing({ local, span }: SyncFolder, path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return realpathSync(path)
  throw new UserError(`\`${local}\` of \`sync\` ${found ? 'is not a folder' : 'does not exist'}`, {
    notes: [shownPlace(span)],
    hint: found ? 'name the folder that it is in' : 'create it, or correct the path',
  })
}

/** The folder as the agent has it: its place in the volume, and the only file in it if there is one. */
export const agentFolder = ({ name, file }: Pick<LocalFolder, 'name' | 'file'>): AgentFolder => ({
  name,
  path: join('src', name),
  ...(file !== undefined && { file }),
})

/** The host volumes of a service, with what the container has of its own in them left out. */
export const ofHostVolumes = (folders: readonly ComposeFolder[], cwd: string): readonly LocalFolder[] =>
  folders.map((one, index) => ({
    name: String(index),
    local: one.local,
    written: relative(cwd, join(one.local, one.file ?? '')) || '.',
    remote: one.remote,
    ...(one.file !== undefined && { file: one.file }),
    ignores: folderRules(one),
  }))

/** The folder for the synchronization, with what is left out. */
export const syncedFolder = ({ name, local, file, ignores }: LocalFolder): LocalSyncFolder => ({
  name,
  local,
  ...(file !== undefined && { file }),
  ignores: ignores ?? ignoreSource(local),
})

/** A folder for people: as the manifest writes it. */
export const toPair = ({ written, remote }: LocalFolder) => ({ local: written, remote })
