import { backOff } from '../../../adapters/http/back-off.ts'
import { finalTold, type HookRecord, isUntold, type PullRecord } from '../../records/hook.ts'
import { rfc3339 } from '../../records/names.ts'
import type { RunRecord } from '../../records/run.ts'
import { ownerOfHost } from '../../rules/hosts.ts'
import {
  commentMarker,
  commentText,
  destroyedText,
  refusedText,
  waitingText,
} from '../../rules/previews/preview-comment.ts'
import { previewStatus } from '../../rules/previews/previews.ts'
import { pullPreviewName } from '../../rules/previews/pull-trust.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import type { SharedNamespace } from '../namespaces/shared-namespace.ts'
import { resultOf } from '../runs/run-result.ts'
import type { Runs } from '../runs/runs.ts'
import { HookWork } from './hook-work.ts'
import { type Hooks, within } from './hooks.ts'

const EVERY = 2000
/**
 * Maximum number of attempts to write a comment that the forge refuses, and the pauses between attempts in
 * milliseconds.
 */
const ATTEMPTS = 6
const PAUSE = { first: 4000, longest: 120_000 }
/** Interval between two checks of a deploy, in milliseconds. */
const LOOK = 3000

/**
 * The comment to write on a pull request. If `text` is absent, no comment is written, and only the state is recorded.
 */
interface Wanted {
  readonly told: string
  readonly text?: string
}

/** Services that provide the state of previews, and that write the comments. */
interface Parts {
  readonly hooks: Hooks
  readonly namespaces: Namespaces
  readonly runs: Runs
}

/**
 * Writes the state of previews to the forge. Each pull request has one comment, which is updated. The state of the last
 * comment is recorded, so another leader can continue. If the forge refuses a comment, the preview is not held up.
 */
export class HookComments implements LeaderTask {
  readonly name = 'comments of webhooks'
  readonly everyMs = EVERY
  readonly #world: ServerContext
  readonly #parts: Parts
  readonly #work = new HookWork()

