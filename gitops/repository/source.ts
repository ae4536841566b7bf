import { relative, sep } from 'node:path'
import type { GitOptions } from '../../adapters/git/git.ts'
import { withSource } from '../../adapters/git/source-repository.ts'

/** The commit of the repository that an application comes from. */
export interface SourceCommit {
  readonly commit: string
  /** The project's folder in the repository, with `/`; `.` is its root. */
  readonly path: string
  /** The files that were read have uncommitted changes. */
  readonly isDirty: boolean
  readonly author: string
  /** ISO 8601, of the commit. */
  readonly date: string
  readonly subject: string
  readonly body: string
}

/** The fields requested for a commit, separated by NUL. */
const FORMAT = ['%H', '%an <%ae>', '%cI', '%s', '%b'].join('%x00')

/**
 * Returns the commit that the repository around a folder is at; `top` is its top folder. `inputs` are the absolute
 * paths of the files that were read: changes to other files are ignored. Returns undefined outside of a repository,
 * before its first commit, and without git.
 */
export async function readSource(
  folder: string,
  top: string,
  inputs: readonly string[],
  options: GitOptions,
): Promise<SourceCommit | undefined> {
  const inside = inputs.map(path => relative(top, path)).filter(path => !path.startsWith('..'))
  const named = inside.map(path => `:(literal)${path}`)
  // Processes cost more than what they do here: side by side they take half the time.
  const told = await withSource(top, options, git =>
    Promise.all([
      git.ask('log', '-1', `--format=${FORMAT}`, 'HEAD'),
      // Of a submodule git would ask its own configuration.
      named.length === 0 ? '' : git.ask('status', '--porcelain', '-z', '--ignore-submodules=all', '--', ...named),
    ]),
  )
  const [said, changes] = told ?? []
  if (said === undefined) return undefined
  const [commit = '', author = '', date = '', subject = '', body = ''] = said.split('\0')
  const path = relative(top, folder).split(sep).join('/') || '.'
  // When git could not say whether there are changes, there may be some.
  return { commit, path, isDirty: changes !== '', author, date, subject, body: body.trim() }
}
