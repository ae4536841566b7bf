import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenLogin } from '../../adapters/forge/token-host.ts'
import { GitFailure, type GitOptions } from '../../adapters/git/git.ts'
import { type PushLock, takePushLock } from '../../adapters/git/push-lock.ts'
import { classify, essence, type Rejection, rejectionOf } from '../../adapters/git/rejection.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { checkOut, clone, fetchAgain, type PushTarget, settle, stage, type WorkingCopy } from './checkout.ts'
import { firstPause, mayRetry, pauseAfter } from './push-retries.ts'
import { type FinishedClone, type StartedClone, startClone } from './started-clone.ts'

/** Work to do on a fresh checkout. Called again, on another fresh checkout, whenever another push came first. */
export interface Work<Done> {
  /**
   * Writes the files. Returns the commit to create from them, or the result if nothing has to be committed. Throws a
   * UserError.
   */
  write(checkout: WorkingCopy): Promise<{ readonly commit: Commit } | { readonly done: Done }>
}

export interface Commit {
  /** Full commit message: subject, body and trailers. */
  readonly message: string
  /** Paths that were written or removed, with `/`, from the root of the repository. */
  readonly paths: readonly string[]
  readonly mark?: Mark
}

/** A ref that is pushed together with the branch, unless another push has moved it. */
export interface Mark {
  readonly ref: string
  /** Object that the ref should point to. The object already exists. */
  readonly object: string
  /** Object that the ref currently points to; empty if the ref must not exist. */
  readonly expected: string
  /** True if `expected` was computed, not read from the server. */
  readonly isGuess: boolean
}

/** A commit that has reached its branch. */
export interface Pushed {
  readonly branch: string
  /** Previous commit; undefined for the first commit of a branch. */
  readonly before: string | undefined
  readonly commit: string
  /** Reasons of the earlier failed attempts: another push came first, or the connection broke. */
  readonly retries: readonly Rejection[]
}

export interface PushOptions extends GitOptions {
  /** Receives progress events: the head that was fetched, and why a push is retried. */
  readonly tell?: (event: PushEvent) => void
  /** First pause in milliseconds; tests shorten it. */
  readonly pause?: number
  /** Clone of the target that was started before; the caller that started it also ends it. */
  readonly startedClone?: StartedClone
  /** True if `write` changes nothing, so that the process need not wait for other pushes on this machine. */
  readonly dryRun?: boolean
}

export type PushEvent =
  | { readonly type: 'fetched'; readonly branch: string; readonly head: string | undefined }
  | { readonly type: 'again'; readonly because: Rejection }

/**
 * Writes to a branch of a repository in a temporary clone, commits and pushes. If another push came first, everything
 * is written again on the new head: text is never rebased, and a shared branch is never force-pushed. Returns the
 * result of `write`, or the commit. Throws a UserError, with the server's message, for errors that a retry cannot fix,
 * and the signal's abort reason.
 */
