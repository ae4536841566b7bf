import { lstatSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { isStream } from '../compiler/values/stream-path.ts'
import type { LoadInput } from './input.ts'
import { nearestProject, repositoryOf } from './names/environment-name.ts'
import type { OpenProject } from './opened-project.ts'
import type { Workspace } from './workspace.ts'

/** Returns the files named by options or the shell. Ignores COMPOSE_FILE in an .env file. */
export function namedFiles(workspace: Workspace, { file }: Pick<LoadInput, 'file'>): readonly string[] {
  if (file) return file
  return workspace.env.COMPOSE_FILE
    ? workspace.env.COMPOSE_FILE.split(workspace.env.COMPOSE_PATH_SEPARATOR || delimiter)
    : []
}

/**
 * Returns the env files that are named by options or, as in Compose, by COMPOSE_ENV_FILES; undefined if there are none.
 */
export function namedEnvFiles(
  { env }: Workspace,
  { envFile }: Pick<LoadInput, 'envFile'>,
): readonly string[] | undefined {
  if (envFile) return envFile
  const listed = (env.COMPOSE_ENV_FILES ?? '').split(',').filter(path => path !== '')
  return listed.length > 0 ? listed : undefined
}

/**
 * Returns the absolute path of the project's folder: the folder of its manifest, otherwise the folder named by an
 * option, otherwise the folder of the first file, otherwise the nearest folder with a Compose file.
 */
export function projectFolder(
  workspace: Workspace,
  loading: Pick<LoadInput, 'file' | 'projectDirectory'>,
  { manifest, namesCompose }: Pick<OpenProject, 'manifest' | 'namesCompose'>,
): string {
  if (manifest && !namesCompose) return manifest.folder
  if (loading.projectDirectory !== undefined) return resolve(workspace.cwd, loading.projectDirectory)
  const files = namedFiles(workspace, loading)
  const first = files.find(path => !isStream(path))
  if (first === undefined) return (files.length === 0 && nearestProject(workspace.cwd)) || workspace.cwd
  const folder = dirname(resolve(workspace.cwd, first))
  return basename(folder) === '.devctl' ? dirname(folder) : folder
}

/**
 * Returns the top folder of the repository that a folder is in; for a submodule, of the outermost repository. Returns
 * the folder itself if it is not in a repository.
 */
export function checkoutOf(folder: string): string {
  const top = repositoryOf(folder)?.top
  if (top === undefined) return folder
  const isOwn = lstatSync(join(top, '.git')).isDirectory() || dirname(top) === top
  const around = isOwn ? undefined : repositoryOf(dirname(top))?.top
  return around === undefined ? top : checkoutOf(around)
}
