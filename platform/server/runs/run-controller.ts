import type { KubeObject, ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { MANAGED_LABEL, MANAGER, RECORD_LABEL, RUNS_NAMESPACE } from '../../records/names.ts'
import {
  cloneSecret,
  heldSecret,
  inputSecret,
  jobRef,
  LIVE_LABEL,
  loginSealedFor,
  NAMESPACE_LABEL,
  type RunRecord,
  runName,
} from '../../records/run.ts'
import type { PlatformUser } from '../../records/user.ts'
import { mayDo } from '../../rules/accounts/roles.ts'
import { readRepositoryUrl } from '../../rules/repository-url.ts'
import { KEPT_RUNS } from '../../rules/runs/kept-runs.ts'
import { decideQueue, type EndedRun, forgotten } from '../../rules/runs/queue.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import type { RunSettings, ServerContext } from '../context.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { Attempts } from '../leader/attempts.ts'
import type { WakeSignal } from '../leader/wake-signal.ts'
import type { Tokens } from '../login/tokens.ts'
import type { Users } from '../login/users.ts'
import type { CloneLogin } from '../namespaces/credentials.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import { roleIn, type SharedNamespace } from '../namespaces/shared-namespace.ts'
import type { Sleep } from '../sleep/sleep.ts'
import { KeptLines, PodLog, saveLog } from './run-log.ts'
import { ACCOUNT_RECORD, accountObjects, CLONE, runAccount, runSecret } from './run-objects.ts'
import { commitOf, containerState, isOver, podOf, reasonOf } from './run-pod.ts'
import type { Runs } from './runs.ts'

/** Secrets that were part of the request of a run. They are kept until the run has ended. */
interface HeldSecrets {
  readonly variables: Readonly<Record<string, string>>
  readonly login?: CloneLogin
}

/** The namespace of a run, and the user who requested it. */
interface AllowedRun {
  readonly shared: SharedNamespace
  readonly user: PlatformUser
}

/** Services that are needed to start and complete runs. */
interface Parts {
  readonly users: Users
  readonly tokens: Tokens
  readonly namespaces: Namespaces
  readonly runs: Runs
  readonly hooks: Hooks
  readonly sleep: Sleep
  /**
   * Returns the forge credential for a run in a namespace; undefined if there is none. If `user` is undefined, returns
   * only a credential of the namespace, never the credential of a user.
   */
  gitLogin(user: string | undefined, namespace: string, host: string): Promise<CloneLogin | undefined>
}

/** The reason why no run starts in a namespace that is being deleted. */
const BEING_DELETED = 'the namespace is being deleted'
/** Interval between two passes over the queue, in milliseconds. */
const EVERY = 500
const FORGET_EVERY = 15_000
/**
 * Time in milliseconds for which a run can exist without its Secret, because the Secret is created after the Job of the
 * run.
 */
const HALF_MADE = 60_000
/** Timeout for reading the last log lines of a run that was stopped, in milliseconds. */
const GOODBYE = 60_000
/**
 * Interval between two checks that the users who requested active runs still have the necessary rights, in
 * milliseconds.
 */
const RECHECK = 5000
/** Time in milliseconds by which the token of a run outlives the run's deadline. */
const TOKEN_MORE = 600_000
/**
 * Maximum number of runs that are completed at the same time: in total, and of one user. There is a limit because their
 * logs are in memory.
 */
const ENDING = { ofAll: 4, ofOne: 2 }

/**
 * The leader's processing of runs: starts them in turn, stops them, saves their logs, and deletes old runs. All state
 * is in the cluster, so another leader can continue.
 */
export class RunController {
  readonly name = 'runs'
  readonly everyMs = EVERY
  readonly nudge: WakeSignal
  readonly #world: ServerContext
  readonly #parts: Parts
  /** Runs that are processed in the background, outside the queue, by the id of the run. */
  readonly #busy = new Map<string, Beside>()
  readonly #attempts: Attempts
  #forgotAt = 0
  #checkedAt = 0

  constructor(world: ServerContext, parts: Parts) {
    this.#world = world
    this.#parts = parts
    this.nudge = parts.runs.nudge
    this.#attempts = new Attempts(world, 'run')
  }

  /** Makes one pass over the queue. */
  async run(signal: AbortSignal): Promise<void> {
    const settings = this.#world.settings.runs
    if (!settings) return
    const { runs } = this.#parts
    const live = await runs.list({ isLive: true }, signal)
    const waiting = live.filter(({ state }) => !hasEnded(state))
    const decision = decideQueue(waiting as readonly Waiting[], settings) // of these states only
    const byId = new Map(live.map(run => [run.id, run]))
    this.#attempts.keep(id => byId.has(id))
    for (const id of [...decision.replace, ...decision.stop])
      await this.#attempts.at(id, 'replace', signal, async () => void (await runs.stop(id, { why: 'replaced' })))
    if (this.#world.now() - this.#checkedAt >= RECHECK) {
      this.#checkedAt = this.#world.now()
      for (const run of live)
        if (run.state === 'running' || (run.state === 'stopping' && run.stop?.why !== 'refused'))
          await this.#attempts.at(run.id, 'recheck', signal, () => this.#recheck(run))
    }
    for (const id of decision.start)
      if (!this.#busy.has(id))
        await this.#attempts.at(id, 'start', signal, () => this.#start(byId.get(id)!, settings, signal))
    // The oldest runs first; the remaining runs follow when one of these is completed.
    for (const run of live.toReversed()) {
      if (hasEnded(run.state)) {
        if (this.#mayEnd(run)) this.#beside(run, 'settle', signal, () => this.#settle(run, signal))
      } else if (run.state === 'stopping') {
        if (this.#mayEnd(run)) this.#beside(run, 'end', signal, () => this.#end(run, signal))
        // The run is stopped immediately even if its log does not fit into memory now. Its last lines are read only if
        // there is room in time.
        else if (!this.#busy.has(run.id)) await this.#attempts.at(run.id, 'suspend', signal, () => this.#suspend(run))
      } else if (run.state === 'running' && run.repository !== undefined && run.found.commit === undefined)
        this.#beside(run, 'clone', signal, () => this.#lookAtClone(run, signal))
    }
    if (this.#world.now() - this.#forgotAt < FORGET_EVERY) return
    this.#forgotAt = this.#world.now()
    await this.#forget(live, signal)
  }

  /** Waits for the background work. */
  async settled(): Promise<void> {
    await Promise.all([...this.#busy.values()].map(({ done }) => done))
  }

  #beside({ id, user }: RunRecord, step: string, signal: AbortSignal, work: () => Promise<void>): void {
    if (this.#busy.has(id)) return
    const done = this.#attempts.at(id, step, signal, work).finally(() => this.#busy.delete(id))
    this.#busy.set(id, { user, isEnding: step === 'settle' || step === 'end', done })
  }

  /** Returns true if the log of one more run of this user fits into memory. */
  #mayEnd({ user }: RunRecord): boolean {
    const ending = [...this.#busy.values()].filter(one => one.isEnding)
    return ending.length < ENDING.ofAll && ending.filter(one => one.user === user).length < ENDING.ofOne
  }

  async #start(run: RunRecord, settings: RunSettings, signal: AbortSignal): Promise<void> {
    const { cluster, now } = this.#world
    const { runs } = this.#parts
    const found = await this.#allowed(run)
    if (typeof found === 'string') return void (await runs.stop(run.id, { why: 'refused', reason: found }))
    const held = await this.#held(run)
    if (!held) {
      if (now() - Date.parse(run.created) > HALF_MADE)
        await runs.stop(run.id, { why: 'refused', reason: 'its request was not complete' })
      return
    }
    // A run has no right to wake its namespace, so the leader does it. This takes long if there are many objects, so it
    // happens in the background, and the run starts in a later pass.
    const { shared, user } = found
    if (run.action === 'deploy' && shared.namespace.status === 'Sleeping')
      return this.#beside(
        run,
        'wake',
        signal,
        async () => void (await this.#parts.sleep.wake(shared.namespace, signal)),
      )
    for (const object of accountObjects(run)) await cluster.apply(object, { manager: MANAGER, force: true })
    const { id, action, environment, namespace, file, volumes } = run
    if (run.repository !== undefined) {
      const login = held.login ?? (await this.#loginOf(run, hostOf(run.repository)))
      const input = { repository: run.repository, branch: run.branch, commit: run.commit, ...login }
      await this.#give(run, cloneSecret(id), input)
    }
    const { text } = await this.#parts.tokens.issue({
      kind: 'run',
      label: runName(id),
      user: run.user,
      namespaces: [namespace],
      ...(run.trust && { trust: run.trust }),
      lifetime: settings.deadline * 1000 + TOKEN_MORE,
    })
    const isCloned = run.repository !== undefined
    const { variables } = held
    const input = { action, isCloned, environment, namespace, file, volumes, variables, url: settings.url, token: text }
    const isFork = run.trust === 'fork'
    await this.#give(run, inputSecret(id), { ...input, isFork, user: user.login, domain: this.#world.settings.domain })
    // Changes only this version of the run. If it was stopped, or started by another leader in the meantime, the patch
    // conflicts.
    await cluster.patch(
      jobRef(id),
      { metadata: { resourceVersion: run.version }, spec: { suspend: false } },
      { manager: MANAGER },
    )
  }

  /**
   * Returns the credential that a run clones with; undefined if it clones without a credential, as all code of forks
   * does. A run that no user started gets the token of its webhook. If the webhook no longer exists or has no token,
   * the run gets the credential of the namespace, but never the credential of a user.
   */
  async #loginOf({ user, namespace, trust, hook }: RunRecord, host: string): Promise<CloneLogin | undefined> {
    if (trust === 'fork') return undefined
    const own = hook === undefined ? undefined : await this.#parts.hooks.cloneLogin(hook, host)
    const isOfPerson = trust === undefined && hook === undefined
    return own ?? this.#parts.gitLogin(isOfPerson ? user : undefined, namespace, host)
  }

  /** Stops a run if its user has lost the necessary rights. */
  async #recheck(run: RunRecord): Promise<void> {
    const found = await this.#allowed(run)
    // The deletion of a namespace cancels its runs, so this is not a lost right.
    if (typeof found !== 'string' || found === BEING_DELETED) return
    await this.#parts.runs.stop(run.id, { why: 'refused', reason: found })
    // The Job of a stopping run may already be suspended, so its credentials are removed here and not after the run has
    // ended.
    if (run.state === 'stopping') await this.#removeCredentials(run)
  }

  /**
   * Returns the namespace and the user of a run, or the reason why the run is no longer allowed. Called before the run
   * starts, and every few seconds while it is active.
   */
  async #allowed({ user: id, namespace, namespaceUid, deletion }: RunRecord): Promise<AllowedRun | string> {
    const user = await this.#parts.users.find(id)
    if (!user || user.isSuspended || user.isRefused) return 'the person who requested it may no longer log in'
    const shared = await this.#parts.namespaces.find(namespace)
    const live = await this.#world.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
    const isGoing = live?.metadata.deletionTimestamp !== undefined
    const isOfDeletion = deletion !== undefined && deletion === shared?.namespace.deletion?.id
    if (!shared || live?.metadata.uid !== namespaceUid || (isGoing && !isOfDeletion))
      return 'the namespace no longer exists'
    if (shared.namespace.status === 'Deleting' && !isOfDeletion) return BEING_DELETED
    const role = roleIn(shared, user)
    return mayDo({ platform: user.role, namespace: role }, 'deploy')
      ? { shared, user }
      : 'the person who requested it is no longer a developer there'
  }

  /**
   * Returns the values of a run's variables, and the clone credential from its request; undefined if their Secret does
   * not exist yet or is invalid.
   */
  async #held({ id, hasLogin }: RunRecord): Promise<HeldSecrets | undefined> {
    const live = await this.#world.cluster.get(secretRef(heldSecret(id)))
    const data = (live?.['data'] ?? {}) as { readonly variables?: unknown; readonly login?: unknown } // a Secret's
    const textOf = (value: unknown) => (typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined)
    const [values, sealed] = [textOf(data.variables), textOf(data.login)]
    const login = sealed === undefined ? undefined : this.#world.sealing.open(sealed, loginSealedFor(id))
    if (values === undefined || (hasLogin && login === undefined)) return undefined
    try {
      // The server has written both values.
      return {
        variables: JSON.parse(values) as Record<string, string>,
        ...(login !== undefined && { login: JSON.parse(login) as CloneLogin }),
      }
    } catch {
      return undefined
    }
  }

  async #give(run: RunRecord, name: string, value: object): Promise<void> {
    const secret = runSecret(run, name, { 'input.json': JSON.stringify(value) })
    await this.#world.cluster.apply(secret, { manager: MANAGER, force: true })
  }

  /** Records the commit that was cloned, and deletes the clone credential. */
  async #lookAtClone(run: RunRecord, signal: AbortSignal): Promise<void> {
    const { cluster } = this.#world
    const pod = await podOf(cluster, run.id, signal)
    if (!pod || containerState(pod, CLONE).phase !== 'ended') return
    await cluster.delete(secretRef(cloneSecret(run.id)))
    const commit = commitOf(pod)
    if (commit !== undefined) await this.#parts.runs.note(run.id, { commit })
  }

  /**
   * Stops an active run: suspending the Job makes Kubernetes send SIGTERM. The log is read at the same time, because
   * Kubernetes deletes the Pod afterwards.
   */
  async #end(run: RunRecord, signal: AbortSignal): Promise<void> {
    const lines = this.#collect(run, withTimeLimit(GOODBYE, signal))
    // Without a handler, a failure before the `await` below would end the process.
    lines.catch(() => {})
    await this.#suspend(run)
    await this.#save(run, await lines)
  }

  /**
   * Suspends the Job of a run. A cancelled run keeps its rights so that it can finish cleanly; a run whose user has
   * lost the necessary rights loses its credentials immediately.
   */
  async #suspend(run: RunRecord): Promise<void> {
    if (run.stop?.why === 'refused') await this.#removeCredentials(run)
    const { id, uid } = run
    await this.#world.cluster.patch(jobRef(id), { metadata: { uid }, spec: { suspend: true } }, { manager: MANAGER })
  }

  /**
   * Deletes the Secrets of a run, which revokes the Kubernetes tokens that are bound to them. Also revokes the platform
   * tokens of the run.
   */
  async #removeCredentials({ id, user }: RunRecord): Promise<void> {
    const { tokens } = this.#parts
    for (const name of [inputSecret(id), cloneSecret(id), heldSecret(id)])
      await this.#world.cluster.delete(secretRef(name))
    const own = (await tokens.of(user)).filter(one => one.kind === 'run' && one.label === runName(id))
    for (const token of own) await tokens.revoke(token.id)
  }

  /**
   * Completes a run: saves its log, and deletes its credentials and its Pod. The order of the steps allows an
   * interruption after each step.
   */
  async #settle(run: RunRecord, signal: AbortSignal): Promise<void> {
    const { cluster, now } = this.#world
    const { runs } = this.#parts
    const pod = await podOf(cluster, run.id, signal)
    // Waits until the Pod has ended: if the Job is deleted earlier, Kubernetes reports it as failed. A Pod on a lost
    // node never ends.
    if (pod && !isOver(pod) && now() - Date.parse(run.ended ?? '') < GOODBYE) return
    if (pod && !run.found.log) {
      // The log of a Pod on a lost node cannot be read, so there is a time limit.
      const limit = withTimeLimit(GOODBYE, signal)
      await this.#save(run, await this.#collect(run, limit))
    }
    if (pod) {
      const reason = run.state === 'failed' ? reasonOf(pod) : undefined
      const commit = commitOf(pod)
      const found = { ...(reason !== undefined && { reason }), ...(commit !== undefined && { commit }) }
      if (Object.keys(found).length > 0) await runs.note(run.id, found)
    }
    await this.#removeCredentials(run)
    if (pod) await cluster.delete({ apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, namespace: RUNS_NAMESPACE })
    await runs.change(run.id, () => ({ metadata: { labels: { [LIVE_LABEL]: null } } }))
  }

  /**
   * Collects the log lines of a run until the run ends. If the signal is aborted earlier, returns the lines that were
   * read by then.
   */
  async #collect({ id }: RunRecord, signal: AbortSignal): Promise<KeptLines> {
    const kept = new KeptLines()
    try {
      for await (const line of new PodLog(this.#world.cluster, id).read(0, signal)) kept.add(line)
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return kept
  }

  async #save(run: RunRecord, lines: KeptLines): Promise<void> {
    const now = await this.#parts.runs.find(run.id)
    if (!now || now.found.log) return
    await this.#parts.runs.note(run.id, { log: await saveLog(this.#world.cluster, run, lines.all()) })
  }

  /** Deletes old runs: those beyond the limits of the history, and those of deleted namespaces. */
  async #forget(live: readonly RunRecord[], signal: AbortSignal): Promise<void> {
    const { cluster } = this.#world
    const { runs } = this.#parts
    const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
    const uids = new Set<string | undefined>()
    for await (const page of cluster.pages(query, { signal })) for (const { metadata } of page) uids.add(metadata.uid)
    for (const run of live)
      if (!uids.has(run.namespaceUid))
        await runs.stop(run.id, { why: 'cancelled', reason: 'the namespace no longer exists' })
    const ended: Ended[] = []
    for await (const run of runs.each({ isLive: false }, signal)) ended.push(toEnded(run))
    const kept = ended.filter(run => uids.has(run.namespaceUid))
    const over = new Set(forgotten(kept, KEPT_RUNS))
    for (const { id, uid, namespaceUid } of ended)
      if (over.has(id) || !uids.has(namespaceUid))
        await cluster.delete(jobRef(id), { uid, propagation: 'Background', signal })
    const labels = `${RECORD_LABEL}=${ACCOUNT_RECORD}`
    const accounts = await cluster.list(
      { apiVersion: 'v1', kind: 'ServiceAccount', namespace: RUNS_NAMESPACE, labels },
      { signal },
    )
    for (const { metadata } of accounts)
      if (!isAccountOf(metadata, uids)) {
        const { name, namespace, uid } = metadata
        await cluster.delete({ apiVersion: 'v1', kind: 'ServiceAccount', name, namespace }, { uid, signal })
      }
  }
}

interface Beside {
  readonly user: string
  /** True if the work holds the log of a run in memory. */
  readonly isEnding: boolean
  readonly done: Promise<void>
}

/** Fields of a run that the history needs. All other fields are dropped, because there can be very many runs. */
type Ended = EndedRun & Pick<RunRecord, 'uid' | 'namespaceUid'>

const toEnded = ({ id, uid, namespace, namespaceUid, environment, action, state, found }: RunRecord): Ended => ({
  id,
  uid,
  namespace,
  namespaceUid,
  environment,
  action,
  state,
  hasCommit: found.commit !== undefined,
})

type Waiting = Parameters<typeof decideQueue>[0][number]

function isAccountOf({ name, labels = {} }: KubeObject['metadata'], uids: ReadonlySet<string | undefined>): boolean {
  const namespace = labels[NAMESPACE_LABEL] ?? ''
  return [...uids].some(uid => uid !== undefined && name === runAccount({ namespace, namespaceUid: uid }))
}

const secretRef = (name: string): ObjectRef => ({ apiVersion: 'v1', kind: 'Secret', name, namespace: RUNS_NAMESPACE })

function hostOf(repository: string): string {
  const read = readRepositoryUrl(repository)
  return read.ok ? read.repository.host : ''
}