export async function pushTo<Done>(
  target: PushTarget,
  work: Work<Done>,
  options: PushOptions,
): Promise<{ readonly done: Done; readonly checkout: WorkingCopy } | { readonly pushed: Pushed }> {
  type Result = { readonly done: Done; readonly checkout: WorkingCopy } | { readonly pushed: Pushed }
  const { signal, tell = () => {} } = options
  const startedClone = options.startedClone ?? startClone(target, options)
  const { folder, git } = startedClone
  try {
    return await pushFrom()
  } finally {
    if (!options.startedClone) await startedClone.end()
  }

  async function pushFrom(): Promise<Result> {
    let branch: string | undefined
    let isPristine = true
    const retries: Rejection[] = []
    const sent: Sent[] = []
    for (;;) {
      const began = performance.now()
      const attempt = await inTurn()
      if ('result' in attempt) return attempt.result
      const { kind, failure } = attempt
      if (!mayRetry([...retries, kind], branch !== undefined)) throw refusal(target, kind, failure, options.env)
      retries.push(kind)
      tell({ type: 'again', because: kind })
      const pause = options.pause ?? firstPause(performance.now() - began)
      await sleep(pauseAfter(retries.length, pause), undefined, { signal }).catch(() => signal.throwIfAborted())
    }

    type Attempt = { readonly result: Result } | { readonly kind: Rejection; readonly failure: GitFailure }
    async function inTurn(): Promise<Attempt> {
      let lock: PushLock | undefined
      try {
        // Fetching needs no lock, but the result may be outdated by the time the lock is acquired.
        const early = branch === undefined ? await firstFound() : undefined
        const name = `${target.address.url} ${target.request ?? branch}`
        if (!options.dryRun) lock = await takePushLock(options.env, name, signal)
        return await once(lock?.hasWaited || target.request !== undefined ? undefined : early)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof GitFailure)) throw error
        const kind = rejectionOf(error)
        if (kind === undefined) throw error
        return { kind, failure: error }
      } finally {
        lock?.end()
      }
    }

    async function firstFound(): Promise<FinishedClone> {
      const found: FinishedClone = await (retries.length === 0 ? startedClone.found : clone(folder, git, target))
      branch = found.branch
      const { checkout, ...bare } = found
      if (checkout) isPristine = false
      if (checkout && found.paths?.join('\n') === target.paths.join('\n')) return found
      settle(folder, target)
      return bare
    }

    async function once(early: FinishedClone | undefined, last = retries.at(-1), isAgain = false): Promise<Attempt> {
      const found = early ?? (await fetchAgain(git, branch!, target))
      const isFirst = isPristine
      isPristine = false
      const checkout = early?.checkout ?? (await checkOut(folder, git, target, found, isFirst))
      const { head } = checkout
      tell({ type: 'fetched', branch: checkout.branch, head })
      // An earlier push may have succeeded even though its answer was lost.
      const arrived = await firstArrived(checkout, target, sent, last)
      if (arrived) return { result: { pushed: { branch: checkout.branch, ...arrived, retries } } }
      const made = await work.write(checkout)
      if ('done' in made) return { result: { done: made.done, checkout } }
      await commitAll(checkout, made.commit)
      const pushed = push(checkout, target, made.commit.mark)
      // The commit must be known even if the push fails.
      const [commit] = await Promise.all([git.run('rev-parse', 'HEAD'), pushed.catch(() => {})])
      sent.push({ commit, before: head })
      try {
        await pushed
      } catch (error) {
        // No other push came first; only the computed value of the mark was wrong, so the mark has to be read first.
        const { mark } = made.commit
        if (!isAgain && mark?.isGuess && isStale(error, mark)) return await once(undefined, 'race', true)
        throw error
      }
      return { result: { pushed: { branch: checkout.branch, before: head, commit, retries } } }
    }
  }
}

/** A commit that was sent, but not confirmed by the server. */
type Sent = Pick<Pushed, 'commit' | 'before'>

/**
 * Returns the sent commit that has reached the branch; undefined if none has. After a broken connection, other pushes
 * may have been added on top of the commit. After a lost race, only the newest commit of the branch is compared: curl
 * repeats a request whose answer was lost, and the second request then loses against the first.
 */
async function firstArrived(
  { git, head, requestHead }: WorkingCopy,
  { request }: PushTarget,
  sent: readonly Sent[],
  last: Rejection | undefined,
): Promise<Sent | undefined> {
  const there = request === undefined ? head : requestHead
  const newest = sent.find(({ commit }) => commit === there)
  if (newest || sent.length === 0 || there === undefined || request !== undefined || last === 'race') return newest
  await git.ask('fetch', '--quiet', '--no-tags', '--deepen=100', '--filter=blob:none', 'origin')
  for (const one of sent)
    if ((await git.ask('merge-base', '--is-ancestor', one.commit, there)) !== undefined) return one
  return undefined
}

async function commitAll(checkout: WorkingCopy, { message, paths }: Commit): Promise<void> {
  const { folder, git } = checkout
  const text = join(folder, '.git/devctl-message')
  writeFileSync(text, message)
  await stage(checkout, paths)
  try {
    await git.run('commit', '--quiet', `--file=${text}`, '--cleanup=verbatim')
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    throw commitRefused(error)
  }
}

function commitRefused(error: GitFailure): UserError {
  const isNobody = /Please tell me who you are|empty ident|no email was given|unable to auto-detect email/i.test(
    error.said,
  )
  return new UserError(isNobody ? 'the git author identity is not set' : 'git refused to commit', {
    notes: isNobody ? [] : essence(error.said),
    hint: isNobody
      ? 'set `git config --global user.name` and `user.email`, or GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL'
      : 'a hook or commit signing in your git configuration failed; `git commit` should fail in the same way',
    cause: error,
  })
}

