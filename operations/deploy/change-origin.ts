import { type GitOptions, openGit } from '../../adapters/git/git.ts'
import { withSource } from '../../adapters/git/source-repository.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import type { ChangeOrigin } from '../../environment/record/change-lists.ts'
import { plainAddress } from '../../project/deploy-source.ts'
import { repositoryOf } from '../../project/names/environment-name.ts'

/**
 * Time limit for git, in milliseconds. Git runs in parallel with requests to the cluster; in a large checkout `git
 * status` takes several seconds.
 */
const DEADLINE = 10_000
/** Maximum length of a commit subject, in characters. */
const LONGEST = 200

type Env = GitOptions['env']

/** Commit that a CI pipeline runs for, according to the environment variables of the pipeline. */
interface Pipeline {
  readonly commit: string | undefined
  readonly branch: string | undefined
  /** Repository of the pipeline, such as `team/shop`. */
  readonly project: string | undefined
}

/** Commit of a folder, as two promises that resolve when git has answered. The promises never reject. */
export interface AskedOrigin {
  /**
   * Resolves to the commit without waiting for the check for uncommitted changes. The commit is marked as unchecked.
   */
  readonly commit: Promise<ChangeOrigin>
  /** Resolves to the commit after the check for uncommitted changes, which takes longer. */
  readonly change: Promise<ChangeOrigin>
}

/**
 * Finds the commit of a folder, for the history of an environment. Facts that git does not report come from the
 * variables of the CI pipeline.
 */
export function askOrigin(folder: string, env: Env, signal: AbortSignal): AskedOrigin {
  const found = repositoryOf(folder)
  if (!found) return { commit: Promise.resolve({}), change: Promise.resolve({}) }
  const options = { env, signal: withTimeLimit(DEADLINE, signal) }
  const repository = found.address === undefined ? undefined : plainAddress(found.address)
  const { subject, changes } = askSource(found.top, options)
  const known = askCommit(found.top, options, subject).then(said => originFrom({ repository, ...said }, env))
  const withMark = (origin: ChangeOrigin, said: string | undefined): ChangeOrigin =>
    origin.commit === undefined || said === ''
      ? origin
      : { ...origin, ...(said === undefined ? { isUnchecked: true } : { isDirty: true }) }
  return {
    commit: known.then(origin => withMark(origin, undefined)),
    change: Promise.all([known, changes]).then(([origin, said]) => withMark(origin, said)),
  }
}

const orNothing = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined)

/** Answers of git about a commit. */
interface Said {
  readonly branch: string | undefined
  readonly own: string | undefined
  readonly subject: string | undefined
}

/**
 * Returns the branch, the commit, and the subject of the commit, which `asked` resolves to. A value that git does not
 * report in time is undefined.
 */
async function askCommit(top: string, options: GitOptions, asked: Promise<string | undefined>): Promise<Said> {
  const git = openGit(top, options)
  const [branch, own, subject] = await Promise.all([
    orNothing(git.ask('symbolic-ref', '--quiet', '--short', 'HEAD')),
    orNothing(git.ask('rev-parse', '--quiet', '--verify', 'HEAD')),
    asked,
  ])
  return { branch, own, subject }
}

/**
 * Requests the subject of the commit, and the list of uncommitted changes. Each promise resolves to undefined if git
 * does not report the value.
 */
function askSource(
  top: string,
  options: GitOptions,
): { readonly subject: Promise<string | undefined>; readonly changes: Promise<string | undefined> } {
  let tell: (subject?: string) => void = () => {}
  const subject = new Promise<string | undefined>(resolve => {
    tell = resolve
  })
  const asked = withSource(top, options, async git => {
    const [said] = await Promise.all([
      orNothing(git.ask('status', '--porcelain', '-z', '--untracked-files=no', '--ignore-submodules=all')),
      orNothing(git.ask('-c', 'log.showSignature=false', 'log', '-1', '--format=%s')).then(tell),
    ])
    return said
  })
  // If the query failed before git ran, the subject is undefined, too.
  return { subject, changes: orNothing(asked).finally(() => tell()) }
}

function originFrom(
  { repository, branch, own, subject }: Said & Pick<ChangeOrigin, 'repository'>,
  env: Env,
): ChangeOrigin {
  const pipeline = pipelineOf(env)
  // A pipeline may deploy a folder that it has cloned from another repository.
  const isItsOwn =
    pipeline?.project !== undefined && repository?.toLowerCase().endsWith(`/${pipeline.project.toLowerCase()}`)
  const commit = own || (isItsOwn ? pipeline?.commit : undefined)
  const isItsCommit = commit !== undefined && commit === pipeline?.commit
  const named = branch || (isItsOwn || isItsCommit ? pipeline?.branch : undefined)
  return {
    ...(repository !== undefined && { repository }),
    ...(named && { branch: named }),
    ...(commit && { commit }),
    ...(subject && { subject: subject.slice(0, LONGEST) }),
  }
}

function pipelineOf(env: Env): Pipeline | undefined {
  if (env['GITHUB_ACTIONS'] === 'true') {
    const branch = env['GITHUB_HEAD_REF'] || (env['GITHUB_REF_TYPE'] === 'tag' ? undefined : env['GITHUB_REF_NAME'])
    return { commit: env['GITHUB_SHA'], branch, project: env['GITHUB_REPOSITORY'] }
  }
  if (env['GITLAB_CI'] === 'true')
    return {
      commit: env['CI_COMMIT_SHA'],
      branch: env['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME'] || env['CI_COMMIT_BRANCH'],
      project: env['CI_PROJECT_PATH'],
    }
  return undefined
}
