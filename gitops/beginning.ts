import { withCredentials } from './address-credentials.ts'
import { type Checkout, checkOut, clone, type Found, settle, type Target } from './checkout.ts'
import { type Git, type GitOptions, openGit } from './git.ts'
import { openTemporary } from './temporary.ts'

/** A copy of a repository that is on its way. */
export interface Beginning {
  /** Temporary. */
  readonly folder: string
  readonly git: Git
  /** Rejects as `clone` does. */
  readonly found: Promise<Begun>
  /** Ends what runs, and removes the folder; may be called again. */
  end(): Promise<void>
}

/** What has come, with its files where it was known which ones. */
export type Begun = Found & { readonly checkout?: Checkout; readonly paths?: readonly string[] }

/** Starts to fetch a repository into a temporary folder, while the caller has other things to do. Whoever begins must `end`. */
export function begin(
  target: Pick<Target, 'address' | 'branch'> & Partial<Pick<Target, 'paths'>>,
  { env, signal }: GitOptions,
): Beginning {
  const { folder, remove } = openTemporary(env)
  const ending = new AbortController()
  const git = openGit(folder, {
    env: withCredentials(env, target.address.credentials),
    tokenFor: target.address.url,
    signal: AbortSignal.any([signal, ending.signal]),
  })
  const found = clone(folder, git, target).then(async (found): Promise<Begun> => {
    const { paths } = target
    if (!paths) return found
    settle(folder, { paths })
    return { ...found, paths, checkout: await checkOut(folder, git, {}, found, true) }
  })
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
