import type { ShownDeploy, ShownPlace } from '../../api/environments.ts'

type Source = Pick<ShownDeploy, 'repository' | 'commit'>

/**
 * Forges, recognized by a pattern of their host, each with the path segments before the commit in the URLs of files and
 * of commits.
 */
const FORGES = [
  [/github/, 'blob', 'commit'],
  [/gitlab/, '-/blob', '-/commit'],
  [/gitea|forgejo|codeberg|^git\./, 'src/commit', 'commit'],
] as const

/** Returns the URL of the page with a line of a file at a commit; undefined if the forge is unknown. */
export function linePage({ repository, commit }: Source, { file, line }: ShownPlace): string | undefined {
  const found = forgeOf(repository)
  if (!found || commit === undefined || !isCommit(commit)) return undefined
  return `https://${found.repository}/${found.file}/${commit}/${file.split('/').map(encodeURIComponent).join('/')}#L${line}`
}

/** Returns the URL of the page with a commit; undefined if the forge is unknown. */
export function commitPage({ repository, commit }: Source): string | undefined {
  const found = forgeOf(repository)
  return found && commit !== undefined && isCommit(commit)
    ? `https://${found.repository}/${found.commit}/${commit}`
    : undefined
}

const isCommit = (text: string) => /^[0-9a-f]{7,64}$/.test(text)

/**
 * Returns the forge of a repository such as `git.example.com/team/shop`. Accepts only a host and a path, because a
 * member of the namespace could have written any text there.
 */
function forgeOf(repository: string | undefined) {
  const [, host] = /^([a-z0-9.-]+)(?:\/[\w.-]+){2,}$/.exec(repository ?? '') ?? []
  if (host === undefined || repository === undefined || repository.includes('..')) return undefined
  const forge = FORGES.find(([pattern]) => pattern.test(host))
  return forge && { repository, file: forge[1], commit: forge[2] }
}
