import type { HookRecord } from '../../records/hook.ts'
import type { PlatformUser } from '../../records/user.ts'
import { isJobs, mayHavePrefix, reservedPrefix } from '../../rules/accounts/ci-trust.ts'
import { prefixOfPull } from '../../rules/previews/pull-trust.ts'
import type { Settings } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/**
 * Returns the reserved prefix of a name; undefined if the name has none. Throws a PlatformError for callers that are
 * neither an administrator nor a job with this prefix; `hint` describes how to choose another name. Names with such a
 * prefix are reserved for the CI jobs of a repository, because another user could otherwise take a name first, and
 * block a deploy or impersonate the preview. So could the jobs of a repository with a shorter prefix: with `shop-`,
 * they could take `shop-api-login` from the jobs with `shop-api-`.
 */
export function requireReservedName(
  { ci }: Pick<Settings, 'ci'>,
  owner: PlatformUser,
  name: string,
  hint: string,
): string | undefined {
  const prefix = reservedPrefix(name, ci)
  if (prefix === undefined || owner.role === 'admin') return prefix
  const isOfJobs = isJobs(owner, ci)
  if (isOfJobs && mayHavePrefix(owner, prefix, ci)) return prefix
  const whose = isOfJobs ? 'CI jobs of another repository' : 'CI jobs'
  throw new PlatformError(403, 'kept-name', `names that begin with \`${prefix}\` are reserved for ${whose}`, { hint })
}

/** The part of the webhook store that this file uses. */
export interface KnownHooks {
  list(): Promise<readonly Pick<HookRecord, 'prefix' | 'owner'>[]>
}

/**
 * Throws a PlatformError if the name is reserved for the previews of a webhook, unless the caller owns the webhook or
 * is an administrator. Otherwise, another user could take the name first, and block a preview or impersonate it.
 */
export async function requireOwnPull(
  hooks: KnownHooks,
  owner: PlatformUser,
  name: string,
  hint: string,
): Promise<void> {
  const prefix = prefixOfPull(name)
  if (prefix === undefined || owner.role === 'admin') return
  const hook = (await hooks.list()).find(one => one.prefix === prefix)
  if (!hook || hook.owner === owner.id) return
  const kept = `${prefix}pr-`
  throw new PlatformError(
    403,
    'kept-name',
    `names that begin with \`${kept}\` are reserved for pull requests of a webhook`,
    {
      hint,
    },
  )
}
