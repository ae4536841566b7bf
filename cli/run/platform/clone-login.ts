import type { NewRun } from '../../../platform/api/runs.ts'

/**
 * User names for cloning. The token of a GitLab CI job is accepted only with the first name; forges accept other tokens
 * with any name.
 */
const JOB_USER = 'gitlab-ci-token'
const ANYBODY = 'git'

/**
 * Returns the login for cloning a private repository in a single run: the token in `DEVCTL_CLONE_TOKEN`, which in a CI
 * job can be the job's own token. Returns an empty object if the variable is not set. The platform deletes the login
 * when the run ends.
 */
export function cloneLoginOf(env: NodeJS.ProcessEnv): Pick<NewRun, 'cloneLogin'> {
  const { DEVCTL_CLONE_TOKEN: password, CI_JOB_TOKEN: job } = env
  if (!password) return {}
  return { cloneLogin: { user: password === job ? JOB_USER : ANYBODY, password } }
}
