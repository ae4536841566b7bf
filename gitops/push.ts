import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type Checkout, prepareCheckout, refresh, type Target } from './checkout.ts'
import { GitFailure, type GitOptions } from './git.ts'
import { classify, essence, type Rejection } from './rejection.ts'
import { withTemporary } from './temporary.ts'

/** What is to be done with a fresh checkout: it is called again, on a fresh one, whenever somebody else was faster. */
export interface Work<Done> {
  /** Writes the files. Gives the commit to make of them, or what has come out where there is nothing to commit. Throws a UserError. */
  write(checkout: Checkout): Promise<{ readonly commit: Commit } | { readonly done: Done }>
}

export interface Commit {
  /** Subject, body and trailers. */
  readonly message: string
  /** What was written and removed, with `/`, from the root of the repository. */
  readonly paths: readonly string[]
}

/** A commit that is on its branch. */
export interface Pushed {
  readonly branch: string
  /** Undefined for the first commit of a branch. */
  readonly before: string | undefined
  readonly commit: string
  /** How often somebody else was faster, or the connection broke. */
  readonly retries: readonly Rejection[]
  /** The branch of a pull request had a commit before. */
  readonly replaced?: string
}

export interface PushOptions extends GitOptions {
  /** Told of what happens: the head that was fetched, and why a push is tried again. */
  readonly tell?: (event: PushEvent) => void
  /** Milliseconds of the first pause; tests make it short. */
  readonly pause?: number
}

export type PushEvent =
  | { readonly type: 'fetched'; readonly branch: string; readonly head: string | undefined }
  | { readonly type: 'again'; readonly because: Rejection }

/** Milliseconds: the first pause, and the longest. */
const PAUSE = 250
const LONGEST_PAUSE = 10_000
/** How often in a row a broken connection is tried again; races have no limit but the deadline, for somebody else gets on. */
const MOST_BREAKS = 6

/**
 * Writes to a branch of a repository in a temporary copy, commits and pushes. When another push came first, everything is written again on the fresh head: text is never
 * rebased, and a branch that others share is never forced (reference/peers.md 5.5). Gives what `write` has made of it, or the commit. Throws a UserError for what
 * trying again cannot mend, in the server's own words, and the signal's reason.
 */
export async function pushTo<Done>(
  target: Target,
  work: Work<Done>,
  options: PushOptions,
): Promise<{ readonly done: Done; readonly checkout: Checkout } | { readonly pushed: Pushed }> {
  const { signal, tell = () => {} } = options
  return withTemporary(options.env, async folder => {
    const git = await prepareCheckout(folder, target, options)
    const retries: Rejection[] = []
    let sent: { readonly commit: string; readonly before: string | undefined } | undefined
    for (let breaks = 0; ; ) {
      const attempt = await once()
      if ('result' in attempt) return attempt.result
      const { kind, failure } = attempt
      breaks = kind === 'broken' || kind === 'unreachable' ? breaks + 1 : 0
      if ((kind !== 'race' && breaks === 0) || breaks > MOST_BREAKS) throw refusal(target, kind, failure)
      // Who has never been reached is not waited for.
      if (kind === 'unreachable' && retries.length === 0 && breaks > 2) throw refusal(target, kind, failure)
      retries.push(kind)
      tell({ type: 'again', because: kind })
      await sleep(pauseAfter(retries.length, options.pause ?? PAUSE), undefined, { signal }).catch(() => {
        signal.throwIfAborted()
      })
    }

    type Result = { readonly done: Done; readonly checkout: Checkout } | { readonly pushed: Pushed }
    async function once(): Promise<
      { readonly result: Result } | { readonly kind: Rejection; readonly failure: GitFailure }
    > {
      try {
        const checkout = await refresh(folder, git, target)
        const { branch, head } = checkout
        tell({ type: 'fetched', branch, head })
        // The answer to an earlier push was lost, not the push.
        if (sent && (await hasArrived(checkout, target, sent.commit)))
          return { result: { pushed: { branch, ...sent, retries } } }
        const made = await work.write(checkout)
        if ('done' in made) return { result: { done: made.done, checkout } }
        const commit = await commitAll(checkout, made.commit)
        sent = { commit, before: head }
        await push(checkout, target)
        const replaced = checkout.requestHead
        return { result: { pushed: { branch, before: head, commit, retries, ...(replaced && { replaced }) } } }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof GitFailure)) throw error
        const kind = classify(error.said)
        if (kind !== 'broken') sent = undefined
        return { kind, failure: error }
      }
    }
  })
}

