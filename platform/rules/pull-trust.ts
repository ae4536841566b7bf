/** What is done with requests of forks: nothing; deployed when somebody who may write has named the commit; deployed. */
export const FORK_POLICIES = ['never', 'approve', 'sandbox'] as const
export type ForkPolicy = (typeof FORK_POLICIES)[number]

/**
 * Whose code a run is that no person has started: of a repository, by people who may write there, or of a
 * fork, by anybody. Absent: of the person who has started it.
 */
export const CODE_TRUSTS = ['repository', 'fork'] as const
export type CodeTrust = (typeof CODE_TRUSTS)[number]

/** Milliseconds that a preview of a fork lives after its last deploy. */
export const FORK_LIFETIME = 24 * 3_600_000

/** A pull or merge request, as the API of its forge has it. Repositories and people go by number: names can be given to others. */
export interface PullFacts {
  readonly number: number
  readonly isOpen: boolean
  readonly page: string
  readonly author: { readonly id: string; readonly login: string }
  /** The repository into which it is to be merged. */
  readonly base: string
  /** The last commit of it. */
  readonly commit: string
  readonly branch: string
  /** Where its branch is; undefined where that was deleted, or is not to be seen. */
  readonly head:
    | {
        readonly id: string
        /** From where it is cloned. */
        readonly url: string
        /** The number of the person whose it is; absent where it is not one person's. */
        readonly owner?: string
      }
    | undefined
}

/**
 * Whether it has to be known if the author may write: the branch is in a fork of their own. Anybody can ask for a
 * merge of anybody's fork, and whose fork it is can push to it later, so an author who may write vouches for
 * their own only.
 */
export const dependsOnAuthor = ({ base, head, author }: PullFacts): boolean =>
  head !== undefined && head.id !== base && head.owner !== undefined && head.owner === author.id

/** Whose code a request is. `authorMayWrite` is what the API of the forge says. */
export function trustOf(facts: PullFacts, authorMayWrite: boolean): CodeTrust {
  if (facts.head?.id === facts.base) return 'repository'
  return dependsOnAuthor(facts) && authorMayWrite ? 'repository' : 'fork'
}

/** Of a request that waits, or was deployed. */
export interface KnownPull {
  /** What was deployed last, and whose code it was. */
  readonly deployed?: { readonly commit: string; readonly trust: CodeTrust }
  /** The one commit that somebody has allowed. */
  readonly approved?: { readonly commit: string }
}

/** What is to become of the preview of a request. */
export type PullStep =
  /** It is as it is to be. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'deploy'; readonly trust: CodeTrust }
  /** The preview is of code that was trusted: it goes before code of a fork can be there, and the other way round. */
  | { readonly kind: 'replace'; readonly trust: CodeTrust }
  /** For somebody to name the commit. What was deployed before stays. */
  | { readonly kind: 'wait' }
  /** It is closed: the preview is destroyed. */
  | { readonly kind: 'close' }
  | { readonly kind: 'refuse'; readonly problem: string }

/** Decides by what the forge says now. Deciding twice decides nothing new. */
export function decidePull(
  facts: PullFacts,
  {
    trust,
    policy,
    known,
  }: { readonly trust: CodeTrust; readonly policy: ForkPolicy; readonly known: KnownPull | undefined },
): PullStep {
  if (!facts.isOpen) return { kind: 'close' }
  if (!facts.head) return { kind: 'refuse', problem: 'the repository of its branch is gone, or is not to be seen' }
  if (trust === 'fork' && policy === 'never')
    return { kind: 'refuse', problem: 'it is of a fork, and forks get no previews here' }
  if (trust === 'fork' && policy === 'approve' && known?.approved?.commit !== facts.commit) return { kind: 'wait' }
  const { deployed } = known ?? {}
  if (!deployed) return { kind: 'deploy', trust }
  if (deployed.trust !== trust) return { kind: 'replace', trust }
  return deployed.commit === facts.commit ? { kind: 'nothing' } : { kind: 'deploy', trust }
}

/** Why an approval of a commit does not count; undefined where it does. */
export function approvalProblem(commit: string, waits: { readonly commit: string } | undefined): string | undefined {
  if (!waits) return 'nothing waits for it'
  if (commit === waits.commit) return undefined
  // Who names less than all of it has not looked at what they allow: others can make commits that begin the same.
  if (waits.commit.startsWith(commit)) return 'a commit is named by all of its digits'
  return `it was pushed to: the commit is ${waits.commit} now`
}

/** The name of the preview of a request: `shop-` and 7 are `shop-pr-7`. */
export const pullPreviewName = (prefix: string, number: number): string => `${prefix}pr-${number}`
