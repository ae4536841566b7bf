import { lstatSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { nearestProject, repositoryOf } from './environment-name.ts'
import type { Io } from './io.ts'
import type { OpenProject } from './opened-project.ts'
import type { LoadingValues } from './project-options.ts'

/** The files that are named, by options or the shell. What an .env file may say about them changes no name. */
export function namedFiles(io: Io, { file }: Pick<LoadingValues, 'file'>): readonly string[] {
  if (file) return file
  return io.env.COMPOSE_FILE ? io.env.COMPOSE_FILE.split(io.env.COMPOSE_PATH_SEPARATOR || delimiter) : []
}

/** The folder of a project, absolute: that of its manifest, the one an option names, that of the first file, the nearest one with a Compose file. */
export function projectFolder(
  io: Io,
  loading: Pick<LoadingValues, 'file' | 'projectDirectory'>,
  { manifest, namesCompose }: Pick<OpenProject, 'manifest' | 'namesCompose'>,
): string {
  if (manifest && !namesCompose) return manifest.folder
  if (loading.projectDirectory !== undefined) return resolve(io.cwd, loading.projectDirectory)
  const files = namedFiles(io, loading)
  const first = files.find(path => path !== '-')
  if (first === undefined) return (files.length === 0 && nearestProject(io.cwd)) || io.cwd
  const folder = dirname(resolve(io.cwd, first))
  return basename(folder) === '.devctl' ? dirname(folder) : folder
}

/** The checkout that a folder is in: the top folder of its repository, of a submodule that of the repository around it; else the folder itself. */
export function checkoutOf(folder: string): string {
  const top = repositoryOf(folder)?.top
  if (top === undefined) return folder
  const isOwn = lstatSync(join(top, '.git')).isDirectory() || dirname(top) === top
  const around = isOwn ? undefined : repositoryOf(dirname(top))?.top
  return around === undefined ? top : checkoutOf(around)
}
