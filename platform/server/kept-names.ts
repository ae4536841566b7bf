import type { PlatformUser } from '../records/user.ts'
import { isJobs, keptPrefix } from '../rules/ci-trust.ts'
import { PlatformError } from './platform-error.ts'
import type { Settings } from './world.ts'

/**
 * The prefix of a name that is kept for jobs of a CI, if it is: who was first could keep them from deploying, or be taken
 * for them. Throws a PlatformError for who is neither a job nor an administrator; the hint says how to choose another name.
 */
export function requireForThem(
  { ci }: Pick<Settings, 'ci'>,
  owner: PlatformUser,
  name: string,
  hint: string,
): string | undefined {
  const prefix = keptPrefix(name, ci)
  if (prefix === undefined || owner.role === 'admin' || isJobs(owner, ci)) return prefix
  throw new PlatformError(403, 'kept-name', `names that begin with \`${prefix}\` are kept for jobs of a CI`, { hint })
}
