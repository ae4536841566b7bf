import { environmentOfRepository } from '../environment-name.ts'
import { namespaceNameProblem } from '../names.ts'

/**
 * Policies for pull requests from forks: never deploy them, deploy a commit after a user with write access has approved
 * it, or deploy them in a sandbox.
 */
export const FORK_POLICIES = ['never', 'approve', 'sandbox'] as const
export type ForkPolicy = (typeof FORK_POLICIES)[number]

/**
 * Origin of the code in a run that no person has started: `repository` is code by users with write access, `fork` is
 * code by any user. Absent if a person started the run.
 */
export const CODE_TRUSTS = ['repository', 'fork'] as const
export type CodeTrust = (typeof CODE_TRUSTS)[number]

/** Lifetime of a preview of a fork after its last deploy, in milliseconds. */
export const FORK_LIFETIME = 24 * 3_600_000

/**
 * A pull or merge request, as the API of its forge returns it. Repositories and people are identified by number,
 * because names can be reassigned.
 */
export interface PullFacts {
  readonly number: number
  readonly isOpen: boolean
  readonly page: string
  readonly author: { readonly id: string; readonly login: string }
  /** Number of the target repository. */
  readonly base: string
  /** Hash of the last commit of the pull request. */
  readonly commit: string
  readonly branch: string
  /** The repository that contains the branch; undefined if it was deleted or is not visible. */
  readonly head:
    | {
        readonly id: string
        /** URL from which git clones the repository. */
        readonly url: string
        /** User number of the repository's owner; absent if the owner is not a person. */
        readonly owner?: string
      }
    | undefined
}

/**
 * True if the author's permissions decide about trust in the code, because the branch is in the author's own fork. Any
 * user can open a request from any fork, and the owner of the fork can push to it later. An author with write access
 * therefore vouches only for their own fork.
 */
export const dependsOnAuthor = ({ base, head, author }: PullFacts): boolean =>
  head !== undefined && head.id !== base && head.owner !== undefined && head.owner === author.id

/**
 * Returns the origin of the code in a pull request. `authorMayWrite` is true if the author has write access to the
 * target repository, according to the API of the forge.
 */
export function trustOf(facts: PullFacts, authorMayWrite: boolean): CodeTrust {
  if (facts.head?.id === facts.base) return 'repository'
  return dependsOnAuthor(facts) && authorMayWrite ? 'repository' : 'fork'
}

/** The recorded state of a pull request that was deployed or is waiting. */
export interface KnownPull {
  /** Last deployed commit, and the origin of its code. */
  readonly deployed?: { readonly commit: string; readonly trust: CodeTrust }
  /** Commit that a user has approved. */
  readonly approved?: { readonly commit: string }
}

/** Next step for the preview of a pull request. */
export type PullStep =
  /** No action, because the preview is up to date. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'deploy'; readonly trust: CodeTrust }
  /** Delete the preview first, because it contains trusted code and the new code comes from a fork, or vice versa. */
  | { readonly kind: 'replace'; readonly trust: CodeTrust }
  /** Wait for an approval of the commit. The previous deploy stays. */
  | { readonly kind: 'wait' }
  /** Destroy the preview, because the pull request is closed. */
  | { readonly kind: 'close' }
  | { readonly kind: 'refuse'; readonly problem: string }

/** Decides the next step, based on the current state at the forge. A repeated call returns the same step. */
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

/**
 * Returns the reason why an approval of a commit is not valid; undefined if it is valid. `waits` contains the commit
 * that is waiting for an approval.
 */
export function approvalProblem(commit: string, waits: { readonly commit: string } | undefined): string | undefined {
  if (!waits) return 'no commit is waiting for approval'
  if (commit === waits.commit) return undefined
  // An abbreviated hash is not enough, because other users can create commits with the same beginning.
  if (waits.commit.startsWith(commit)) return 'the full commit is required'
  return `there is a newer commit: ${waits.commit}`
}

/** Returns the name of a pull request's preview, such as `shop-pr-7` for the prefix `shop-` and the number 7. */
export const pullPreviewName = (prefix: string, number: number): string => `${prefix}pr-${number}`

/** Maximum length of a default prefix in characters, without its trailing dash. */
const LONGEST = 30

/**
 * Returns the default prefix of a webhook: the name of its repository and a dash. If names with this prefix are
 * reserved, `preview-` is added in front of it.
 */
export function pullPrefix(repository: string): string {
  const name = environmentOfRepository(repository)
  const own = shortened(name)
  return namespaceNameProblem(pullPreviewName(own, 1)) === undefined ? own : shortened(`preview-${name}`)
}

const shortened = (name: string): string => `${name.slice(0, LONGEST).replace(/-+$/, '')}-`

/**
 * Returns the prefix of the webhook that creates previews with this name, such as `shop-` for `shop-pr-7`. Returns
 * undefined if the name does not have the form of a preview of a request.
 */
export const prefixOfPull = (name: string): string | undefined => /^(.+-)pr-[1-9][0-9]*$/.exec(name)?.[1]