async function hasArrived({ git, head, requestHead }: Checkout, { request }: Target, commit: string): Promise<boolean> {
  const there = request === undefined ? head : requestHead
  if (there === commit) return true
  if (there === undefined || request !== undefined) return false
  // Others may have pushed on top of it since.
  await git.ask('fetch', '--quiet', '--no-tags', '--deepen=100', '--filter=blob:none', 'origin')
  return (await git.ask('merge-base', '--is-ancestor', commit, there)) !== undefined
}

async function commitAll({ git }: Checkout, { message, paths }: Commit): Promise<string> {
  // What the repository or the user ignores is published all the same.
  for (let from = 0; from < paths.length; from += 200)
    await git.run('add', '--all', '--force', '--sparse', '--', ...paths.slice(from, from + 200))
  try {
    await git.run('commit', '--quiet', '--message', message, '--cleanup=verbatim')
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    throw commitRefused(error)
  }
  return git.run('rev-parse', 'HEAD')
}

function commitRefused(error: GitFailure): UserError {
  const isNobody = /Please tell me who you are|empty ident|no email was given|unable to auto-detect email/i.test(
    error.said,
  )
  return new UserError(isNobody ? 'git does not know who commits' : 'git refused to make the commit', {
    notes: isNobody ? [] : essence(error.said),
    hint: isNobody
      ? 'set `git config --global user.name` and `user.email`, or GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL'
      : 'a hook or the signing of your git configuration did not agree: `git commit` by hand should say the same',
    cause: error,
  })
}

async function push({ git, branch, requestHead }: Checkout, { request, address }: Target): Promise<void> {
  // A checkout on this machine takes the commit into its files, if nothing in it has been changed.
  const receive = address.isCheckout
    ? ['--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack']
    : []
  const to =
    request === undefined
      ? [`HEAD:refs/heads/${branch}`]
      : [`--force-with-lease=refs/heads/${request}:${requestHead ?? ''}`, `HEAD:refs/heads/${request}`]
  await git.run('push', '--quiet', '--no-follow-tags', '--recurse-submodules=no', ...receive, 'origin', ...to)
}

/** Milliseconds: longer each time, and by chance, so that twenty pipelines do not meet again. */
function pauseAfter(times: number, first: number): number {
  return Math.min(LONGEST_PAUSE, first * 1.5 ** Math.min(times - 1, 20)) * (0.5 + Math.random())
}

const MESSAGES: Readonly<Record<Rejection, (shown: string) => { readonly message: string; readonly hint: string }>> = {
  race: shown => ({ message: `\`${shown}\` was pushed to by others all the time`, hint: 'try again' }),
  broken: shown => ({
    message: `the connection to \`${shown}\` broke again and again`,
    hint: 'try again later; a run that was cut leaves nothing half done',
  }),
  refused: shown => ({
    message: `\`${shown}\` refused the push`,
    hint: 'where the branch is protected, open a pull request with `--pull-request`; else ask for the right to push',
  }),
  credentials: shown => ({
    message: `\`${shown}\` does not let you in`,
    hint: 'can you `git clone` it? https needs a credential helper, or a token in DEVCTL_GIT_TOKEN; ssh needs a key that the server knows, and a host that you know',
  }),
  missing: shown => ({
    message: `there is no repository \`${shown}\`, or you may not see it`,
    hint: 'check the address, and that your account or token has access to it',
  }),
  unreachable: shown => ({ message: `\`${shown}\` cannot be reached`, hint: 'check the address, and the network' }),
}

/** What git and the server said, as a message for people. */
export function refusal({ address }: Target, kind: Rejection, failure: GitFailure): UserError {
  const { message, hint } = MESSAGES[kind](address.shown)
  return new UserError(message, { notes: essence(failure.said), hint, cause: failure })
}
