import type { NewPreview } from '../api/previews.ts'
import type { PreviewSource } from '../records/preview.ts'
import type { RunRecord } from '../records/run.ts'
import { environmentOfRepository, previewName } from '../rules/names.ts'
import { type PreviewIdentity, type PreviewScope, previewConflict, sourceUrlProblem } from '../rules/previews.ts'
import { personOf } from './answers.ts'
import { type Identified, isForPreview, requirePrefix } from './caller.ts'
import { type Namespaces, requireStaying, type SharedNamespace } from './namespaces.ts'
import { notAllowed, PlatformError } from './platform-error.ts'
import { checkSource, type Runs } from './runs.ts'
import type { Users } from './users.ts'

/** A preview: a namespace of that kind, what it is of, and its runs, the newest first. */
export interface ShownPreview {
  readonly shared: SharedNamespace
  readonly source: PreviewSource
  readonly runs: readonly RunRecord[]
}

/** Previews of branches: a namespace each, and runs in it. */
export class Previews {
  readonly #users: Users
  readonly #namespaces: Namespaces
  readonly #runs: Runs

  constructor({
    users,
    namespaces,
    runs,
  }: { readonly users: Users; readonly namespaces: Namespaces; readonly runs: Runs }) {
    this.#users = users
    this.#namespaces = namespaces
    this.#runs = runs
  }

  /** Those that somebody may see. */
  async visible({ user, token }: Identified): Promise<readonly ShownPreview[]> {
    const [found, runs] = await Promise.all([this.#namespaces.visible(user), this.#runs.visible(user, {})])
    const byNamespace = new Map<string, RunRecord[]>()
    for (const run of runs) {
      const others = byNamespace.get(run.namespace)
      if (others) others.push(run)
      else byNamespace.set(run.namespace, [run])
    }
    return found.flatMap(shared => {
      const { name, preview: source } = shared.namespace
      if (!source || !isForPreview(token, name)) return []
      return [{ shared, source, runs: byNamespace.get(name) ?? [] }]
    })
  }

  /** One, if the caller may do that with it. Throws a PlatformError, the same for what is not there and what they may not see. */
  async require({ user }: Identified, name: string, action: 'see' | 'delete', what: string): Promise<ShownPreview> {
    const shared = await this.#namespaces.require(user, name, action, what).catch(error => {
      throw error instanceof PlatformError && error.status === 404 ? noPreview(name) : error
    })
    const source = shared.namespace.preview
    if (!source) throw noPreview(name)
    return { shared, source, runs: await this.#runs.visible(user, { namespace: name }) }
  }

  /** Makes a preview, or deploys the one that is there anew. Throws a PlatformError. */
  async deploy(by: Identified, wanted: NewPreview): Promise<ShownPreview> {
    this.#runs.requireRunner()
    const { user, token } = by
    const { branch, file, scope = 'personal', sourceUrl, labels = [], variables } = wanted
    if (scope === 'global' && user.role !== 'admin') throw notAllowed('to deploy a global preview', 'an administrator')
    const { url: repository, name: called } = checkSource(wanted)
    const problem = sourceUrl === undefined ? undefined : sourceUrlProblem(sourceUrl)
    if (problem) throw new PlatformError(400, 'source-url', `the source URL cannot be shown: ${problem}`)
    const name = wanted.name ?? previewName(called, branch ?? 'main')
    requirePrefix(token, name)
    const source: PreviewSource = {
      repository,
      ...(branch !== undefined && { branch }),
      ...(sourceUrl !== undefined && { sourceUrl }),
      labels,
    }
    const there = await this.#again(by, name, source, scope)
    const { shared, isNew } = there ? { shared: there, isNew: false } : await this.#make(by, name, source, scope)
    try {
      const run = await this.#runs.create(user, {
        namespace: name,
        environment: environmentOfRepository(called),
        action: 'deploy',
        repository,
        ...(branch !== undefined && { branch }),
        ...(file !== undefined && { file }),
        ...(variables && { variables }),
      })
      return { shared, source, runs: [run] }
    } catch (error) {
      // A preview of which nothing was ever deployed is in the way only.
      if (isNew) await this.#undo(shared).catch(() => {})
      throw error
    }
  }

  /** Removes what this call has made, if nobody else has begun to deploy in it. */
  async #undo({ namespace }: SharedNamespace): Promise<void> {
    const { name, uid } = namespace
    if (uid === undefined) return
    const runs = await this.#runs.list({ namespace: name })
    if (!runs.some(({ namespaceUid }) => namespaceUid === uid)) await this.#namespaces.remove({ name, uid })
  }

  /** The preview of this name, if it is there and the same. Throws a PlatformError where it is another one, or something else. */
  async #again(
    { user }: Identified,
    name: string,
    source: PreviewSource,
    scope: PreviewScope,
  ): Promise<SharedNamespace | undefined> {
    const shared = await this.#namespaces.find(name)
    if (!shared) return undefined
    const { namespace } = shared
    const { preview, isGlobal, owner } = namespace
    // Who may not see it learns no more than that the name is taken.
    if (!preview || !this.#namespaces.may(user, shared, 'see')) return undefined
    const there = { repository: preview.repository, scope: isGlobal ? 'global' : 'personal', owner } as const
    const wanted = { repository: source.repository, scope, owner: user.id }
    const conflict = previewConflict(there, wanted)
    if (conflict) throw await this.#conflict(conflict, name, there, wanted)
    requireStaying(namespace)
    await this.#namespaces.renew(shared, source)
    return { ...shared, namespace: { ...namespace, preview: source } }
  }

  async #make(
    by: Identified,
    name: string,
    preview: PreviewSource,
    scope: PreviewScope,
  ): Promise<{ readonly shared: SharedNamespace; readonly isNew: boolean }> {
    try {
      const more = { preview, ...(scope === 'global' && { isGlobal: true }) }
      return { shared: await this.#namespaces.create(by.user, name, 'preview', more), isNew: true }
    } catch (error) {
      if (!(error instanceof PlatformError) || error.body.code !== 'platform/exists') throw error
      // Two jobs of one push.
      const there = await this.#again(by, name, preview, scope)
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
    const words = ({ owner, ...rest }: PreviewIdentity) =>
      ({ ...rest, owner: personOf(owner, people).login, scope: `the scope ${rest.scope}` })[kind]
    return new PlatformError(409, 'exists', `preview \`${name}\` is of ${words(there)}, not of ${words(wanted)}`, {
      hint: 'choose another name, or destroy it first',
    })
  }
}

const noPreview = (name: string): PlatformError =>
  new PlatformError(404, 'no-preview', `preview \`${name}\` does not exist, or you may not see it`, {
    hint: '`devctl preview list` lists those that you may see',
  })
