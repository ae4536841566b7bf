import { failed, type Parsed, parsed } from './parsed.ts'

/** The kinds of forges, as written in `--forge` and `pullRequest.forge`. Each has a module in `adapters/forge`. */
export const FORGE_KINDS = ['github', 'gitlab', 'gitea'] as const
export type ForgeKind = (typeof FORGE_KINDS)[number]

/** Parses the name of a branch (https://git-scm.com/docs/git-check-ref-format), without `refs/heads/`. */
export function parseBranchName(text: string): Parsed<string> {
  const isBad =
    /^[-/]|[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/\/|\.lock(\/|$)|[/.]$|(^|\/)\./u.test(text) ||
    text === '@' ||
    text.startsWith('refs/')
  return isBad
    ? failed('it is not a valid branch name', 'write the name alone, such as `main` or `environments/staging`')
    : parsed(text)
}

/** Parses a folder of a repository: a path that leads neither out of the repository nor to git's own files. */
export function parseRepositoryFolder(text: string): Parsed<string> {
  const parts = text.replace(/\/$/, '').split('/')
  const isBad =
    /[\\\p{Cc}]/u.test(text) || parts.some(part => part === '' || part === '..' || part.toLowerCase() === '.git')
  return isBad || (parts.includes('.') && parts.length > 1)
    ? failed(
        'it is not a folder in a repository',
        'write it from the root of the repository with `/`, such as `environments/staging/shop`, or `.` for the root',
      )
    : parsed(text)
}
