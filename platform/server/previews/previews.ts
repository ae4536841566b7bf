import type { NewPreview } from '../../api/previews.ts'
import { rfc3339 } from '../../records/names.ts'
import type { PreviewSource } from '../../records/preview.ts'
import type { RunRecord } from '../../records/run.ts'
import type { TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import { environmentOfRepository } from '../../rules/environment-name.ts'
import { previewName } from '../../rules/names.ts'
import {
  branchConflict,
  type PreviewIdentity,
  type PreviewScope,
  previewConflict,
  sourceUrlProblem,
  tellsStatus,
} from '../../rules/previews/previews.ts'
import { FORK_LIFETIME } from '../../rules/previews/pull-trust.ts'
import type { ServerContext } from '../context.ts'
import { personOf } from '../http/answers.ts'
import { type Identified, isForPreview, requirePrefix } from '../http/caller.ts'
import { onlyFor, PlatformError } from '../http/platform-error.ts'
import type { Users } from '../login/users.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import { mayIn, requireStaying, type SharedNamespace } from '../namespaces/shared-namespace.ts'
import { checkSource, type HookCode, newestFirst, type Runs, requireSameTrust } from '../runs/runs.ts'

/**
 * A preview: its namespace, its source, and its runs, newest first. If the preview is an entry of a list, `runs`
 * contains only the runs that the list shows.
 */
export interface ShownPreview {
  readonly shared: SharedNamespace
  readonly source: PreviewSource
  readonly runs: readonly RunRecord[]
}

/** The user who deploys a preview. A webhook deploys on behalf of its owner, without a token. */
export interface Deployer {
  readonly user: PlatformUser
  readonly token?: TokenRecord
}

/** Previews of branches. Each preview is a namespace with runs in it. */
export class Previews {
  readonly #users: Users
  readonly #namespaces: Namespaces
  readonly #runs: Runs
  readonly #now: () => number

  constructor(
    { now }: Pick<ServerContext, 'now'>,
    { users, namespaces, runs }: { readonly users: Users; readonly namespaces: Namespaces; readonly runs: Runs },
  ) {
    this.#now = now
    this.#users = users
    this.#namespaces = namespaces
    this.#runs = runs
  }

  /** Returns the previews that the caller may see. */
  async visible({ user, token }: Identified): Promise<readonly ShownPreview[]> {
    const found = (await this.#namespaces.visible(user)).flatMap(shared => {
      const { name, preview: source } = shared.namespace
      return source && isForPreview(token, name) ? [{ shared, source }] : []
    })
    const runs = new Map<string, readonly RunRecord[]>()
    const namespaces = found.map(({ shared }) => shared)
    for await (const run of this.#runs.eachOf(namespaces, {}))
      runs.set(run.namespace, shownOf([...(runs.get(run.namespace) ?? []), run]))
    return found.map(one => ({ ...one, runs: runs.get(one.shared.namespace.name) ?? [] }))
  }

  /**
   * Returns a preview, if the caller may perform the action. Throws the same PlatformError if it does not exist and if
   * the caller may not see it.
   */
  async require({ user }: Identified, name: string, action: 'see' | 'delete', what: string): Promise<ShownPreview> {
    const shared = await this.#namespaces.require(user, name, action, what).catch(error => {
      throw error instanceof PlatformError && error.status === 404 ? noPreview(name) : error
    })
    const source = shared.namespace.preview
    if (!source) throw noPreview(name)
    return { shared, source, runs: await this.#runs.visible(user, { namespace: name }) }
  }

  /** Creates a preview, or deploys an existing preview again. Throws a PlatformError. */
  async deploy(by: Deployer, wanted: NewPreview, code?: HookCode): Promise<ShownPreview> {
    this.#runs.requireRunner()
    const { user, token } = by
    const { branch, file, scope = 'personal', sourceUrl, labels = [], variables, cloneLogin } = wanted
    if (scope === 'global' && user.role !== 'admin') throw onlyFor('deploy a global preview', 'an administrator')
    const { url: repository, name: called } = checkSource(wanted)
    const problem = sourceUrl === undefined ? undefined : sourceUrlProblem(sourceUrl)
    if (problem) throw new PlatformError(400, 'source-url', `the source URL is not valid: ${problem}`)
    const name = wanted.name ?? previewName(called, branch ?? 'main')
    if (token) requirePrefix(token, name)
    const wantedSource: PreviewSource = {
      repository,
      ...(branch !== undefined && { branch }),
      ...(sourceUrl !== undefined && { sourceUrl }),
      labels,
      ...(code && { hook: code.hook }),
    }
    const there = await this.#again(by, name, wantedSource, scope, code)
    const { shared, isNew } = there
      ? { shared: there, isNew: false }
      : await this.#make(by, name, wantedSource, scope, code)
    const source = shared.namespace.preview ?? wantedSource
    try {
      const run = await this.#runs.create(
        user,
        {
          namespace: name,
          environment: environmentOfRepository(called),
          action: 'deploy',
          repository,
          ...(branch !== undefined && { branch }),
          ...(file !== undefined && { file }),
          ...(variables && { variables }),
          ...(cloneLogin && { cloneLogin }),
        },
        code,
      )
      return { shared, source, runs: [run] }
    } catch (error) {
      // A new preview that could not be deployed is useless, so it is deleted.
      if (isNew) await this.#undo(shared).catch(() => {})
      throw error
    }
  }

  /**
   * Deletes the namespace that was created for a preview whose deploy then failed, unless another caller has started a
   * run in the namespace.
   */
  async #undo({ namespace }: SharedNamespace): Promise<void> {
    const { name, uid } = namespace
    if (uid === undefined) return
    const runs = await this.#runs.list({ namespace: name })
    if (!runs.some(({ namespaceUid }) => namespaceUid === uid)) await this.#namespaces.remove({ name, uid })
  }

  /**
   * Updates and returns the existing preview with this name, if it has the same source. Returns undefined if the name
   * is not used by a preview that the caller may see. Throws a PlatformError if the preview has another source or
   * cannot be deployed now.
   */
  async #again(
    { user }: Deployer,
    name: string,
    source: PreviewSource,
    scope: PreviewScope,
    code: HookCode | undefined,
  ): Promise<SharedNamespace | undefined> {
    const shared = await this.#namespaces.find(name)
    if (!shared) return undefined
    const { namespace } = shared
    const { preview, isGlobal, owner } = namespace
    // A caller who may not see the preview only learns that the name is in use.
    if (!preview || !mayIn(shared, user, 'see')) return undefined
    const there = { repository: preview.repository, scope: isGlobal ? 'global' : 'personal', owner } as const
    const wanted = { repository: source.repository, scope, owner: user.id }
    const conflict = previewConflict(there, wanted)
    if (conflict) throw await this.#conflict(conflict, name, there, wanted)
    const derived = previewName(checkSource(source).name, source.branch ?? 'main')
    const otherBranch = branchConflict({ name, derived }, preview, source)
    if (otherBranch) throw nameIsTaken(name, otherBranch)
    requireStaying(namespace)
    requireSameTrust(namespace, code?.trust)
    // A manual deploy does not detach the preview from its webhook.
    const kept = { ...(preview.hook !== undefined && { hook: preview.hook }), ...source }
    await this.#namespaces.renew(shared, kept, this.#expires(code))
    return { ...shared, namespace: { ...namespace, preview: kept } }
  }

  /** Returns the expiry time of a preview with code of a fork; undefined for all other previews. */
  #expires(code: HookCode | undefined): string | undefined {
    return code?.trust === 'fork' ? rfc3339(this.#now() + FORK_LIFETIME) : undefined
  }

  async #make(
    by: Deployer,
    name: string,
    preview: PreviewSource,
    scope: PreviewScope,
    code: HookCode | undefined,
  ): Promise<{ readonly shared: SharedNamespace; readonly isNew: boolean }> {
    const expires = this.#expires(code)
    try {
      const shared = await this.#namespaces.create(by.user, name, 'preview', {
        preview,
        ...(scope === 'global' && { isGlobal: true }),
        ...(expires !== undefined && { isUntrusted: true, expires }),
      })
      return { shared, isNew: true }
    } catch (error) {
      if (!(error instanceof PlatformError) || error.body.code !== 'platform/exists') throw error
      // Two CI jobs of the same push may create the preview at the same time.
      const there = await this.#again(by, name, preview, scope, code)
      if (there) return { shared: there, isNew: false }
      throw error
    }
  }

  async #conflict(
    kind: NonNullable<ReturnType<typeof previewConflict>>,
    name: string,
    there: PreviewIdentity,
    wanted: PreviewIdentity,
  ): Promise<PlatformError> {
    const people = await this.#users.byId()
    const [is, not] = {
      owner: [`belongs to ${personOf(there.owner, people).login}`, `to ${personOf(wanted.owner, people).login}`],
      repository: [`is for ${there.repository}`, `for ${wanted.repository}`],
      scope: [`has the scope \`${there.scope}\``, `\`${wanted.scope}\``],
    }[kind]
    return nameIsTaken(name, `${is}, not ${not}`)
  }
}

const nameIsTaken = (name: string, why: string): PlatformError =>
  new PlatformError(409, 'exists', `preview \`${name}\` ${why}`, { hint: 'choose another name, or destroy it first' })

/** Returns the runs of a preview that a list shows: the last run, and the last run that determines the status. */
function shownOf(runs: readonly RunRecord[]): readonly RunRecord[] {
  const all = runs.toSorted(newestFirst)
  const status = all.find(tellsStatus)
  return all.filter((run, at) => at === 0 || run === status)
}

export const noPreview = (name: string): PlatformError =>
  new PlatformError(404, 'no-preview', `preview \`${name}\` does not exist, or you may not see it`, {
    hint: '`devctl preview list` lists those that you may see',
  })
