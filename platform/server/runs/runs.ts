import { createHash } from 'node:crypto'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { NewRun } from '../../api/runs.ts'
import type { Deletion } from '../../records/deletion.ts'
import { MANAGER, RECORD_LABEL, RUNS_NAMESPACE, rfc3339 } from '../../records/names.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import {
  ENVIRONMENT_LABEL,
  FOUND,
  type FoundRun,
  fromRun,
  heldSecret,
  jobRef,
  LIVE_LABEL,
  loginSealedFor,
  NAMESPACE_LABEL,
  type RunRecord,
  type RunStop,
  STOP,
  toRun,
  type WantedRun,
} from '../../records/run.ts'
import type { TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { CodeTrust } from '../../rules/previews/pull-trust.ts'
import { branchProblem, filePathProblem, type RepositoryUrl, readRepositoryUrl } from '../../rules/repository-url.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import { makeUlid, timeOfUlid } from '../../rules/ulid.ts'
import type { RunSettings, ServerContext } from '../context.ts'
import { noNamespace, PlatformError } from '../http/platform-error.ts'
import { KeyedMutex } from '../leader/keyed-mutex.ts'
import { WakeSignal } from '../leader/wake-signal.ts'
import { checkLogin } from '../namespaces/credentials.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import { requireStaying, type SharedNamespace } from '../namespaces/shared-namespace.ts'
import { jobSpec, RUN, runSecret } from './run-objects.ts'
import { commitOf, containerState, endOf, podOf, reasonOf } from './run-pod.ts'

/** Maximum number of queued runs of one user. */
const WAITING = 20
/**
 * Maximum number of ended runs of one user that the leader has not completed yet. There is a limit because the leader
 * reads all of them on every pass.
 */
const ENDING = 40
/** Maximum number of attempts for an update that conflicts. */
const ATTEMPTS = 5

const JOBS = { apiVersion: 'batch/v1', kind: 'Job', namespace: RUNS_NAMESPACE }

/** Filter for runs. */
export interface RunQuery {
  readonly namespace?: string | undefined
  readonly environment?: string | undefined
  /** True for runs that are not completed yet, false for completed runs; absent for all runs. */
  readonly isLive?: boolean
}

/** Filter for the runs that a user may see. */
export interface VisibleQuery extends RunQuery {
  /** Maximum number of runs to return, newest first. If absent, all runs are returned. */
  readonly last?: number
}

/** The commit of a run that a webhook starts, and the origin of its code. */
export interface HookCode {
  readonly trust: CodeTrust
  readonly commit: string
  /** The id of the webhook. */
  readonly hook: string
}

/** The runs of the platform, stored as Jobs. */
export class Runs {
  readonly #world: ServerContext
  readonly #namespaces: Namespaces
  /** Serializes concurrent requests of one user, so that each one counts the runs created before it. */
  readonly #making = new KeyedMutex()
  /** Wakes the leader's task when a run was created or changed. */
  readonly nudge = new WakeSignal()

  constructor(world: ServerContext, namespaces: Namespaces) {
    this.#world = world
    this.#namespaces = namespaces
  }

  /**
   * Returns the valid runs that match a filter, newest first. The list of the runs in all namespaces can be large; use
   * `each` to read it.
   */
  async list(query: RunQuery, signal?: AbortSignal): Promise<readonly RunRecord[]> {
    return sorted(this.each(query, signal))
  }

  /**
   * Yields the valid runs that match a filter, in no particular order. The caller keeps only the parts of each run that
   * it needs, so that no more than one page of Jobs is in memory.
   */
  async *each({ namespace, environment, isLive }: RunQuery, signal?: AbortSignal): AsyncGenerator<RunRecord, void> {
    const labels = [
      `${RECORD_LABEL}=run`,
      ...(namespace === undefined ? [] : [`${NAMESPACE_LABEL}=${namespace}`]),
      ...(environment === undefined ? [] : [`${ENVIRONMENT_LABEL}=${environment}`]),
      ...(isLive === undefined ? [] : [isLive ? `${LIVE_LABEL}=true` : `!${LIVE_LABEL}`]),
    ]
    for await (const page of this.#world.cluster.pages({ ...JOBS, labels: labels.join(',') }, { signal }))
      for (const job of page) {
        const run = toRun(job)
        if (run) yield run
      }
  }

  async find(id: string, signal?: AbortSignal): Promise<RunRecord | undefined> {
    const live = await this.#world.cluster.get(jobRef(id), { signal })
    return live && toRun(live)
  }

  /** Returns the run that a token belongs to; undefined if the run does not exist. */
  ofToken({ label }: Pick<TokenRecord, 'label'>): Promise<RunRecord | undefined> {
    return this.find(label.replace(/^r-/, ''))
  }

  /**
   * Returns the runs that match a filter in all namespaces that a user may see, the newest first. Throws a
   * PlatformError if the filter names a namespace that the user may not see.
   */
  async visible(user: PlatformUser, { last, ...query }: VisibleQuery): Promise<readonly RunRecord[]> {
    const namespaces =
      query.namespace === undefined
        ? await this.#namespaces.visible(user)
        : [await this.#namespaces.require(user, query.namespace, 'see', 'see this')]
    return sorted(this.eachOf(namespaces, query), last)
  }

  /** Yields the runs of these namespaces, in no particular order. */
  async *eachOf(namespaces: readonly SharedNamespace[], query: RunQuery): AsyncGenerator<RunRecord, void> {
    const byName = new Map(namespaces.map(one => [one.namespace.name, one]))
    for await (const run of this.each(query)) {
      const shared = byName.get(run.namespace)
      if (shared && isOf(run, shared)) yield run
    }
  }

  /**
   * Returns a run, if the user may perform the action in its namespace. Throws the same PlatformError if the run does
   * not exist and if the user may not see it.
   */
  async require(user: PlatformUser, id: string, action: 'see' | 'deploy', what: string): Promise<RunRecord> {
    const run = await this.find(id)
    if (!run) throw noRun()
    const shared = await this.#namespaces.require(user, run.namespace, action, what).catch(error => {
      throw error instanceof PlatformError && error.status === 404 ? noRun() : error
    })
    if (!isOf(run, shared)) throw noRun()
    return run
  }

  /** Returns the settings of runs. Throws a PlatformError if this platform cannot execute runs. */
  requireRunner(): RunSettings {
    const { runs } = this.#world.settings
    if (runs) return runs
    throw new PlatformError(503, 'no-runner', 'the platform has no image for runs', {
      hint: 'a cluster administrator sets it with `devctl platform install`',
    })
  }

  /** Adds a run to the queue. Throws a PlatformError. */
  create(user: PlatformUser, wanted: NewRun, code?: HookCode): Promise<RunRecord> {
    return this.#making.run(user.id, () => this.#create(user, wanted, code))
  }

  async #create(user: PlatformUser, wanted: NewRun, code: HookCode | undefined): Promise<RunRecord> {
    const { cluster, now, random, sealing } = this.#world
    const settings = this.requireRunner()
    const shared = await this.#namespaces.require(user, wanted.namespace, 'deploy', 'start a run')
    requireStaying(shared.namespace)
    requireSameTrust(shared.namespace, code?.trust)
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: wanted.namespace })
    const namespaceUid = live?.metadata.uid
    if (namespaceUid === undefined) throw noNamespace(wanted.namespace)
    const isSame = (run: RunRecord) => run.user === user.id && (run.hook === undefined) === (code === undefined)
    const own = (await this.list({ isLive: true })).filter(isSame)
    const waiting = own.filter(({ state }) => state === 'queued')
    if (waiting.length >= WAITING)
      throw new PlatformError(429, 'queue', `you have ${waiting.length} waiting runs, which is the limit`, {
        hint: 'wait for one of them, or cancel it',
      })
    // Cancelled runs leave the queue immediately, so the number of queued runs alone would not limit the number of
    // runs.
    const ending = own.filter(({ state }) => hasEnded(state))
    if (ending.length >= ENDING)
      throw new PlatformError(429, 'queue', `${ending.length} of your runs have just ended, and are being cleaned up`, {
        hint: 'try again in a moment',
      })
    const source = await this.#sourceOf(wanted, namespaceUid, user.id)
    const { namespace, environment, action, volumes, variables = {} } = wanted
    const login = wanted.cloneLogin && checkLogin(wanted.cloneLogin)
    const record: WantedRun = {
      id: makeUlid(now(), random(10)),
      namespace,
      namespaceUid,
      environment,
      action,
      user: user.id,
      ...source,
      ...code,
      ...(action === 'destroy' && volumes && { volumes }),
      ...(Object.keys(variables).length > 0 && { variables: Object.keys(variables) }),
      ...(login && { hasLogin: true }),
    }
    const made = toRun(await cluster.create(fromRun(record, jobSpec(record, settings))))
    if (!made) throw new PlatformError(500, 'internal', 'something went wrong in the platform')
    // The Secret is created after the Job, and a run starts only if its Secret exists, so a run never starts with
    // incomplete data.
    const held = {
      variables: JSON.stringify(variables),
      ...(login && { login: sealing.seal(JSON.stringify(login), loginSealedFor(made.id)) }),
    }
    await cluster.create(runSecret(made, heldSecret(made.id), held))
    this.nudge.now()
    return made
  }

  /**
   * Creates the run that destroys a deployed environment before its namespace is deleted. The run has the rights of the
   * user who deployed the environment, because the commands are theirs, and gets that user's variables only if the same
   * user requested the deletion. If the deploy cloned with a credential from its request, the repository cannot be
   * cloned again, so the destroy does not run its commands. A second call creates no second run.
   */
  async createLast(deployed: RunRecord, { id: deletion, by }: Deletion): Promise<void> {
    const { cluster } = this.#world
    const { namespace, namespaceUid, environment, user, repository, branch, file, found, trust, hook } = deployed
    const isCloned = repository !== undefined && !deployed.hasLogin
    const seed = createHash('sha256').update(`${deletion} ${environment}`).digest()
    const record: WantedRun = {
      id: makeUlid(timeOfUlid(deletion), seed.subarray(0, 10)),
      namespace,
      namespaceUid,
      environment,
      action: 'destroy',
      user,
      ...(isCloned && {
        repository,
        ...(branch !== undefined && { branch }),
        ...(file !== undefined && { file }),
        ...(found.commit !== undefined && { commit: found.commit }),
      }),
      ...(trust && { trust }),
      ...(hook !== undefined && { hook }),
      deletion,
      ...(by !== undefined && { deletionBy: by }),
    }
    const job = fromRun(record, jobSpec(record, this.requireRunner()))
    const made = await cluster.create(job).then(toRun, error => {
      if (error instanceof ClusterError && error.failure === 'exists') return this.find(record.id)
      throw error
    })
    if (!made) throw new Error(`the run ${record.id} cannot be read`)
    await this.complete(made)
  }

  /**
   * Creates the Secret of a run that is part of a deletion, if an earlier call was interrupted before it created the
   * Secret.
   */
  async complete(run: RunRecord): Promise<void> {
    const held = runSecret(run, heldSecret(run.id), { variables: '{}' })
    await this.#world.cluster.create(held).catch(error => {
      if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
    })
  }

  /**
   * Stops a run, and returns it; undefined if it does not exist. A run that has ended is not changed. For a run that
   * was already stopped, the reason can still be changed to `refused`, which revokes the run's rights.
   */
  async stop(id: string, stop: Omit<RunStop, 'time'>): Promise<RunRecord | undefined> {
    const isToldSo = (before: RunStop) => before.why === 'refused' || stop.why !== 'refused'
    const stopped = await this.change(id, run =>
      hasEnded(run.state) || (run.stop && isToldSo(run.stop))
        ? undefined
        : { metadata: { annotations: { [STOP]: JSON.stringify({ ...stop, time: rfc3339(this.#world.now()) }) } } },
    )
    this.nudge.now()
    return stopped
  }

  /** Records the result of a run if its Pod shows it. Returns false if the Pod does not show it yet. */
  async noteEnd(id: string, signal: AbortSignal): Promise<boolean> {
    const pod = await podOf(this.#world.cluster, id, signal)
    const state = pod && endOf(pod)
    if (!state) return false
    const [commit, reason] = [commitOf(pod), state === 'failed' ? reasonOf(pod) : undefined]
    const found: FoundRun = {
      end: { state, time: containerState(pod, RUN).ended ?? rfc3339(this.#world.now()) },
      ...(commit !== undefined && { commit }),
      ...(reason !== undefined && { reason }),
    }
    // The result of a stopped run does not depend on its Pod.
    const noted = await this.change(id, run => (hasEnded(run.state) || run.stop ? undefined : toNote(run, found)))
    this.nudge.now()
    return noted !== undefined && hasEnded(noted.state)
  }

  /** Adds facts to the record of a run. Returns the new record; undefined if the run does not exist. */
  async note(id: string, found: FoundRun): Promise<RunRecord | undefined> {
    return this.change(id, run => toNote(run, found))
  }

  /**
   * Updates a run, and retries after a conflict. If `edit` returns undefined, nothing changes. Returns the current
   * record; undefined if the run does not exist.
   */
  async change(id: string, edit: (run: RunRecord) => Patch | undefined): Promise<RunRecord | undefined> {
    for (let attempt = 1; ; attempt++) {
      const run = await this.find(id)
      const patch = run && edit(run)
      if (!run || !patch) return run
      try {
        return toRun(await this.#patch(run, patch))
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= ATTEMPTS) throw error
      }
    }
  }

  #patch({ id, version }: RunRecord, { metadata, ...rest }: Patch): Promise<KubeObject> {
    const patch = { ...rest, metadata: { ...metadata, resourceVersion: version } }
    return this.#world.cluster.patch(jobRef(id), patch, { manager: MANAGER })
  }

  /**
   * Returns the source to clone. If the request for a destroy names no repository, returns the source of the last
   * deploy by a run of the same user. Sources from other users are not used, because the commands in them would run
   * with this user's variables.
   */
  async #sourceOf(
    { namespace, environment, action, repository, branch, file }: NewRun,
    namespaceUid: string,
    user: string,
  ): Promise<Pick<WantedRun, 'repository' | 'branch' | 'file'>> {
    if (repository === undefined && action === 'deploy')
      throw new PlatformError(400, 'repository', 'a deploy needs a repository')
    if (repository === undefined) {
      const runs = (await this.list({ namespace, environment })).filter(run => run.namespaceUid === namespaceUid)
      // Other people chose the source of a webhook's deploy, so it is not used.
      const own = runs.filter(run => run.user === user && run.trust === undefined)
      const last = own.find(run => run.action === 'deploy' && run.found.commit !== undefined)
      return { ...pick(last), ...(file !== undefined && { file }) }
    }
    const { url } = checkSource({ repository, branch, file })
    return { repository: url, ...(branch !== undefined && { branch }), ...(file !== undefined && { file }) }
  }
}

/**
 * Throws a PlatformError for a run that would bring a user's secrets into a namespace with code of a fork, or code of a
 * fork into a namespace with a user's secrets.
 */
export function requireSameTrust({ name, isUntrusted = false }: ManagedNamespace, trust: CodeTrust | undefined): void {
  if (isUntrusted === (trust === 'fork')) return
  throw new PlatformError(
    409,
    'untrusted',
    isUntrusted ? `\`${name}\` is only for code of a fork` : `\`${name}\` is not for code of forks`,
    {
      hint: isUntrusted ? 'a push to its pull request deploys it; deploy your own code elsewhere' : 'destroy it first',
    },
  )
}

/** Parses the source to clone. Throws a PlatformError if runs cannot clone it. */
export function checkSource({
  repository,
  branch,
  file,
}: {
  readonly repository: string
  readonly branch?: string | undefined
  readonly file?: string | undefined
}): RepositoryUrl {
  const read = readRepositoryUrl(repository)
  if (!read.ok)
    throw new PlatformError(400, 'repository', `the repository cannot be cloned: ${read.problem}`, {
      ...(read.hint !== undefined && { hint: read.hint }),
    })
  if (read.repository.url.startsWith('ssh:'))
    throw new PlatformError(400, 'repository', 'runs have no SSH keys', { hint: 'write the HTTPS address' })
  const problem =
    (branch !== undefined && branchProblem(branch) && `the branch \`${branch}\`: ${branchProblem(branch)}`) ||
    (file !== undefined && filePathProblem(file) && `the file \`${file}\`: ${filePathProblem(file)}`)
  if (problem) throw new PlatformError(400, 'repository', problem)
  return read.repository
}

const toNote = (run: RunRecord, found: FoundRun): Patch => ({
  metadata: { annotations: { [FOUND]: JSON.stringify({ ...run.found, ...found }) } },
})

interface Patch {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

const pick = (run: RunRecord | undefined) => ({
  ...(run?.repository !== undefined && { repository: run.repository }),
  ...(run?.branch !== undefined && { branch: run.branch }),
  ...(run?.file !== undefined && { file: run.file }),
})

export const newestFirst = (a: RunRecord, b: RunRecord): number => (a.id < b.id ? 1 : -1)

/** Returns the newest runs, newest first, up to the number `most`. At most twice as many are in memory. */
async function sorted(runs: AsyncIterable<RunRecord>, most = Number.POSITIVE_INFINITY): Promise<readonly RunRecord[]> {
  let all: RunRecord[] = []
  for await (const run of runs) {
    all.push(run)
    if (all.length >= 2 * most) all = all.sort(newestFirst).slice(0, most)
  }
  return all.sort(newestFirst).slice(0, most)
}

/**
 * Returns true if a run belongs to this namespace. A later namespace of the same name does not inherit the runs of the
 * earlier one.
 */
const isOf = (run: RunRecord, { namespace }: SharedNamespace): boolean => run.created >= namespace.created

const noRun = () =>
  new PlatformError(404, 'no-run', 'this run does not exist, or you are not a member of its namespace', {
    hint: '`devctl pipeline list` lists those of a namespace',
  })
