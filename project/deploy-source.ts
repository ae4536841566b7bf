import { basename, dirname, relative, resolve, sep } from 'node:path'
import { isStream } from '../compiler/values/stream-path.ts'
import type { Source } from '../environment/record/record.ts'
import { repositoryOf } from './names/environment-name.ts'
import type { Workspace } from './workspace.ts'

/**
 * Default names of manifests and Compose files: naming such a file with `-f` means the same project as not naming it.
 */
const USUAL = /^(devctl|(docker-)?compose(\.override)?)\.ya?ml$/

/**
 * Returns the origin of an environment's files, which is equal on every machine: the repository's address and the
 * project's path in it; outside a repository, or without a remote, the names of folders. `directory` is the absolute
 * path of the project; `files` are the files that the user named.
 */
export function deploySource(workspace: Workspace, directory: string, files: readonly string[] | undefined): Source {
  const repository = repositoryOf(directory)
  const [first] = files ?? []
  const isUsual = first === undefined || isStream(first) || USUAL.test(basename(first))
  const place = isUsual ? directory : resolve(workspace.cwd, first)
  const top = repository?.top ?? dirname(directory)
  return {
    repository: (repository?.address && plainAddress(repository.address)) ?? basename(top),
    file: relative(top, place).split(sep).join('/') || '.',
  }
}

/**
 * Normalizes the address of a repository, so that `https://git.example.com/team/shop` and
 * `git@git.example.com:team/shop` are equal. For a folder on this machine, returns only its name.
 */
export function plainAddress(address: string): string {
  const url = /^[a-z+]+:\/\/(?:[^/]*@)?(.+)$/i.exec(address)?.[1]
  const [, host, path] = /^(?:[^@/]*@)?([^/:]+):(?!\/\/)(.+)$/.exec(address) ?? []
  if (url !== undefined && !address.startsWith('file:')) return url
  return host !== undefined && host.length > 1 ? `${host}/${path}` : basename(address)
}
