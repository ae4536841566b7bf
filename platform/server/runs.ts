import { createHash } from 'node:crypto'
import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { NewRun } from '../api/runs.ts'
import type { Deletion } from '../records/deletion.ts'
import { MANAGER, RECORD_LABEL, RUNS_NAMESPACE, rfc3339 } from '../records/names.ts'
import type { ManagedNamespace } from '../records/namespace.ts'
import {
  ENVIRONMENT_LABEL,
  FOUND,
  type FoundRun,
  fromRun,
  heldSecret,
  jobRef,
  LIVE_LABEL,
  NAMESPACE_LABEL,
  type RunRecord,
  type RunStop,
  STOP,
  toRun,
  type WantedRun,
} from '../records/run.ts'
import type { TokenRecord } from '../records/token.ts'
import type { PlatformUser } from '../records/user.ts'
import type { CodeTrust } from '../rules/pull-trust.ts'
import { branchProblem, filePathProblem, type RepositoryUrl, readRepositoryUrl } from '../rules/repository-url.ts'
import { hasEnded } from '../rules/run-states.ts'
import { makeUlid, timeOfUlid } from '../rules/ulid.ts'
import { type Namespaces, requireStaying, type SharedNamespace } from './namespaces.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { noNamespace, PlatformError } from './platform-error.ts'
import { jobSpec, runSecret } from './run-objects.ts'
import type { PlatformWorld, RunSettings } from './world.ts'

/** Runs of one user that wait. */
const WAITING = 20
/** Tries of a change that somebody else was faster with. */
const ATTEMPTS = 5

const JOBS = { apiVersion: 'batch/v1', kind: 'Job', namespace: RUNS_NAMESPACE }

/** Which runs are wanted. */
export interface RunQuery {
  readonly namespace?: string | undefined
  readonly environment?: string | undefined
  /** True: those whose end was not seen to. */
  readonly isLive?: boolean
}

/** Of a run that a webhook starts: whose code it is, and which. */
export interface HookCode {
  readonly trust: CodeTrust
  readonly commit: string
  /** The id of the webhook. */
  readonly hook: string
}

/** The runs of the platform, as Jobs. */
export class Runs {
  readonly #world: PlatformWorld
  readonly #namespaces: Namespaces
  /** By who asks: of many at once, each knows of those before it. */
  readonly #making = new OneAtATime()

  constructor(world: PlatformWorld, namespaces: Namespaces) {
    this.#world = world
    this.#namespaces = namespaces
  }

