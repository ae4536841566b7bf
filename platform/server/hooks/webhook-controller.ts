import { ForgeError } from '../../../adapters/forge/api/failures.ts'
import { backOff } from '../../../adapters/http/back-off.ts'
import { finalTold, type HookRecord, type HookState, isCommit, keptPulls, type PullRecord } from '../../records/hook.ts'
import { rfc3339 } from '../../records/names.ts'
import type { PlatformUser } from '../../records/user.ts'
import { commentMarker, destroyedText } from '../../rules/previews/preview-comment.ts'
import { sourceUrlProblem } from '../../rules/previews/previews.ts'
import {
  type CodeTrust,
  decidePull,
  dependsOnAuthor,
  type PullFacts,
  pullPreviewName,
  trustOf,
} from '../../rules/previews/pull-trust.ts'
import { branchProblem, readRepositoryUrl } from '../../rules/repository-url.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { Users } from '../login/users.ts'
import type { NamespaceDeletions } from '../namespaces/deletions.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import type { SharedNamespace } from '../namespaces/shared-namespace.ts'
import type { Previews } from '../previews/previews.ts'
import { HookWork } from './hook-work.ts'
import { type Hooks, hostOfHook, within } from './hooks.ts'

const EVERY = 1000
/** Maximum number of attempts after temporary failures, and the pauses between attempts in milliseconds. */
const ATTEMPTS = 8
const PAUSE = { first: 2000, longest: 60_000 }
/**
 * Maximum number of previews of forks for one webhook. There is a limit because any user of the forge can open a pull
 * request from a fork.
 */
const FORKS = 10
/** Maximum length of a problem, and of other texts from a forge, in characters. */
const LONGEST = 300

/**
 * The result of checking a pull request: its new record, and whether the pull request has to be checked once more
 * (`again`).
 */
interface Looked {
  /** The new record of the pull request; undefined if the pull request is forgotten. */
  readonly pull: PullRecord | undefined
  readonly again?: boolean
}

/** Services that are needed to deploy and destroy the previews of pull requests. */
interface Parts {
  readonly users: Users
  readonly hooks: Hooks
  readonly namespaces: Namespaces
  readonly previews: Previews
  readonly deletions: NamespaceDeletions
}

/**
 * Processes pull requests that webhooks have reported: asks the forge for their state, and deploys or destroys their
 * previews. All state is recorded, so another leader can continue. Processing a pull request twice changes nothing.
 */
export class WebhookController implements LeaderTask {
  readonly name = 'webhooks'
  readonly everyMs = EVERY
  readonly #world: Pick<ServerContext, 'now' | 'log'>
  readonly #parts: Parts
  readonly #work = new HookWork()

