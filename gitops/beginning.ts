import { withCredentials } from './address-credentials.ts'
import { clone, type Found, type Target } from './checkout.ts'
import { type Git, type GitOptions, openGit } from './git.ts'
import { openTemporary } from './temporary.ts'

/** A copy of a repository that is on its way. */
export interface Beginning {
  /** Temporary. */
  readonly folder: string
  readonly git: Git
  /** Rejects as `clone` does. */
  readonly found: Promise<Found>
  /** Ends what runs, and removes the folder; may be called again. */
  end(): Promise<void>
}

/** Starts to fetch a repository into a temporary folder, while the caller has other things to do. Whoever begins must `end`. */
export function begin(target: Pick<Target, 'address' | 'branch'>, { env, signal }: GitOptions): Beginning {
  const { folder, remove } = openTemporary(env)
  const ending = new AbortController()
  const git = openGit(folder, {
    env: withCredentials(env, target.address.credentials),
    signal: AbortSignal.any([signal, ending.signal]),
  })
  const found = clone(folder, git, target)
  const settled = found.then(
    () => {},
    () => {},
  )
  const end = async () => {
    ending.abort()
    await settled
    remove()
  }
  return { folder, git, found, end }
}