async function push(
  { git, branch, requestHead }: WorkingCopy,
  { request, address }: PushTarget,
  mark?: Mark,
): Promise<void> {
  // Updates the files of a local checkout to the commit, if the checkout has no changes.
  const receive = address.isCheckout
    ? ['--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack']
    : []
  const to =
    request === undefined
      ? [`HEAD:refs/heads/${branch}`]
      : [`--force-with-lease=refs/heads/${request}:${requestHead ?? ''}`, `HEAD:refs/heads/${request}`]
  const words = ['push', '--quiet', '--no-follow-tags', '--recurse-submodules=no', ...receive]
  if (mark !== undefined) {
    const { ref, object, expected } = mark
    try {
      await git.run(...words, '--atomic', `--force-with-lease=${ref}:${expected}`, 'origin', ...to, `${object}:${ref}`)
      return
    } catch (error) {
      if (!isMarkRefused(error, mark)) throw error
    }
  }
  await git.run(...words, 'origin', ...to)
}

/** True if a push failed only because the ref of a mark does not point to the object that the mark expects. */
const isStale = (error: unknown, { ref }: Mark) =>
  error instanceof GitFailure &&
  error.said.includes(`${ref} (stale info)`) &&
  !/\((fetch first|non-fast-forward)\)/.test(error.said)

/**
 * True if the server rejected the push because of the mark, and may accept the branch alone. Such a server does not
 * accept the mark's ref, or cannot push two refs atomically.
 */
function isMarkRefused(error: unknown, { ref }: Mark): boolean {
  if (!(error instanceof GitFailure)) return false
  if (error.said.includes('does not support --atomic')) return true
  if (classify(error.said) !== 'refused') return false
  const lines = [...error.said.matchAll(/^ *! \[remote rejected\] \S+ -> (\S+) \((.*)\)/gm)]
  const why = lines.find(([, name]) => name === ref)?.[2]
  // A hook that checks all refs at once does not report which ref it rejected.
  const isForMark = ([, name, reason = '']: RegExpMatchArray) => name === ref || reason === why || ATOMIC.test(reason)
  return why !== undefined && !ATOMIC.test(why) && lines.every(isForMark)
}

/**
 * Matches the reason that a server reports for a ref that it rejects only because it rejects another ref of the same
 * push.
 */
const ATOMIC = /atomic|transaction failed/

const MESSAGES: Readonly<
  Record<Rejection, (shown: string, request?: string) => { readonly message: string; readonly hint: string }>
> = {
  race: shown => ({ message: `\`${shown}\` was changed by other pushes again and again`, hint: 'try again' }),
  broken: shown => ({
    message: `the connection to \`${shown}\` broke again and again`,
    hint: 'try again later; an interrupted run leaves no partial changes',
  }),
  refused: (shown, request) => ({
    message: `\`${shown}\` refused the push`,
    hint:
      request === undefined
        ? 'if the branch is protected, open a pull request with `--pull-request`; otherwise ask for push access'
        : `ask for the right to push to \`${request}\`, or see the message of the server`,
  }),
  credentials: shown => ({
    message: `authentication failed for \`${shown}\``,
    hint: 'check that `git clone` works; https needs a credential helper, or a token in DEVCTL_GIT_TOKEN; ssh needs a key that the server accepts, and a known host',
  }),
  missing: shown => ({
    message: `the repository \`${shown}\` does not exist, or you do not have access`,
    hint: 'check the URL and the access rights of your account or token',
  }),
  unreachable: shown => ({ message: `\`${shown}\` is not reachable`, hint: 'check the URL and the network' }),
}

/** Returns the message of git and the server, as an error for the user. */
export function refusal(
  { address, request }: Pick<PushTarget, 'address' | 'request'>,
  kind: Rejection,
  failure: GitFailure,
  env: GitOptions['env'],
): UserError {
  const { message, hint } = MESSAGES[kind](address.shown, request)
  const token = kind === 'credentials' || kind === 'missing' ? tokenLogin(address, env) : undefined
  const notes = essence(failure.said)
  if (!token || 'login' in token) return new UserError(message, { notes, hint, cause: failure })
  const { reason, hint: whatToSet } = token.withheld
  return new UserError(message, { notes: [...notes, reason], hint: whatToSet, cause: failure })
}