  constructor(world: Pick<ServerContext, 'now' | 'log'>, parts: Parts) {
    this.#world = world
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    const found = await this.#parts.hooks.list({ isLook: true }, signal)
    this.#work.keepOnly(new Set(found.flatMap(({ id, look }) => look.map(number => `${id}/${number}`))))
    for (const hook of found) {
      const number = hook.look.find(one => this.#work.isDue(`${hook.id}/${one}`, this.#world.now()))
      if (number === undefined || !this.#work.hasRoom(hook)) continue
      this.#work.begin(hook, () =>
        this.#look(hook, number, signal).catch(error => this.#log(hook, number, error, signal)),
      )
    }
  }

  /** Waits for work in progress. */
  settled(): Promise<void> {
    return this.#work.settled()
  }

  async #look(hook: HookRecord, number: number, signal: AbortSignal): Promise<void> {
    const key = `${hook.id}/${number}`
    const before = hook.pulls.find(one => one.number === number)
    let looked: Looked
    try {
      looked = await this.#act(hook, number, before, signal)
    } catch (error) {
      signal.throwIfAborted()
      const failures = this.#work.failuresOf(key) + 1
      if (mayPass(error) && failures < ATTEMPTS) {
        this.#wait(key, failures)
        return
      }
      this.#log(hook, number, error, signal)
      // The forge has never answered about a pull request without an earlier record, so there is nothing to keep.
      looked = { pull: before && { ...before, problem: problemOf(error) } }
    }
    if (looked.again) this.#wait(key, this.#work.failuresOf(key) + 1)
    else this.#work.forget(key)
    let isKept = true
    await this.#parts.hooks.change(hook.id, now => {
      const state = merged(now, hook, number, looked)
      isKept = keptPulls(state.pulls).length === state.pulls.length
      return state
    })
    if (!isKept) this.#log(hook, number, 'too many requests from forks: not all are remembered', signal)
  }

  #wait(key: string, failures: number): void {
    this.#work.wait(key, failures, this.#world.now() + backOff(failures, PAUSE.first, PAUSE.longest))
  }

  async #act(hook: HookRecord, number: number, before: PullRecord | undefined, signal: AbortSignal): Promise<Looked> {
    const owner = await this.#parts.users.find(hook.owner)
    if (!owner || owner.isSuspended || owner.isRefused)
      throw new PlatformError(403, 'not-allowed', 'the owner of the webhook may no longer log in')
    const forge = this.#parts.hooks.factsOf(hook)
    const facts = await forge.pull(number, within(signal))
    if (facts.number !== number || facts.base !== hook.repositoryId)
      throw new PlatformError(403, 'other-repository', 'this address now belongs to a different repository')
    const mayWrite = dependsOnAuthor(facts) && (await forge.mayWrite(facts.author, within(signal)))
    const trust = trustOf(facts, mayWrite)
    const name = pullPreviewName(hook.prefix, number)
    const there = await this.#ownPreview(hook, name)
    const known = {
      ...(before?.approved && { approved: before.approved }),
      // The existing preview determines what is deployed, not the record.
      ...(there &&
        before?.deployed && {
          deployed: {
            commit: before.deployed.commit,
            trust: there.namespace.isUntrusted ? ('fork' as const) : ('repository' as const),
          },
        }),
    }
    const pull: PullRecord = {
      number,
      page: facts.page,
      ...(facts.title !== '' && { title: facts.title.slice(0, LONGEST) }),
      author: facts.author.login,
      branch: facts.branch.slice(0, LONGEST),
      ...(facts.head && { from: facts.head.url.slice(0, LONGEST) }),
      commit: facts.commit,
      trust,
      ...known,
      ...(before?.comment && { comment: before.comment }),
    }
    const step = decidePull(facts, { trust, policy: hook.forks, known })
    if (step.kind === 'close') {
      if (there && !isGoing(there)) await this.#parts.deletions.begin(there)
      if (before?.comment) await this.#sayDestroyed(hook, before, signal)
      return { pull: undefined }
    }
    if (step.kind === 'wait') return { pull: { ...pull, isWaiting: true } }
    if (step.kind === 'refuse') {
      const refused = { ...pull, problem: step.problem }
      // No comment is written: either forks get no previews, which the author knows, or a more specific reason was
      // already commented.
      return { pull: { ...refused, comment: { ...pull.comment, told: finalTold(refused) ?? '' } } }
    }
    if (step.kind === 'nothing' && there && !isGoing(there)) return { pull }
    if (step.kind === 'replace' && there && !isGoing(there)) await this.#parts.deletions.begin(there)
    // The new preview is deployed after the previous one is deleted.
    if (there && (step.kind === 'replace' || isGoing(there))) {
      if (there.namespace.status === 'DeleteFailed')
        return { pull: { ...pull, problem: 'the earlier preview with this name could not be destroyed' } }
      return { pull, again: true }
    }
    try {
      await this.#deploy(hook, owner, facts, trust)
    } catch (error) {
      if (mayPass(error)) throw error
      this.#log(hook, number, error, signal)
      return { pull: { ...pull, problem: problemOf(error) } }
    }
    return { pull: { ...pull, deployed: { commit: facts.commit, trust } } }
  }

  async #deploy(hook: HookRecord, user: PlatformUser, facts: PullFacts, trust: CodeTrust): Promise<void> {
    const { commit, branch, head, page, number } = facts
    const problem = sourceProblem(hook, facts)
    if (!head || problem !== undefined)
      throw new PlatformError(400, 'repository', problem ?? 'its branch no longer exists')
    if (trust === 'fork' && (await this.#forks(hook, user, number)) >= FORKS)
      throw new PlatformError(409, 'quota', `this webhook has ${FORKS} previews of forks, which is the limit`)
    const isOwn = head.id === hook.repositoryId
    const wanted = {
      name: pullPreviewName(hook.prefix, number),
      repository: isOwn ? hook.repository : head.url,
      branch,
      scope: hook.scope,
      ...(hook.file !== undefined && { file: hook.file }),
      ...(sourceUrlProblem(page) === undefined && { sourceUrl: page }),
    }
    await this.#parts.previews.deploy({ user }, wanted, { trust, commit, hook: hook.id })
  }

  /** Updates the comment of a preview that no longer exists. A failure is only logged. */
  async #sayDestroyed(hook: HookRecord, { number, comment }: PullRecord, signal: AbortSignal): Promise<void> {
    const name = pullPreviewName(hook.prefix, number)
    const { id } = comment ?? {}
    if (id === undefined) return
    try {
      const body = destroyedText(name)
      await this.#parts.hooks.comment(hook, number, { marker: commentMarker(name), body, id }, within(signal))
    } catch (error) {
      this.#log(hook, number, error, signal)
    }
  }

  /** Returns the preview with this name; undefined if this webhook did not create it. */
  async #ownPreview(hook: HookRecord, name: string): Promise<SharedNamespace | undefined> {
    const found = await this.#parts.namespaces.find(name)
    return found?.namespace.preview?.hook === hook.id ? found : undefined
  }

  /** Returns the number of the webhook's previews of forks, not counting the preview of this pull request. */
  async #forks(hook: HookRecord, user: PlatformUser, number: number): Promise<number> {
    const all = await this.#parts.namespaces.visible(user)
    const own = pullPreviewName(hook.prefix, number)
    return all.filter(({ namespace: { name, isUntrusted, preview } }) => {
      return isUntrusted && preview?.hook === hook.id && name !== own
    }).length
  }

  #log({ id, prefix }: HookRecord, number: number, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    this.#world.log({
      time: rfc3339(this.#world.now()),
      text: `webhook ${id}, ${pullPreviewName(prefix, number)}: ${messageOf(error)}`,
    })
  }
}

