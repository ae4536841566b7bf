/**
 * Policies for requests from forks: never deploy them, deploy a commit after a user with write access has approved it,
 * or deploy them in a sandbox.
 */
export const FORK_POLICIES = ['never', 'approve', 'sandbox'] as const
export type ForkPolicy = (typeof FORK_POLICIES)[number]

/**
 * Origin of the code that a run without a person executes: `repository` is code by users with write access, `fork` is
 * code by any user. Absent: a person started the run.
 */
export const CODE_TRUSTS = ['repository', 'fork'] as const
export type CodeTrust = (typeof CODE_TRUSTS)[number]

/** Milliseconds after its last deploy at which a preview of a fork expires. */
export const FORK_LIFETIME = 24 * 3_600_000

/**
 * A pull or merge request, as the API of its forge returns it. Repositories and people are identified by number: names
 * can be reassigned.
 */
export interface PullFacts {
  readonly number: number
  readonly isOpen: boolean
  readonly page: string
  readonly author: { readonly id: string; readonly login: string }
  /** The target repository. */
  readonly base: string
  /** Its last commit. */
  readonly commit: string
  readonly branch: string
  /** The repository of its branch; undefined if it was deleted or cannot be seen. */
  readonly head:
    | {
        readonly id: string
        /** The address for clones. */
        readonly url: string
        /** The number of the repository's owner; absent if that is not a person. */
        readonly owner?: string
      }
    | undefined
}

/**
 * True if the author's permissions have to be known: only if the branch is in the author's own fork. Any user can open
 * a request from any fork, and the owner of the fork can push to it later, so an author with write access vouches only
 * for their own fork.
 */
export const dependsOnAuthor = ({ base, head, author }: PullFacts): boolean =>
  head !== undefined && head.id !== base && head.owner !== undefined && head.owner === author.id

/** Returns the origin of a request's code. `authorMayWrite` comes from the API of the forge. */
export function trustOf(facts: PullFacts, authorMayWrite: boolean): CodeTrust {
  if (facts.head?.id === facts.base) return 'repository'
  return dependsOnAuthor(facts) && authorMayWrite ? 'repository' : 'fork'
}

/** The recorded state of a request that is waiting, or was deployed. */
export interface KnownPull {
  /** The last deployed commit, and whose code it is. */
  readonly deployed?: { readonly commit: string; readonly trust: CodeTrust }
  /** Commit that a user has approved. */
  readonly approved?: { readonly commit: string }
}

/** Next step for the preview of a request. */
export type PullStep =
  /** The preview is up to date. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'deploy'; readonly trust: CodeTrust }
  /**
   * The preview contains trusted code and has to be deleted before code of a fork can be deployed, or the other way
   * round.
   */
  | { readonly kind: 'replace'; readonly trust: CodeTrust }
  /** Waits for an approval of the commit. The previous deploy stays. */
  | { readonly kind: 'wait' }
  /** The request is closed: the preview is destroyed. */
  | { readonly kind: 'close' }
  | { readonly kind: 'refuse'; readonly problem: string }

/** Decides based on the current state at the forge. Deciding twice has the same result. */
export function decidePull(
  facts: PullFacts,
  {
    trust,
    policy,
    known,
  }: { readonly trust: CodeTrust; readonly policy: ForkPolicy; readonly known: KnownPull | undefined },
): PullStep {
  if (!facts.isOpen) return { kind: 'close' }
  if (!facts.head) return { kind: 'refuse', problem: 'the repository of its branch does not exist, or is not visible' }
  if (trust === 'fork' && policy === 'never')
    return { kind: 'refuse', problem: 'it comes from a fork, and this webhook does not deploy forks' }
  if (trust === 'fork' && policy === 'approve' && known?.approved?.commit !== facts.commit) return { kind: 'wait' }
  const { deployed } = known ?? {}
  if (!deployed) return { kind: 'deploy', trust }
  if (deployed.trust !== trust) return { kind: 'replace', trust }
  return deployed.commit === facts.commit ? { kind: 'nothing' } : { kind: 'deploy', trust }
}

/** Returns the reason why an approval of a commit is not valid; undefined if it is valid. */
export function approvalProblem(commit: string, waits: { readonly commit: string } | undefined): string | undefined {
  if (!waits) return 'no commit is waiting for approval'
  if (commit === waits.commit) return undefined
  // An abbreviated commit is not enough: others can create commits with the same beginning.
  if (waits.commit.startsWith(commit)) return 'the full commit is required'
  return `there is a newer commit: ${waits.commit}`
}

/** The name of the preview of a request: `shop-` and 7 are `shop-pr-7`. */
export const pullPreviewName = (prefix: string, number: number): string => `${prefix}pr-${number}`

/** The prefix of the webhook that a name would belong to; undefined for a name that no request gets. */
export const prefixOfPull = (name: string): string | undefined => /^(.+-)pr-[1-9][0-9]*$/.exec(name)?.[1]
