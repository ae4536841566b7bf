import { tokenLogin } from '../../adapters/forge/token-host.ts'
import { loginOf, withUser } from '../../adapters/git/address-credentials.ts'
import { type Git, GitFailure, type GitOptions, openGit } from '../../adapters/git/git.ts'
import { classify, type Rejection } from '../../adapters/git/rejection.ts'
import { openTemporary } from '../../adapters/git/temporary.ts'
import {
  clone,
  cloneWithFiles,
  type FetchedBranch,
  isBranchMissing,
  type PushTarget,
  type WorkingCopy,
} from './checkout.ts'

/** Clone of a repository that is in progress. */
export interface StartedClone {
  /** Temporary folder of the clone. */
  readonly folder: string
  readonly git: Git
  /** Result of the clone; rejects with the same errors as `clone`. */
  readonly found: Promise<FinishedClone>
  /** Stops running processes and removes the folder; may be called several times. */
  end(): Promise<void>
}

/**
 * Result of a clone. `checkout` and `paths` are set if the clone was started with paths and contains their files;
 * otherwise, only the branch was fetched.
 */
export type FinishedClone = FetchedBranch & { readonly checkout?: WorkingCopy; readonly paths?: readonly string[] }

/**
 * Starts to fetch a repository into a temporary folder while the caller does other work. The caller must call `end`.
 */
export function startClone(
  target: Pick<PushTarget, 'address' | 'branch'> & Partial<Pick<PushTarget, 'paths'>>,
  { env, signal }: GitOptions,
): StartedClone {
  const { credentials } = target.address
  const token = tokenLogin(target.address, env)
  const { folder, remove } = openTemporary(env)
  const ending = new AbortController()
  const git = openGit(folder, {
    env: withUser(env, credentials),
    logins: [...loginOf(credentials), ...(token && 'login' in token ? [token.login] : [])],
    signal: AbortSignal.any([signal, ending.signal]),
  })
  const found = come()
  const settled = found.then(
    () => {},
    () => {},
  )
  const end = async () => {
    ending.abort()
    await settled
    await remove()
  }
  return { folder, git, found, end }

  async function come(): Promise<FinishedClone> {
    const { paths } = target
    try {
      if (!paths) return await clone(folder, git, target)
      const checkout = await cloneWithFiles(folder, git, { ...target, paths })
      return { branch: checkout.branch, head: checkout.head, paths, checkout }
    } catch (error) {
      // A denied login, a missing repository or an unreachable server would only fail again.
      if (!paths || !(error instanceof GitFailure) || HOPELESS.has(classify(error.said))) throw error
      return clone(folder, git, target, isBranchMissing(error))
    }
  }
}

const HOPELESS: ReadonlySet<Rejection> = new Set(['credentials', 'missing', 'unreachable'])
