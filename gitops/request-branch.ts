import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Checkout } from './checkout.ts'
import { LOCK_NAME, type Lock, parseLock } from './tree/lock.ts'

/** The trailers by which a commit of ours is known. */
const OURS = /^Devctl-(Source|Environment|Image|Application): /m

/** The branch of a pull request is rewritten by each publish: commits that somebody else has put there would be lost. Throws a UserError. */
export async function refuseForeignRequest({ git }: Checkout, commit: string, branch: string): Promise<void> {
  const [author = '', ...message] = (await git.run('log', '-1', '--format=%an <%ae>%n%B', commit)).split('\n')
  if (OURS.test(message.join('\n'))) return
  throw new UserError(`somebody else has pushed to \`${branch}\``, {
    notes: [`${commit.slice(0, 7)} by ${author}: ${message[0] ?? ''}`],
    hint: 'merge or close the request, or remove the commit from its branch; devctl rewrites the branch',
  })
}

/** The lock that the branch of the pull request has in a folder. A damaged one is none: the branch is written anew. */
export async function requestLock({ git, requestHead }: Checkout, path: string): Promise<Lock | undefined> {
  if (requestHead === undefined) return undefined
  const file = path === '.' ? LOCK_NAME : `${path}/${LOCK_NAME}`
  const text = await git.ask('show', `${requestHead}:${file}`)
  if (text === undefined) return undefined
  try {
    return parseLock(text, file)
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * Whether the branch of the pull request holds in these folders what was just written to the files of `paths`. The locks do not count: they name the commit of the
 * source, and a request is not written anew for that alone.
 */
export async function isOnRequest(
  { git }: Checkout,
  commit: string,
  folders: readonly string[],
  paths: readonly string[],
): Promise<boolean> {
  await git.run('add', '--all', '--force', '--sparse', '--', ...paths)
  const differing = await git.run('diff', '--cached', '--name-only', '-z', commit, '--', ...folders)
  return differing.split('\0').every(path => path === '' || path === LOCK_NAME || path.endsWith(`/${LOCK_NAME}`))
}