  constructor(world: ServerContext, parts: Parts) {
    this.#world = world
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    const found = await this.#parts.hooks.list({ isTell: true }, signal)
    this.#work.keepOnly(new Set(found.flatMap(hook => hook.pulls.filter(isUntold).map(one => keyOf(hook, one)))))
    for (const hook of found) {
      const pull = hook.pulls.find(one => isUntold(one) && this.#work.isDue(keyOf(hook, one), this.#world.now()))
      if (!pull || !this.#work.hasRoom(hook)) continue
      this.#work.begin(hook, () => this.#tell(hook, pull, signal).catch(error => this.#log(hook, pull, error, signal)))
    }
  }

  /** Waits for work in progress. */
  settled(): Promise<void> {
    return this.#work.settled()
  }

  async #tell(hook: HookRecord, pull: PullRecord, signal: AbortSignal): Promise<void> {
    const key = keyOf(hook, pull)
    let wanted: Wanted = { told: finalTold(pull) ?? '' }
    let id = pull.comment?.id
    try {
      wanted = await this.#wanted(hook, pull, signal)
      if (wanted.told === pull.comment?.told) {
        this.#work.wait(key, 0, this.#world.now() + LOOK)
        return
      }
      if (wanted.text !== undefined) id = await this.#write(hook, pull, wanted.text, signal)
      this.#work.forget(key)
    } catch (error) {
      signal.throwIfAborted()
      const failures = this.#work.failuresOf(key) + 1
      this.#work.wait(key, failures, this.#world.now() + backOff(failures, PAUSE.first, PAUSE.longest))
      if (failures < ATTEMPTS) return
      // Gives up on this state; the comment is tried again for the next commit.
      this.#log(hook, pull, error, signal)
    }
    let isThere = false
    await this.#parts.hooks.change(hook.id, ({ look, pulls, seen }) => {
      isThere = pulls.some(one => one.number === pull.number)
      const comment = { told: wanted.told, ...(id !== undefined && { id }) }
      return isThere
        ? { look, pulls: pulls.map(one => (one.number === pull.number ? { ...one, comment } : one)), seen }
        : undefined
    })
    // The pull request was closed in the meantime.
    if (!isThere && id !== undefined)
      await this.#write(hook, { ...pull, comment: { id, told: '' } }, destroyedText(nameOf(hook, pull)), signal)
  }

  #write(hook: HookRecord, pull: PullRecord, body: string, signal: AbortSignal): Promise<number | undefined> {
    const id = pull.comment?.id
    const comment = { marker: commentMarker(nameOf(hook, pull)), body, ...(id !== undefined && { id }) }
    return this.#parts.hooks.comment(hook, pull.number, comment, within(signal))
  }

  async #wanted(hook: HookRecord, pull: PullRecord, signal: AbortSignal): Promise<Wanted> {
    const { commit, isWaiting, problem, deployed } = pull
    const told = finalTold(pull) ?? ''
    const name = nameOf(hook, pull)
    const page = `${this.#world.settings.url}/namespaces/${name}`
    if (isWaiting) return { told, text: waitingText(name, commit, page) }
    if (problem !== undefined) return { told, text: refusedText(name, commit, problem) }
    const shared = await this.#parts.namespaces.find(name)
    if (!deployed || shared?.namespace.preview?.hook !== hook.id) return { told }
    const runs = (await this.#parts.runs.list({ namespace: name }, signal)).filter(
      one => one.namespaceUid === shared.namespace.uid,
    )
    const run = reportedRun(runs, deployed.commit)
    if (!run) return { told }
    const shown = { name, endpoints: [], run: { commit: deployed.commit } }
    // The addresses and the problem of a run are only known once its log is saved.
    if (!hasEnded(run.state) || !run.isSettled)
      return { told: `deploys ${deployed.commit}`, text: commentText({ ...shown, status: 'Deploying' }, page) }
    return { told, text: await this.#ended(shared, run, page, signal) }
  }

  async #ended(shared: SharedNamespace, run: RunRecord, page: string, signal: AbortSignal): Promise<string> {
    const { name, longerNames } = shared.namespace
    const { endpoints, problem } = await resultOf(this.#world.cluster, run, signal)
    const { reason = run.stop?.reason } = run.found
    // The addresses come from code of the branch, so only addresses that can belong to the preview become links.
    const isOwn = (url: string): boolean =>
      URL.canParse(url) &&
      ownerOfHost(new URL(url).hostname, this.#world.settings.domain, [name, ...longerNames]) === name
    const status = previewStatus('Active', [run])
    return commentText(
      {
        name,
        status,
        endpoints: endpoints.filter(isOwn).map(url => ({ url, services: [] })),
        run: { commit: run.commit ?? run.found.commit, ...(reason !== undefined && { reason }) },
      },
      page,
      // A person's deploy has secrets that the readers of the pull request must not see.
      status === 'Failed' && run.hook !== undefined ? problem : undefined,
    )
  }

  #log(hook: HookRecord, pull: PullRecord, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    const message = error instanceof Error ? error.message : String(error)
    this.#world.log({
      time: rfc3339(this.#world.now()),
      text: `webhook ${hook.id}, comment on ${nameOf(hook, pull)}: ${message.slice(0, 300)}`,
    })
  }
}

/**
 * Returns the deploy that the comment about a commit reports; undefined if there is none. If a person's deploy has
 * replaced the webhook's deploy of the commit, the person's deploy is reported. If a newer deploy of the webhook has
 * replaced it, nothing is reported, because the newer deploy has another commit and a comment of its own. `runs` begins
 * with the newest run.
 */
function reportedRun(runs: readonly RunRecord[], commit: string): RunRecord | undefined {
  const deploys = runs.filter(({ action }) => action === 'deploy')
  const own = deploys.find(one => one.commit === commit)
  if (own?.state !== 'replaced') return own
  const newer = deploys.find(({ id, state }) => id > own.id && state !== 'replaced')
  return newer?.hook === undefined ? newer : undefined
}

const keyOf = ({ id }: HookRecord, { number }: PullRecord): string => `${id}/${number}`

const nameOf = ({ prefix }: HookRecord, { number }: PullRecord): string => pullPreviewName(prefix, number)
