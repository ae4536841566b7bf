import { type GitOptions, openGit } from '../../adapters/git/git.ts'
import { withSource } from '../../adapters/git/source-repository.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import type { ChangeOrigin } from '../objects/change-lists.ts'
import { plainAddress } from '../project/deploy-source.ts'
import { repositoryOf } from '../project/environment-name.ts'

/** Milliseconds for git: what it does not know by then is not written down. */
const DEADLINE = 2000
/** Characters of the first line of a commit. */
const LONGEST = 200

type Env = GitOptions['env']

/** What pipelines say of the commit that they run for. */
interface Pipeline {
  readonly commit: string | undefined
  readonly branch: string | undefined
  /** `team/shop`. */
  readonly project: string | undefined
}

/**
 * The commit that a folder has, for the history of an environment: as git says, and where it does not, as
 * the variables of the pipeline do. Never rejects.
 */
export async function changeOrigin(folder: string, env: Env, signal: AbortSignal): Promise<ChangeOrigin> {
  const found = repositoryOf(folder)
  if (!found) return {}
  const repository = found.address === undefined ? undefined : plainAddress(found.address)
  const options = { env, signal: withTimeLimit(DEADLINE, signal) }
  const orNothing = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined)
  const [branch, said] = await Promise.all([
    orNothing(openGit(found.top, options).ask('symbolic-ref', '--quiet', '--short', 'HEAD')),
    orNothing(
      withSource(found.top, options, git =>
        Promise.all([
          orNothing(git.ask('-c', 'log.showSignature=false', 'log', '-1', '--format=%H%n%s')),
          orNothing(git.ask('status', '--porcelain', '-z', '--untracked-files=no', '--ignore-submodules=all')),
        ]),
      ),
    ),
  ])
  const [head, changes] = said ?? []
  const [own, subject] = head?.split('\n') ?? []
  const pipeline = pipelineOf(env)
  // A pipeline may deploy what it has cloned from elsewhere.
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
    ...(changes && { isDirty: true }),
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
