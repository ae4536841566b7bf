import type { NewRun } from '../../../platform/api/runs.ts'

/** The user names that forges know the tokens of their own jobs by; with other tokens, any name does. */
const JOB_USER = 'gitlab-ci-token'
const ANYBODY = 'git'

/**
 * The login with which one run clones a private repository: the token of `DEVCTL_CLONE_TOKEN`, which in a CI job can be
 * the job's own. The platform forgets it when the run has ended.
 */
export function cloneLoginOf(env: NodeJS.ProcessEnv): Pick<NewRun, 'cloneLogin'> {
  const { DEVCTL_CLONE_TOKEN: password, CI_JOB_TOKEN: job } = env
  if (!password) return {}
  return { cloneLogin: { user: password === job ? JOB_USER : ANYBODY, password } }
}
