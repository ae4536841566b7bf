import type { ShownDeploy, ShownPlace } from '../../api/environments.ts'

type Source = Pick<ShownDeploy, 'repository' | 'commit'>

/** Forges by a word of their host, and what stands before the commit in the address of a file there. */
const FORGES = [
  [/github/, 'blob', 'commit'],
  [/gitlab/, '-/blob', '-/commit'],
  [/gitea|forgejo|codeberg|^git\./, 'src/commit', 'commit'],
] as const

/** The page of a line of a file at a commit; undefined where the forge is not known. */
export function linePage({ repository, commit }: Source, { file, line }: ShownPlace): string | undefined {
  const found = forgeOf(repository)
  if (!found || commit === undefined || !isCommit(commit)) return undefined
  return `https://${found.repository}/${found.file}/${commit}/${file.split('/').map(encodeURIComponent).join('/')}#L${line}`
}

/** The page of a commit. */
export function commitPage({ repository, commit }: Source): string | undefined {
  const found = forgeOf(repository)
  return found && commit !== undefined && isCommit(commit)
    ? `https://${found.repository}/${found.commit}/${commit}`
    : undefined
}

const isCommit = (text: string) => /^[0-9a-f]{7,64}$/.test(text)

/**
 * `git.example.com/team/shop`: a host and a path, and nothing else. A member of the namespace could write what they
 * like there.
 */
function forgeOf(repository: string | undefined) {
  const [, host] = /^([a-z0-9.-]+)(?:\/[\w.-]+){2,}$/.exec(repository ?? '') ?? []
  if (host === undefined || repository === undefined || repository.includes('..')) return undefined
  const forge = FORGES.find(([pattern]) => pattern.test(host))
  return forge && { repository, file: forge[1], commit: forge[2] }
}
