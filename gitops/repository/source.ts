import { sep } from 'node:path'
import { resolveLinks } from '../../adapters/files/real-path.ts'
import type { GitOptions } from '../../adapters/git/git.ts'
import { withSource } from '../../adapters/git/source-repository.ts'
import { inParts } from '../../compiler/values/in-parts.ts'
import { pathInside } from '../../project/path-inside.ts'

/** Commit of the repository that an application comes from. */
export interface SourceCommit {
  readonly commit: string
  /** Path of the project folder in the repository, with `/`; `.` is the root. */
  readonly path: string
  /** True if the files that were read have uncommitted changes, or if some were deleted. */
  readonly isDirty: boolean
  readonly author: string
  /** Date of the commit (ISO 8601). */
  readonly date: string
  readonly subject: string
  readonly body: string
}

/** Maximum number of paths in a command line, which is short on Windows. */
export const MOST_PATHS = 200

/** Fields requested for a commit, separated by NUL. */
const FORMAT = ['%H', '%an <%ae>', '%cI', '%s', '%b'].join('%x00')

/**
 * Returns the current commit of the repository around a folder; `top` is its top folder. `inputs` are the absolute
 * paths of the files that were read, and of those that would have been read if they existed, because they may have been
 * deleted; changes to other files, and to files that git ignores, do not matter. Returns undefined outside a
 * repository, before its first commit, and without git.
 */
export async function readSource(
  folder: string,
  top: string,
  inputs: readonly string[],
  options: GitOptions,
): Promise<SourceCommit | undefined> {
  const named = pathspecs(top, inputs)
  // Starting a process costs more than its work, so running processes concurrently halves the time.
  const told = await withSource(top, options, git =>
    Promise.all([
      git.ask('log', '-1', `--format=${FORMAT}`, 'HEAD'),
      // Git would use the submodule's own configuration in a submodule.
      ...inParts(named, MOST_PATHS).map(part =>
        git.ask('status', '--porcelain', '-z', '--ignore-submodules=all', '--', ...part),
      ),
    ]),
  )
  const [said, ...changes] = told ?? []
  if (said === undefined) return undefined
  const [commit = '', author = '', date = '', subject = '', body = ''] = said.split('\0')
  const path = (pathInside(top, folder) || '.').split(sep).join('/')
  // If git could not report whether changes exist, assumes that they do.
  return { commit, path, isDirty: changes.some(one => one !== ''), author, date, subject, body: body.trim() }
}

/**
 * Returns the files among `paths` that git ignores in the repository with the top folder `top`, as paths from there.
 */
export async function ignoredFiles(
  top: string,
  paths: readonly string[],
  options: GitOptions,
): Promise<readonly string[]> {
  const named = pathspecs(top, paths)
  if (named.length === 0) return []
  const words = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z', '--']
  const told = await withSource(top, options, git =>
    Promise.all(inParts(named, MOST_PATHS).map(part => git.ask(...words, ...part))),
  )
  return (told ?? []).flatMap(text => text?.split('\0').filter(path => path !== '') ?? [])
}

/**
 * Returns pathspecs for those of the absolute paths that are inside the repository with the top folder `top`. A path
 * through a link results in two pathspecs: for the link and for its target.
 */
function pathspecs(top: string, paths: readonly string[]): readonly string[] {
  // The text of a path inside the repository may name a link, which git tracks in addition to the file.
  const inside = paths.flatMap(path => [pathInside(top, path), pathInside(top, resolveLinks(path))])
  return [...new Set(inside.filter(path => path !== undefined))].map(path => `:(literal)${path}`)
}
