import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { resolveLinks } from '../../adapters/files/real-path.ts'
import type { Git, GitOptions } from '../../adapters/git/git.ts'
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
  const named = inParts(pathspecs(top, inputs), MOST_PATHS)
  // Starting a process costs more than its work, so running processes concurrently halves the time.
  const told = await withSource(top, options, git =>
    Promise.all([
      git.ask('log', '-1', `--format=${FORMAT}`, 'HEAD'),
      isChangedUnseen(git, top, named),
      isChangedBelow(git, top, inputs, options),
      // Git would use the submodule's own configuration in a submodule.
      ...named.map(part => git.ask('status', '--porcelain', '-z', '--ignore-submodules=all', '--', ...part)),
    ]),
  )
  const [said, isUnseen, isBelow, ...changes] = told ?? []
  if (said === undefined) return undefined
  const [commit = '', author = '', date = '', subject = '', body = ''] = said.split('\0')
  const path = (pathInside(top, folder) || '.').split(sep).join('/')
  // If git could not report whether changes exist, assumes that they do.
  const isDirty = isUnseen === true || isBelow === true || changes.some(one => one !== '')
  return { commit, path, isDirty, author, date, subject, body: body.trim() }
}

/**
 * Returns true if a file has changed for which the user has told git not to look: with the flag `skip-worktree`, which
 * sparse checkouts also set, or `assume-unchanged`.
 */
async function isChangedUnseen(git: Git, top: string, named: readonly (readonly string[])[]): Promise<boolean> {
  const entries = await listFiles(git, ['-v', '--stage'], named)
  // A lower-case letter stands for `assume-unchanged`, `S` for `skip-worktree`.
  const flagged = entries.flatMap(entry => {
    const [, id, path] = /^[a-zS] \d+ ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? []
    return id !== undefined && path !== undefined ? [{ id, path }] : []
  })
  const changed = await Promise.all(
    inParts(flagged, MOST_PATHS).map(async part => {
      if (part.some(({ path }) => !existsSync(join(top, path)))) return true
      const ids = await git.ask('hash-object', '--', ...part.map(({ path }) => path))
      return ids?.trimEnd() !== part.map(({ id }) => id).join('\n')
    }),
  )
  return changed.includes(true)
}

/**
 * Returns true if a submodule that has some of the files is not at its commit in the repository, or if one of these
 * files has uncommitted changes there.
 */
async function isChangedBelow(git: Git, top: string, inputs: readonly string[], options: GitOptions): Promise<boolean> {
  const below = nestedRepositories(top, inputs)
  const changed = [...below].map(async ([path, files]) => {
    const entry = await git.ask('ls-files', '--stage', '-z', '--', `:(literal)${path}`)
    const [, commit] = /^160000 ([0-9a-f]+)/.exec(entry ?? '') ?? []
    // Any other repository in a folder is a file for git, which ignores it or not.
    if (commit === undefined) return false
    const source = await readSource(join(top, path), join(top, path), files, options)
    return source?.commit !== commit || source.isDirty
  })
  return (await Promise.all(changed)).includes(true)
}

/** Returns the outermost repositories in folders of the repository `top` that contain paths, each with these paths. */
function nestedRepositories(top: string, paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const isTop = new Map<string, boolean>()
  const hasRepository = (folder: string): boolean => {
    const known = isTop.get(folder) ?? existsSync(join(top, folder, '.git'))
    isTop.set(folder, known)
    return known
  }
  const found = new Map<string, string[]>()
  for (const path of paths) {
    const segments = pathInside(top, path)?.split(sep) ?? []
    const folders = segments.slice(1).map((_, at) => segments.slice(0, at + 1).join('/'))
    const nested = folders.find(hasRepository)
    if (nested !== undefined) found.set(nested, [...(found.get(nested) ?? []), path])
  }
  return found
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
  const told = await withSource(top, options, git =>
    listFiles(git, ['--others', '--ignored', '--exclude-standard'], inParts(named, MOST_PATHS)),
  )
  return told ?? []
}

/** Returns the entries of `git ls-files` for pathspecs, which are in parts; none for a part that git refuses. */
async function listFiles(
  git: Git,
  options: readonly string[],
  parts: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const told = await Promise.all(parts.map(part => git.ask('ls-files', ...options, '-z', '--', ...part)))
  return told.flatMap(text => text?.split('\0').filter(entry => entry !== '') ?? [])
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
