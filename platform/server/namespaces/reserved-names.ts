import type { HookRecord } from '../../records/hook.ts'
import type { PlatformUser } from '../../records/user.ts'
import { isJobs, reservedPrefix } from '../../rules/accounts/ci-trust.ts'
import { prefixOfPull } from '../../rules/previews/pull-trust.ts'
import type { Settings } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/**
 * Returns the reserved prefix of a name, if CI jobs of a repository own it: otherwise another user could take the name
 * first, and block a deploy or impersonate it. Throws a PlatformError for callers that are neither a job nor an
 * administrator; the hint says how to choose another name.
 */
export function requireReservedName(
  { ci }: Pick<Settings, 'ci'>,
  owner: PlatformUser,
  name: string,
  hint: string,
): string | undefined {
  const prefix = reservedPrefix(name, ci)
  if (prefix === undefined || owner.role === 'admin' || isJobs(owner, ci)) return prefix
  throw new PlatformError(403, 'kept-name', `names that begin with \`${prefix}\` are reserved for CI jobs`, { hint })
}

/** All webhooks. */
export interface KnownHooks {
  list(): Promise<readonly Pick<HookRecord, 'prefix' | 'owner'>[]>
}

/**
 * Reserves the names of a webhook's previews for its owner: otherwise another user could take the name first, and block
 * a preview or impersonate it. Throws a PlatformError for others, except administrators.
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
