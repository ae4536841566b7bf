import { GitFailure, openGit } from '../../adapters/git/git.ts'
import { pause } from '../../adapters/http/back-off.ts'

/** The source to clone, and the credential for it. */
export interface CloneInput {
  readonly repository: string
  /** Branch or tag to clone; absent for the default branch. */
  readonly branch?: string
  /**
   * Exact commit to check out, even if the branch contains newer commits; absent for the latest commit of the branch.
   */
  readonly commit?: string
  readonly user?: string
  readonly password?: string
}

/** Error with the reason why a repository could not be cloned, as a sentence. */
class CloneFailure extends Error {}

/**
 * Time during which connections of a new Pod may be refused although its network policies allow them, in milliseconds.
 */
const NEW_POD = 10_000
/** Maximum number of branches listed in a message. */
const NAMED = 5
const NO_BRANCH = /remote branch .* not found/i
/** Delay between two connection attempts, in milliseconds. */
const AGAIN = 200

/** Settings with which git executes nothing from the repository, and fetches only the repository itself. */
const SAFE: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'submodule.recurse': 'false',
  'transfer.bundleURI': 'false',
  // If a server redirects, git does not send the credential to the new location.
  'http.followRedirects': 'initial',
}

/**
 * Clones into an empty folder and returns the commit. No file, variable or command line contains the credential after
 * the clone. Throws a CloneFailure. `settings` are additional git settings.
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
    patience = NEW_POD,
  }: {
    readonly folder: string
    readonly env: Readonly<Record<string, string | undefined>>
    readonly signal: AbortSignal
    readonly settings?: Readonly<Record<string, string>>
    /** Path of the operators' git configuration, with proxies and other settings of their network. */
    readonly configuration?: string
    /** Protocols that git may use, separated by colons. */
    readonly protocols?: string
    /** Time for which refused connections are retried, in milliseconds. */
    readonly patience?: number
  },
): Promise<string> {
  const { origin } = new URL(repository)
  const logins = password === undefined ? [] : [{ origin, user: user ?? 'git', password, isOfAddress: true as const }]
  const place = { GIT_ALLOW_PROTOCOL: protocols, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: configuration }
  const git = openGit(folder, { env, signal, logins, place })
  const words = Object.entries({ ...SAFE, ...settings }).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
  const of = branch === undefined ? [] : [`--branch=${branch}`]
  const insisting = { until: Date.now() + patience, signal }
  try {
    if (commit === undefined)
      await insist(
        () => git.run(...words, 'clone', ...options, '--single-branch', ...of, '--', repository, '.'),
        insisting,
      )
    else {
      await git.run('init', '--quiet', ...(commit.length === SHA256 ? ['--object-format=sha256'] : []))
      await insist(() => git.run(...words, 'fetch', ...options, '--', repository, commit), insisting)
      await git.run(...words, 'checkout', '--quiet', '--detach', 'FETCH_HEAD')
    }
    const head = await git.ask('rev-parse', '--quiet', '--verify', 'HEAD')
    if (head !== undefined) return head
    throw new CloneFailure(await withoutBranch())
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    if (commit === undefined && NO_BRANCH.test(error.said)) throw new CloneFailure(await withoutBranch())
    throw new CloneFailure(toSentence(error.said, { repository, commit, hasLogin: password !== undefined }))
  }

  /**
   * Returns the reason why the branch could not be cloned from a repository that can be read, with the names of
   * existing branches.
   */
  async function withoutBranch(): Promise<string> {
    const found = (await git.ask(...words, 'ls-remote', '--heads', '--', repository)) ?? ''
    const branches = [...found.matchAll(/\trefs\/heads\/(.+)$/gm)].map(([, name]) => `\`${name}\``)
    if (branches.length === 0) return `${repository} is empty: push a commit to it first`
    const more = branches.length > NAMED ? ` and ${branches.length - NAMED} more` : ''
    const named = `${branches.length === 1 ? 'its branch is' : 'its branches are'} ${branches.slice(0, NAMED).join(', ')}${more}`
    return branch === undefined
      ? `${repository} has no main branch: name another one; ${named}`
      : `${repository} has no branch or tag \`${branch}\`; ${named}`
  }
}

/** Runs `work`, and repeats it until a deadline while connections are refused. Throws the error of the last attempt. */
async function insist(
  work: () => Promise<unknown>,
  { until, signal }: { readonly until: number; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      const isRefused = error instanceof GitFailure && REFUSED.test(error.said)
      if (!isRefused || Date.now() >= until) throw error
      await pause(AGAIN, signal)
    }
  }
}

/** Number of digits of a commit in a repository with SHA-256 hashes. */
const SHA256 = 64

/** Pattern of the messages for a failed connection, as curl writes them, which git uses. */
const REFUSED = /failed to connect|couldn't connect to server|connection refused/i

function toSentence(
  output: string,
  {
    repository,
    commit,
    hasLogin,
  }: {
    readonly repository: string
    readonly commit: string | undefined
    readonly hasLogin: boolean
  },
): string {
  const { host } = new URL(repository)
  // An address may contain the words that the patterns search for.
  const said = output.replaceAll(repository, '').replaceAll(host, '')
  if (/not our ref|unadvertised object/i.test(said)) return `${repository} does not give the commit ${commit} any more`
  if (/could not read (username|password)|authentication failed|access denied|HTTP Basic/i.test(said))
    return hasLogin
      ? `${host} has refused the credential for ${repository}`
      : `${repository} does not exist, or needs a credential for ${host}`
  if (/not valid: is this a git repository/i.test(said)) return `there is no git repository at ${repository}`
  if (/not found|returned error: 40[34]/i.test(said))
    return hasLogin
      ? `${repository} does not exist, or the credential for ${host} may not read it`
      : `${repository} does not exist, or needs a credential for ${host}`
  const [, status] = /returned error: ([45]\d\d)/i.exec(said) ?? []
  if (status !== undefined) return `${host} has answered ${status} for ${repository}; try again later`
  if (/unable to update url base from redirection/i.test(said))
    return `${host} redirects ${repository} to another address: name that one`
  if (/certificate has expired/i.test(said)) return `the certificate of ${host} has expired`
  if (/subject name/i.test(said)) return `the certificate of ${host} is for another host`
  if (/certificate (?:problem|verif)|unknown ca\b|self.signed|local issuer/i.test(said))
    return `the cluster does not trust the certificate of ${host}: an administrator can add its authority (\`devctl platform install --ca FILE\`)`
  if (/could not resolve host/i.test(said)) return `the cluster does not know the host ${host}`
  if (REFUSED.test(said))
    return `the cluster cannot connect to ${host}; if it is inside the cluster, or behind its ingress controller, a network policy in \`devctl-runs\` has to allow it`
  const last = output.split('\n').filter(line => line.trim() !== '')
  return `${repository} could not be cloned: ${last.at(-1)?.slice(0, 300) ?? 'git has failed'}`
}
