import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { environmentOfRepository } from '../../../platform/rules/environment-name.ts'
import { repositoryOf } from '../../../project/names/environment-name.ts'
import type { Io } from '../../terminal/io.ts'

/**
 * Returns the HTTPS address of the repository of this folder; undefined if there is no repository or no such address.
 */
export async function addressHere({ cwd }: Pick<Io, 'cwd'>): Promise<string | undefined> {
  const { toHttps } = await import('../../../adapters/git/git-facts.ts')
  const address = repositoryOf(cwd)?.address
  return address === undefined ? undefined : toHttps(address)
}

/**
 * Returns the address from `--repository`, or else the HTTPS address of the repository of this folder. Throws a
 * UsageError if there is neither.
 */
export async function repositoryHere(
  io: Pick<Io, 'cwd'>,
  named: string | undefined,
  from = '--repository',
): Promise<string> {
  if (named !== undefined) return withoutLogin(named, from)
  const found = await addressHere(io)
  if (found !== undefined) return found
  throw new UsageError('which repository?', {
    hint: 'name it with `--repository https://…`, or run the command in a checkout that has a remote',
  })
}

/**
 * Returns an address from an option unchanged. Throws a UsageError if the address contains a user or a password, before
 * the address is sent anywhere. The user in `ssh://git@…` is allowed, because it is not a login.
 */
export function withoutLogin(address: string, option: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isSsh = url !== undefined && /^(ssh|git\+ssh|ssh\+git):$/.test(url.protocol)
  const hasLogin = url
    ? url.password !== '' || (url.username !== '' && !isSsh)
    : /^[a-z][a-z0-9+.-]*:\/\/.*@/is.test(address)
  if (!hasLogin) return address
  throw new UsageError(`the address of \`${option}\` has a user or a password`, {
    hint: 'leave it out: `devctl credentials set HOST` asks for a login, as other programs of this machine see arguments',
  })
}

/** Returns the last path segment of a repository's address. */
export const lastPart = (repository: string): string =>
  repository
    .replace(/\/+$/, '')
    .split('/')
    .at(-1)! // a split text has a part
    .replace(/\.git$/, '')

/**
 * Returns the name of the environment to which a repository is deployed by default, derived from the last segment of
 * the address.
 */
export const nameIn = (repository: string): string => environmentOfRepository(lastPart(repository))