  /** Those that can be read, the newest first. */
  async list({ namespace, environment, isLive }: RunQuery, signal?: AbortSignal): Promise<readonly RunRecord[]> {
    const labels = [
      `${RECORD_LABEL}=run`,
      ...(namespace === undefined ? [] : [`${NAMESPACE_LABEL}=${namespace}`]),
      ...(environment === undefined ? [] : [`${ENVIRONMENT_LABEL}=${environment}`]),
      ...(isLive === undefined ? [] : [isLive ? `${LIVE_LABEL}=true` : `!${LIVE_LABEL}`]),
    ]
    const jobs = await this.#world.cluster.list({ ...JOBS, labels: labels.join(',') }, { signal })
    return jobs.flatMap(one => toRun(one) ?? []).sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  async find(id: string, signal?: AbortSignal): Promise<RunRecord | undefined> {
    const live = await this.#world.cluster.get(jobRef(id), { signal })
    return live && toRun(live)
  }

  /** The run that a token is of. */
  ofToken({ label }: Pick<TokenRecord, 'label'>): Promise<RunRecord | undefined> {
    return this.find(label.replace(/^r-/, ''))
  }

  /** Those of namespaces that somebody may see, the newest first. */
  async visible(user: PlatformUser, query: RunQuery): Promise<readonly RunRecord[]> {
    if (query.namespace !== undefined) {
      const shared = await this.#namespaces.require(user, query.namespace, 'see', 'this')
      return (await this.list(query)).filter(run => isOf(run, shared))
    }
    const [found, all] = await Promise.all([this.#namespaces.visible(user), this.list(query)])
    const byName = new Map(found.map(one => [one.namespace.name, one]))
    return all.filter(run => {
      const shared = byName.get(run.namespace)
      return shared !== undefined && isOf(run, shared)
    })
  }

  /** One, if the user may do that in its namespace. Throws a PlatformError, the same for what is not there and what they may not see. */
  async require(user: PlatformUser, id: string, action: 'see' | 'deploy', what: string): Promise<RunRecord> {
    const run = await this.find(id)
    if (!run) throw noRun()
    const shared = await this.#namespaces.require(user, run.namespace, action, what).catch(error => {
      throw error instanceof PlatformError && error.status === 404 ? noRun() : error
    })
    if (!isOf(run, shared)) throw noRun()
    return run
  }

  /** How runs run. Throws a PlatformError where they cannot. */
  requireRunner(): RunSettings {
    const { runs } = this.#world.settings
    if (runs) return runs
    throw new PlatformError(503, 'no-runner', 'the platform has no image for runs', {
      hint: 'an administrator installs it again with `devctl platform install`',
    })
  }

  /** Puts a run into the queue. Throws a PlatformError. */
  create(user: PlatformUser, wanted: NewRun, code?: HookCode): Promise<RunRecord> {
    return this.#making.run(user.id, () => this.#create(user, wanted, code))
  }

  async #create(user: PlatformUser, wanted: NewRun, code: HookCode | undefined): Promise<RunRecord> {
    const { cluster, now, random } = this.#world
    const settings = this.requireRunner()
    const shared = await this.#namespaces.require(user, wanted.namespace, 'deploy', 'a run')
    requireStaying(shared.namespace)
    requireSameTrust(shared.namespace, code?.trust)
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: wanted.namespace })
    const namespaceUid = live?.metadata.uid
    if (namespaceUid === undefined) throw noNamespace(wanted.namespace)
    const isSame = (run: RunRecord) => run.user === user.id && (run.hook === undefined) === (code === undefined)
    const waiting = (await this.list({ isLive: true })).filter(run => isSame(run) && run.state === 'queued')
    if (waiting.length >= WAITING)
      throw new PlatformError(429, 'queue', `you have ${waiting.length} runs that wait, the most that you may`, {
        hint: 'wait for one of them, or cancel it',
      })
    const source = await this.#sourceOf(wanted, namespaceUid, user.id)
    const { namespace, environment, action, volumes, variables = {} } = wanted
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
    }
    const made = toRun(await cluster.create(fromRun(record, jobSpec(record, settings))))
    if (!made) throw new PlatformError(500, 'internal', 'something went wrong in the platform')
    // A run without it does not start, so it is never half a run.
    await cluster.create(runSecret(made, heldSecret(made.id), { variables: JSON.stringify(variables) }))
    return made
  }

  /**
   * Destroys what a run has deployed, as it was deployed: with the rights of who did, because its commands
   * are theirs. It gets their variables only if they have asked for the deletion. Doing it twice makes one run.
   */
  async createLast(deployed: RunRecord, { id: deletion, by }: Deletion): Promise<void> {
    const { cluster } = this.#world
    const { namespace, namespaceUid, environment, user, repository, branch, file, found, trust, hook } = deployed
    const seed = createHash('sha256').update(`${deletion} ${environment}`).digest()
    const record: WantedRun = {
      id: makeUlid(timeOfUlid(deletion), seed.subarray(0, 10)),
      namespace,
      namespaceUid,
      environment,
      action: 'destroy',
      user,
      ...(repository !== undefined && { repository }),
      ...(branch !== undefined && { branch }),
      ...(file !== undefined && { file }),
      ...(found.commit !== undefined && { commit: found.commit }),
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

  /** What a run of a deletion waits for, if whoever made it has ended before it was there. */
  async complete(run: RunRecord): Promise<void> {
    const held = runSecret(run, heldSecret(run.id), { variables: '{}' })
    await this.#world.cluster.create(held).catch(error => {
      if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
    })
  }

  /** Tells a run to end; one that has ended stays as it is. One that was told to may be refused still: it has no rights any more. */
  async stop(id: string, stop: Omit<RunStop, 'time'>): Promise<RunRecord | undefined> {
    const isToldSo = (before: RunStop) => before.why === 'refused' || stop.why !== 'refused'
    return this.change(id, run =>
      hasEnded(run.state) || (run.stop && isToldSo(run.stop))
        ? undefined
        : { metadata: { annotations: { [STOP]: JSON.stringify({ ...stop, time: rfc3339(this.#world.now()) }) } } },
    )
  }

  /** Adds to what is known of a run. */
  async note(id: string, found: FoundRun): Promise<RunRecord | undefined> {
    return this.change(id, run => ({
      metadata: { annotations: { [FOUND]: JSON.stringify({ ...run.found, ...found }) } },
    }))
  }

  /** Changes a run as it is now, again where somebody else was faster; undefined changes nothing. */
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
   * What is cloned. A destroy takes what the same person has deployed last by a run, unless it says what:
   * a repository that somebody else has named would run its commands with the variables of who destroys.
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
      // What a webhook has deployed for them others have written.
      const own = runs.filter(run => run.user === user && run.trust === undefined)
      const last = own.find(run => run.action === 'deploy' && run.found.commit !== undefined)
      return { ...pick(last), ...(file !== undefined && { file }) }
    }
    const { url } = checkSource({ repository, branch, file })
    return { repository: url, ...(branch !== undefined && { branch }), ...(file !== undefined && { file }) }
  }
}

/**
 * Throws a PlatformError for a run that would bring something of a person to where code of a fork runs, or code of a
 * fork to where something of a person is.
 */
export function requireSameTrust({ name, isUntrusted = false }: ManagedNamespace, trust: CodeTrust | undefined): void {
  if (isUntrusted === (trust === 'fork')) return
  throw new PlatformError(
    409,
    'untrusted',
    isUntrusted ? `code of a fork runs in \`${name}\`` : `\`${name}\` is not for code of forks`,
    {
      hint: isUntrusted ? 'a push to its pull request deploys it; deploy your own code elsewhere' : 'destroy it first',
    },
  )
}

/** What is to be cloned. Throws a PlatformError for what no run clones. */
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
    throw new PlatformError(400, 'repository', 'runs have no keys for ssh', { hint: 'write the HTTPS address' })
  const problem =
    (branch !== undefined && branchProblem(branch) && `the branch \`${branch}\`: ${branchProblem(branch)}`) ||
    (file !== undefined && filePathProblem(file) && `the file \`${file}\`: ${filePathProblem(file)}`)
  if (problem) throw new PlatformError(400, 'repository', problem)
  return read.repository
}

interface Patch {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

const pick = (run: RunRecord | undefined) => ({
  ...(run?.repository !== undefined && { repository: run.repository }),
  ...(run?.branch !== undefined && { branch: run.branch }),
  ...(run?.file !== undefined && { file: run.file }),
})

/** A namespace that was made later with the same name has none of the runs of the one before. */
const isOf = (run: RunRecord, { namespace }: SharedNamespace): boolean => run.created >= namespace.created

const noRun = () =>
  new PlatformError(404, 'no-run', 'this run does not exist, or you are no member of its namespace', {
    hint: '`devctl pipeline list` lists those of a namespace',
  })