/** Returns true if another attempt can succeed after this error. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof PlatformError) || error.status === 429 || error.status >= 500

/**
 * Returns the message for an error, in a form that all users may read. Errors of the platform or the forge keep their
 * message; any other error gets a general message, without details of the cluster.
 */
const problemOf = (error: unknown): string =>
  error instanceof PlatformError || error instanceof ForgeError
    ? messageOf(error)
    : 'something went wrong in the platform'

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, LONGEST)

/**
 * Returns the state of a webhook after a pull request was checked, merged with changes that were recorded during the
 * check.
 */
function merged(now: HookRecord, before: HookRecord, number: number, { pull, again }: Looked): HookState {
  const others = now.pulls.filter(one => one.number !== number)
  const [pullNow, pullBefore] = [now, before].map(hook => hook.pulls.find(one => one.number === number))
  // A user approved a commit during the check. It may be the same commit as before, if its deploy has failed.
  const isApproved =
    pullNow?.approved !== undefined &&
    (pullNow.approved.commit !== pullBefore?.approved?.commit || pullNow.approved.time !== pullBefore.approved.time)
  // An event arrived during the check, so the pull request is checked again.
  const stays = again || isApproved || now.seen.at(-1) !== before.seen.at(-1)
  const { comment } = pullNow ?? {}
  const merged = pull && {
    ...pull,
    // The comment was recorded during the check.
    ...(comment && comment.told !== pullBefore?.comment?.told && { comment }),
  }
  // An approval that was recorded during the check is kept until the next check.
  const kept = merged && isApproved ? pullNow : merged
  return {
    look: now.look.filter(one => one !== number || stays),
    pulls: kept ? [...others, kept] : others,
    seen: now.seen,
  }
}

const isGoing = ({ namespace: { status } }: SharedNamespace): boolean =>
  status === 'Deleting' || status === 'DeleteFailed'

/**
 * Returns the reason why a source that the forge reported cannot be cloned; undefined if it can be cloned. The source
 * is checked because its URL is passed to git, and because the webhook's token may be sent to the webhook's own host
 * only.
 */
function sourceProblem(hook: HookRecord, { commit, branch, head }: PullFacts): string | undefined {
  if (!isCommit(commit)) return 'the forge does not report its commit'
  if (branchProblem(branch)) return `the name of its branch is not valid`
  const read = readRepositoryUrl(head?.url ?? '')
  if (!read.ok) return `its repository cannot be cloned: ${read.problem}`
  return read.repository.host === hostOfHook(hook) ? undefined : 'its repository is on another host'
}
