import { existsSync } from 'node:fs'
import { GitFailure, openGit } from '../../adapters/git/git.ts'

/** What is cloned, and the login for it. */
export interface CloneInput {
  readonly repository: string
  /** A branch or a tag; absent: the main branch. */
  readonly branch?: string
  /** This very commit, whatever the branch has now. */
  readonly commit?: string
  readonly user?: string
  readonly password?: string
}

/** A repository that could not be cloned, in a sentence. */
export class CloneFailure extends Error {}

/** Nothing of the repository is run, and nothing but the repository is fetched. */
const SAFE: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'submodule.recurse': 'false',
  'transfer.bundleURI': 'false',
  // A server that sends the login on to another one gets none.
  'http.followRedirects': 'initial',
}

/**
 * Clones into a folder that is empty, and gives the commit. The login is in no file, variable or command line
 * that is left behind. Throws a CloneFailure. `settings` are further ones of git.
 */
export async function clone(
  { repository, branch, commit, user, password }: CloneInput,
  {
    folder,
    env,
    signal,
    settings = {},
    configuration = '/dev/null',
    protocols = 'https',
  }: {
    readonly folder: string
    readonly env: Readonly<Record<string, string | undefined>>
    readonly signal: AbortSignal
    readonly settings?: Readonly<Record<string, string>>
    /** A file of the operators: proxies, and what else their network needs. */
    readonly configuration?: string
    /** Those that git speaks. */
    readonly protocols?: string
  },
): Promise<string> {
  const { origin } = new URL(repository)
  const logins = password === undefined ? [] : [{ origin, user: user ?? 'git', password, isOfAddress: true as const }]
  const place = { GIT_ALLOW_PROTOCOL: protocols, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: configuration }
  const git = openGit(folder, { env, signal, logins, place })
  const words = Object.entries({ ...SAFE, ...settings }).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
  const of = branch === undefined ? [] : [`--branch=${branch}`]
  try {
    if (commit === undefined)
      await git.run(...words, 'clone', ...options, '--single-branch', ...of, '--', repository, '.')
    else {
      await git.run('init', '--quiet')
      await git.run(...words, 'fetch', ...options, '--', repository, commit)
      await git.run(...words, 'checkout', '--quiet', '--detach', 'FETCH_HEAD')
    }
    return await git.run('rev-parse', 'HEAD')
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    throw new CloneFailure(toSentence(error.said, { repository, branch, commit, hasLogin: password !== undefined }))
  }
}

function toSentence(
  said: string,
  {
    repository,
    branch,
    commit,
    hasLogin,
  }: {
    readonly repository: string
    readonly branch: string | undefined
    readonly commit: string | undefined
    readonly hasLogin: boolean
  },
): string {
  const { host } = new URL(repository)
  if (/remote branch .* not found/i.test(said)) return `${repository} has no branch or tag \`${branch}\``
  if (/not our ref|unadvertised object/i.test(said)) return `${repository} does not give the commit ${commit} any more`
  if (/could not read (username|password)|authentication failed|access denied|HTTP Basic/i.test(said))
    return hasLogin
      ? `${host} has refused the credential for ${repository}`
      : `${repository} does not exist, or needs a credential for ${host}`
  if (/not found|returned error: 40[34]/i.test(said))
    return `${repository} does not exist, or its credential may not read it`
  if (/could not resolve host/i.test(said)) return `the cluster does not know the host ${host}`
  const last = said.split('\n').filter(line => line.trim() !== '')
  return `${repository} could not be cloned: ${last.at(-1)?.slice(0, 300) ?? 'git has failed'}`
}

/** The settings by which git trusts what the operators of the cluster trust. */
export const trusting = (file: string): Readonly<Record<string, string>> =>
  existsSync(file) ? { 'http.sslCAInfo': file } : {}
